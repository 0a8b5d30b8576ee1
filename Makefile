# simhash: PGXS build.
#
#   make                 build simhash.so (and LLVM bitcode where the server has it)
#   make install         install it into the server that PG_CONFIG names
#   make unit            build and run the unit tests of src/core (needs GoogleTest)
#   make installcheck    run the SQL tests against a running server
#   make fuzz            run the tokenizer under libFuzzer with sanitizers, FUZZ_SECONDS long (needs clang)
#   make quality         measure fingerprints on real documents (fetches packages; writes docs/quality)
#   make format-check    fail where clang-format would change a file
#
# Any server: make PG_CONFIG=/path/to/pg_config

MODULE_big = simhash
EXTENSION = simhash
DATA = simhash--1.0.sql
PGFILEDESC = "simhash - near-duplicate search"

CORE_SOURCES = $(sort $(wildcard src/core/*.cpp))
SERVER_SOURCES = $(sort $(wildcard src/index/*.cpp src/sql/*.cpp))
OBJS = $(CORE_SOURCES:.cpp=.o) $(SERVER_SOURCES:.cpp=.o)
PROJECT_HEADERS = $(wildcard src/*.hpp src/core/*.hpp src/core/*.inc src/index/*.hpp src/sql/*.hpp)

REGRESS = $(sort $(patsubst sql/%.sql,%,$(wildcard sql/*.sql)))
REGRESS_OPTS = --load-extension=simhash
ISOLATION = $(sort $(patsubst test/isolation/specs/%.spec,%,$(wildcard test/isolation/specs/*.spec)))
ISOLATION_OPTS = --load-extension=simhash --inputdir=test/isolation --outputdir=test/isolation

# The language we use: C++20 without the parts that need a C++ runtime, so that nothing can be thrown
# into the server and no ereport (a longjmp) skips a destructor. check-boundary holds it.
SIMHASH_CXXFLAGS = -std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics -U_GLIBCXX_ASSERTIONS \
	-ffp-contract=off -Wno-register
WARNINGS = -Wall -Wextra -Wno-deprecated-volatile

SHLIB_LINK += -lutf8proc
UNIT_LIBS += -lutf8proc

# icu_words() needs ICU; where there is none, it says so when called. Its C interface alone is used.
ifeq ($(shell pkg-config --exists icu-uc && echo yes),yes)
PG_CPPFLAGS += -DSIMHASH_ICU
SHLIB_LINK += -licuuc
endif

PG_CPPFLAGS += -I$(srcdir)/src
PG_CXXFLAGS = $(SIMHASH_CXXFLAGS) $(WARNINGS) $(EXTRA_CXXFLAGS)

EXTRA_CLEAN = build results regression.diffs regression.out test/isolation/output_iso tmp_check

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)
override BITCODE_CXXFLAGS += $(SIMHASH_CXXFLAGS) -Wno-deprecated-volatile

$(OBJS): $(PROJECT_HEADERS)

# ---- the boundary: no C++ runtime in the shared library ----

all: check-boundary
check-boundary: $(shlib)
	@scripts/check-boundary.sh $(shlib)

# ---- unit tests: src/core in a plain binary ----

UNIT_SOURCES = $(sort $(wildcard test/unit/*.cpp))
UNIT_CXX ?= $(CXX)
UNIT_CXXFLAGS ?= -O2 -g
UNIT_OBJS = $(UNIT_SOURCES:%.cpp=build/%.o) $(CORE_SOURCES:%.cpp=build/%.o)

build/%.o: %.cpp $(PROJECT_HEADERS) $(wildcard test/unit/*.hpp)
	@mkdir -p $(@D)
	$(UNIT_CXX) $(UNIT_CXXFLAGS) -std=c++20 -ffp-contract=off $(WARNINGS) -Isrc -c -o $@ $<

build/unit-tests: $(UNIT_OBJS)
	$(UNIT_CXX) $(UNIT_CXXFLAGS) -o $@ $^ $(UNIT_LIBS) -lgtest -lgtest_main -lpthread

.PHONY: unit check-boundary format-check regress isolation
# Both against the server that PGHOST and PGPORT name, in which the extension is installed.
regress:
	$(pg_regress_installcheck) $(REGRESS_OPTS) $(REGRESS)

isolation:
	$(pg_isolation_regress_installcheck) $(ISOLATION_OPTS) $(ISOLATION)

unit: build/unit-tests
	build/unit-tests --gtest_brief=1

CLANG_FORMAT ?= clang-format
# ---- the quality bench: fingerprints on real documents ----

build/measure: build/test/quality/measure.o $(CORE_SOURCES:%.cpp=build/%.o)
	$(UNIT_CXX) $(UNIT_CXXFLAGS) -o $@ $^ $(UNIT_LIBS)

.PHONY: quality
quality: build/measure
	python3 test/quality/corpora.py build/quality
	build/measure build/quality/corpora/* > build/quality/results.tsv
	python3 test/quality/report.py build/quality/results.tsv docs/quality | tee build/quality/table.md

# ---- the tokenizer under libFuzzer ----

FUZZ_SECONDS ?= 30
FUZZ_CXX ?= clang++

.PHONY: fuzz
fuzz:
	@mkdir -p build/fuzz/corpus
	$(FUZZ_CXX) -O1 -g -std=c++20 $(WARNINGS) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Isrc \
		-o build/fuzz/text test/fuzz/text_fuzz.cpp $(CORE_SOURCES) $(UNIT_LIBS)
	build/fuzz/text -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -print_final_stats=1 build/fuzz/corpus

format-check:
	$(CLANG_FORMAT) --dry-run --Werror $(wildcard src/*.hpp src/*/*.hpp src/*/*.cpp test/*/*.cpp test/*/*.hpp)
