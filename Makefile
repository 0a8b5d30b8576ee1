# simhash: PGXS build.
#
#   make                 build simhash.so (and LLVM bitcode where the server has it)
#   make install         install it into the server that PG_CONFIG names
#   make unit            build and run the unit tests of src/core (needs GoogleTest)
#   make installcheck    run the SQL tests against a running server
#   make tap             run the TAP tests (TEST=002 for one) with the installed extension, as a user who may start a server
#   make fuzz            run tokenizer and leaf decoder under libFuzzer with sanitizers, FUZZ_SECONDS each (needs clang)
#   make arm64           the library cross-compiled, unit tests and the leaf fuzzer's inputs (FUZZ_RUNS=n) under emulation; make s390x
#   make quality         measure fingerprints on real documents (fetches packages; writes docs/quality)
#   make verified-pairs  time all pairs of the same documents by fingerprints and by MinHash, on two cores
#   make false-neighbours  count documents that are near by their fingerprints and not alike
#   make pictures        measure perceptual hashes of pictures and of their copies (fetches packages)
#   make damage          10 000 random damages to index pages (TRIALS=n); damage-sanitized: with sanitizers
#   make crash           20 rounds of kill -9 under load (ROUNDS=n); make standby: the same for a replica
#   make recovery-targets  recovery that ends after each of 90 records of several pages (TARGETS=n)
#   make valgrind        the SQL tests on a server under memcheck
#   make update-test     ALTER EXTENSION UPDATE to a version made for the test
#   make bench           the index beside its alternatives, at 1 and 10 million rows; writes docs/performance (ROWS="n n"
#                        for other sizes, PARTS=, METHODS=; then it writes build/bench)
#   make plan-grid       the planner's choices against the best plans (ROWS="n n", KINDS=, FORMS=, THRESHOLD=)
#   make sqlsmith        random statements by SQLsmith for half an hour, then check (SECONDS=n, SEED=n)
#   make old-index-data  an index of today's format for the code of later days (test/data/index_format_N)
#   make old-snapshot    old_snapshot_threshold (PostgreSQL 15, 16): an error, not fewer rows
#   make drawing         write docs/block-tables.svg anew
#   make soak            mixed load for ten minutes, then check (SECONDS=n)
#   make format-check    fail where clang-format would change a file
#   make tidy            fail where clang-tidy finds what is not our dialect (.clang-tidy)
#   make dist            simhash-1.2.0.zip, of what is committed: the form in which PGXN takes it
#   make release-check   what a release needs before it is tagged
#
# Any server: make PG_CONFIG=/path/to/pg_config
# ICU, which icu_words() needs, is looked for: make ICU=yes insists on it, make ICU=no does without
# In a folder of its own: make -f /path/to/Makefile [install, unit, installcheck, clean]

# The folder of this file: what PGXS calls $(srcdir), which it does not tell before it is included.
SOURCE_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
# $(call source_files,PATTERN...): the files of the source that match, named from its top.
source_files = $(sort $(patsubst $(SOURCE_DIR)/%,%,$(wildcard $(addprefix $(SOURCE_DIR)/,$(1)))))

MODULE_big = simhash
EXTENSION = simhash
DATA = $(call source_files,simhash--*.sql)
PGFILEDESC = "simhash - near-duplicate search"
# The version is written once, in the control file.
SIMHASH_VERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(SOURCE_DIR)/simhash.control)

CORE_SOURCES := $(call source_files,src/core/*/*.cpp)
SERVER_SOURCES := $(call source_files,$(addsuffix /*.cpp,src src/operators src/spill src/index src/planner src/sql))
OBJS = $(CORE_SOURCES:.cpp=.o) $(SERVER_SOURCES:.cpp=.o)

REGRESS = $(patsubst sql/%.sql,%,$(call source_files,sql/*.sql))
# A database of its own encoding, whatever the cluster has been made with.
REGRESS_OPTS = --load-extension=simhash --encoding=UTF8 --no-locale
ISOLATION = $(patsubst test/isolation/specs/%.spec,%,$(call source_files,test/isolation/specs/*.spec))
ISOLATION_OPTS = --load-extension=simhash --inputdir=$(SOURCE_DIR)/test/isolation
# Ours runs both, and says what it could not test.
NO_INSTALLCHECK = yes

# The language we use: C++20 without the parts that need a C++ runtime, so that nothing can be thrown
# into the server and no ereport (a longjmp) skips a destructor. check-boundary holds it. Our functions
# may be inlined, as no other library is meant to take their place.
SIMHASH_CXXFLAGS = -std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics -U_GLIBCXX_ASSERTIONS \
	-ffp-contract=off -fno-semantic-interposition -Wno-register
WARNINGS = -Wall -Wextra -Wno-deprecated-volatile

# Calls from one of our files to another are direct.
SHLIB_LINK += -Wl,-Bsymbolic-functions

PG_CPPFLAGS = -I$(SOURCE_DIR)/src -DSIMHASH_VERSION=$(SIMHASH_VERSION)
PG_CXXFLAGS = $(SIMHASH_CXXFLAGS) $(WARNINGS) $(EXTRA_CXXFLAGS)

EXTRA_CLEAN = build $(OBJS:=.d) $(OBJS:.o=.bc.d)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)
override BITCODE_CXXFLAGS += $(SIMHASH_CXXFLAGS) -Wno-deprecated-volatile

# ---- ICU, through its C interface alone ----

# Asked of the compiler, which knows where headers are; pkg-config may be missing where ICU is not.
ifeq ($(ICU),)
ICU := $(shell echo '\#include <unicode/ubrk.h>' | $(CXX) $(CPPFLAGS) -E -x c++ - >/dev/null 2>&1 && echo yes || echo no)
WITHOUT_ICU = ICU was not found (install libicu-dev)
else
WITHOUT_ICU = ICU=$(ICU)
endif
ifeq ($(ICU),yes)
override CPPFLAGS += -DSIMHASH_ICU
SHLIB_LINK += -licuuc
else
all: say-without-icu
.PHONY: say-without-icu
say-without-icu: $(shlib)
	@echo 'simhash is built without ICU, so icu_words() only raises an error: $(WITHOUT_ICU)'
endif

# ---- objects ----

# make would take objects of the source folder for those of this one, whatever server they were built for.
ifneq ($(abspath $(SOURCE_DIR)),$(CURDIR))
ifneq ($(call source_files,$(OBJS)),)
$(error $(SOURCE_DIR) has a build of its own: make clean there first)
endif
endif

# By their full names, as make would find those of the source folder instead.
OBJECT_FOLDERS := $(addprefix $(CURDIR)/,$(sort $(dir $(OBJS))))
$(OBJS) $(OBJS:.o=.bc): | $(OBJECT_FOLDERS)
$(OBJECT_FOLDERS):
	@mkdir -p $@

# The compiler writes which headers an output was made from into a file beside it, tree.o.d or tree.bc.d.
# A touched header then compiles only what includes it. CPPFLAGS expands $@ in each recipe.
WRITE_DEPENDENCIES = -MMD -MP -MF $@.d
PREPROCESSOR_FLAGS := $(CPPFLAGS)
override CPPFLAGS = $(PREPROCESSOR_FLAGS) $(WRITE_DEPENDENCIES)
-include $(wildcard $(OBJS:=.d) $(OBJS:.o=.bc.d) $(OBJS:%=build/testing/%.d) build/*/*.o.d build/*/*/*.o.d build/*/*/*/*.o.d)

# ---- the boundary: no C++ runtime in the shared library ----

all: check-boundary
check-boundary: $(shlib)
	@$(SOURCE_DIR)/scripts/check-boundary.sh $(shlib)

# ---- unit tests: src/core in a plain binary ----

UNIT_SOURCES := $(call source_files,test/unit/*.cpp)
UNIT_CXX ?= $(CXX)
UNIT_CXXFLAGS ?= -O2 -g
UNIT_OBJS = $(UNIT_SOURCES:%.cpp=build/%.o) $(CORE_SOURCES:%.cpp=build/%.o)

build/%.o: %.cpp
	@mkdir -p $(@D)
	$(UNIT_CXX) $(UNIT_CXXFLAGS) $(WRITE_DEPENDENCIES) -std=c++20 -ffp-contract=off $(WARNINGS) -I$(SOURCE_DIR)/src -c -o $@ $<

build/unit-tests: $(UNIT_OBJS)
	$(UNIT_CXX) $(UNIT_CXXFLAGS) -o $@ $^ -lgtest -lgtest_main -lpthread

# ---- the library for tests that stop backends at given points or damage pages (src/index/testing.hpp) ----

TESTING_FLAGS ?=
build/testing/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(CPPFLAGS) -DSIMHASH_TEST_PAUSES $(TESTING_FLAGS) -c -o $@ $<

build/testing/simhash.so: $(OBJS:%=build/testing/%)
	$(CXX) $(CXXFLAGS) $(TESTING_FLAGS) -shared -o $@ $^ $(SHLIB_LINK)

# A library that takes our hook in the planner away (test/t/016_hook.pl).
build/testing/displacer.so: test/hooks/displacer.cpp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(CPPFLAGS) -shared -o $@ $<

# ---- longer tests than CI runs ----

SANITIZERS = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
PROVE_ENVIRONMENT = PATH="$(shell $(PG_CONFIG) --bindir):$$PATH" PG_CONFIG=$(PG_CONFIG) TESTDIR=$(CURDIR) TESTDATADIR=$(CURDIR)/tmp_check \
	TESTLOGDIR=$(CURDIR)/tmp_check/log PG_REGRESS=$(top_builddir)/src/test/regress/pg_regress \
	PERL5LIB=$(top_srcdir)/src/test/perl:$(CURDIR)/test/perl
ROUNDS ?= 20
TRIALS ?= 10000

TARGETS ?= 90

.PHONY: tap damage damage-sanitized crash standby recovery-targets soak
tap damage damage-sanitized crash standby recovery-targets soak: clean-tmp-check
.PHONY: clean-tmp-check
clean-tmp-check:
	rm -rf tmp_check/t_*

tap: build/testing/simhash.so build/testing/displacer.so
	$(PROVE_ENVIRONMENT) prove -v test/t/$(TEST)*.pl
damage:
	$(PROVE_ENVIRONMENT) SIMHASH_DAMAGE_TRIALS=$(TRIALS) prove -v test/t/010_damage.pl
damage-sanitized:
	rm -rf build/testing
	$(MAKE) build/testing/simhash.so TESTING_FLAGS='$(SANITIZERS)'
	$(PROVE_ENVIRONMENT) SIMHASH_DAMAGE_TRIALS=$(TRIALS) SIMHASH_PRELOAD=$(shell $(CXX) -print-file-name=libasan.so) \
		prove -v test/t/010_damage.pl
	rm -rf build/testing
crash:
	$(PROVE_ENVIRONMENT) SIMHASH_CRASH_ROUNDS=$(ROUNDS) prove -v test/t/003_crash.pl
standby:
	$(PROVE_ENVIRONMENT) SIMHASH_STANDBY_ROUNDS=$(ROUNDS) prove -v test/t/004_standby.pl
recovery-targets:
	$(PROVE_ENVIRONMENT) SIMHASH_RECOVERY_TARGETS=$(TARGETS) prove -v test/t/012_recovery_targets.pl
SECONDS ?= 600
soak:
	PG_CONFIG=$(PG_CONFIG) test/soak.sh $(SECONDS)
.PHONY: sqlsmith
sqlsmith: SECONDS = 1800
sqlsmith:
	PG_CONFIG=$(PG_CONFIG) test/sqlsmith.sh $(SECONDS) $(SEED)
.PHONY: update-test
update-test:
	PG_CONFIG=$(PG_CONFIG) test/update.sh
.PHONY: old-index-data
old-index-data:
	PG_CONFIG=$(PG_CONFIG) test/old_index_data.sh
.PHONY: old-snapshot
old-snapshot:
	PG_CONFIG=$(PG_CONFIG) test/old_snapshot.sh
.PHONY: valgrind
valgrind:
	PG_CONFIG=$(PG_CONFIG) test/valgrind.sh

.PHONY: unit check-boundary format-check regress isolation installcheck
# All against the server that PGHOST and PGPORT name, in which the extension is installed.
installcheck: regress
	$(run_isolation)
	@$(say_untested)

regress:
	$(pg_regress_installcheck) $(REGRESS_OPTS) $(REGRESS)
	@$(say_untested)

isolation:
	$(run_isolation)

run_isolation = $(pg_isolation_regress_installcheck) $(ISOLATION_OPTS) $(ISOLATION)
# icu_words passes without ICU (expected/icu_words_1.out), having tested nothing.
say_untested = $(if $(filter icu_words,$(REGRESS)),if grep -q '^ERROR: .* without ICU' results/icu_words.out; then \
	echo 'Not tested: icu_words (the simhash that is installed was built without ICU)'; fi)

unit: build/unit-tests
	build/unit-tests --gtest_brief=1

CLANG_FORMAT ?= clang-format
# ---- the picture in README ----

.PHONY: drawing
drawing:
	scripts/block_tables.py >docs/block-tables.svg

# ---- the quality bench: fingerprints on real documents ----

QUALITY_SOURCES = $(wildcard test/quality/*.cpp)

build/measure: $(QUALITY_SOURCES:%.cpp=build/%.o) $(CORE_SOURCES:%.cpp=build/%.o)
	$(UNIT_CXX) $(UNIT_CXXFLAGS) -o $@ $^

.PHONY: quality
quality: build/measure
	python3 test/quality/corpora.py build/quality
	build/measure build/quality/corpora/* > build/quality/results.tsv
	python3 test/quality/report.py build/quality/results.tsv docs/quality >docs/quality/figures.md

# What else is said of the documents that `make quality` has fetched: all verified pairs by fingerprints
# and by MinHash; and what is near without being alike.
build/verified_pairs build/false_neighbours: build/%: test/bench/%.cpp build/test/quality/minhash.o \
		$(CORE_SOURCES:%.cpp=build/%.o)
	$(UNIT_CXX) $(UNIT_CXXFLAGS) -std=c++20 -ffp-contract=off $(WARNINGS) -Isrc -Itest/quality -o $@ $^

CORPORA = $(filter-out %/pieces-100 %/pieces-300 %/pieces-1000,$(wildcard build/quality/corpora/*))

.PHONY: verified-pairs false-neighbours
verified-pairs: build/verified_pairs
	build/verified_pairs 2 100000 5000 $(CORPORA)

false-neighbours: build/false_neighbours
	build/false_neighbours $(CORPORA)

# Perceptual hashes of pictures and of their copies (needs python3-pil).
.PHONY: pictures
pictures:
	python3 test/quality/pictures.py build/pictures

# ---- the speed bench: the index beside its alternatives ----

# Only a run of everything replaces plots and figures in docs.
BENCH_DOCS = $(if $(ROWS)$(PARTS)$(METHODS),,BENCH_PLOTS=docs/performance BENCH_PAGE=docs/performance.md)

.PHONY: bench
bench:
	PG_CONFIG=$(PG_CONFIG) $(BENCH_DOCS) test/bench/speed/run.sh $(if $(ROWS),--rows "$(ROWS)") \
		$(if $(PARTS),--parts "$(PARTS)") $(if $(METHODS),--methods "$(METHODS)")

# ---- the planner's choices against the best plans ----

.PHONY: plan-grid
plan-grid:
	PG_CONFIG=$(PG_CONFIG) test/bench/plan_grid.sh $(if $(ROWS),--rows "$(ROWS)") $(if $(KINDS),--kinds "$(KINDS)") \
		$(if $(FORMS),--forms "$(FORMS)") $(if $(THRESHOLD),--threshold "$(THRESHOLD)")

# ---- tokenizer and leaf decoder under libFuzzer ----

FUZZ_SECONDS ?= 30
FUZZ_CXX ?= clang++

.PHONY: fuzz
fuzz:
	@mkdir -p build/fuzz/corpus
	$(FUZZ_CXX) -O1 -g -std=c++20 $(WARNINGS) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Isrc \
		-o build/fuzz/text test/fuzz/text_fuzz.cpp $(CORE_SOURCES)
	$(FUZZ_CXX) -O1 -g -std=c++20 $(WARNINGS) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Isrc \
		-o build/fuzz/leaf test/fuzz/leaf_fuzz.cpp $(wildcard src/core/leaf/*.cpp)
	build/fuzz/text -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -print_final_stats=1 build/fuzz/corpus
	build/fuzz/leaf -max_total_time=$(FUZZ_SECONDS) -max_len=8200 -print_final_stats=1

# The leaf fuzzer's inputs without libFuzzer and sanitizers.
build/replay-leaf: $(patsubst %,build/test/fuzz/%.o,driver leaf_fuzz) $(patsubst %.cpp,build/%.o,$(filter src/core/leaf/%,$(CORE_SOURCES)))
	$(UNIT_CXX) $(UNIT_CXXFLAGS) -o $@ $^

# ---- other kinds of processors, under emulation ----

.PHONY: arm64 s390x
arm64 s390x:
	PG_CONFIG=$(PG_CONFIG) test/cross.sh $@ $(FUZZ_RUNS)

format-check:
	$(CLANG_FORMAT) --dry-run --Werror $(wildcard src/*.hpp src/*/*.?pp src/*/*/*.?pp test/*/*.?pp)

# ---- the dialect, as far as a tool can hold it ----

CLANG_TIDY ?= clang-tidy
TIDY_JOBS ?= $(shell nproc)
TIDY_SOURCES = $(CORE_SOURCES) $(SERVER_SOURCES) $(wildcard test/unit/*.cpp test/fuzz/*.cpp)
TIDY_FLAGS = $(SIMHASH_CXXFLAGS) $(filter -DSIMHASH_%,$(PREPROCESSOR_FLAGS)) -D_GNU_SOURCE -Wold-style-cast -Isrc -Itest/unit \
	-isystem $(shell $(PG_CONFIG) --includedir-server)

.PHONY: tidy
tidy:
	@printf '%s\n' $(TIDY_SOURCES) | xargs -P $(TIDY_JOBS) -I{} sh -c \
		'said=$$($(CLANG_TIDY) --quiet {} -- $(TIDY_FLAGS) 2>&1) || { printf "%s\n" "$$said"; exit 1; }'

# ---- releases ----

.PHONY: dist release-check
dist:
	scripts/dist.sh
release-check:
	scripts/release-check.sh
