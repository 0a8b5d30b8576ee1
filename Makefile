# simhash: PGXS build.
#
#   make                 build simhash.so
#   make install         install it into the server that PG_CONFIG names
#   make unit            build and run the unit tests of src/core (needs GoogleTest)
#   make installcheck    run the SQL and isolation tests against a running server
#
# Any server: make PG_CONFIG=/path/to/pg_config
# In a folder of its own: make -f /path/to/Makefile [install, unit, installcheck, clean]
# The other tests, the benches and the checks of the source are targets of test/targets.mk: make tap, make bench, make tidy

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
SERVER_SOURCES := $(call source_files,$(addsuffix /*.cpp,src src/server src/values src/values/* src/index src/index/* src/whole_tables src/planner))
OBJS = $(CORE_SOURCES:.cpp=.o) $(SERVER_SOURCES:.cpp=.o)

REGRESS = $(patsubst sql/%.sql,%,$(call source_files,sql/*.sql))
# A database of its own encoding, whatever the cluster has been made with.
REGRESS_OPTS = --load-extension=simhash --encoding=UTF8 --no-locale
ISOLATION = $(patsubst test/isolation/specs/%.spec,%,$(call source_files,test/isolation/specs/*.spec))
ISOLATION_OPTS = --load-extension=simhash --inputdir=$(SOURCE_DIR)/test/isolation
# Our own installcheck, below, runs both.
NO_INSTALLCHECK = yes

# The language we use: C++20 without the parts that need a C++ runtime, so that nothing can be thrown
# into the server and no ereport (a longjmp) skips a destructor. check-boundary holds it. Our functions
# may be inlined, as no other library is meant to take their place. These flags come last, as those of a
# distribution may say the opposite: Fedora's have -fexceptions.
SIMHASH_CXXFLAGS = -std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics -U_GLIBCXX_ASSERTIONS \
	-ffp-contract=off -fno-semantic-interposition -Wno-register
WARNINGS = -Wall -Wextra -Wno-deprecated-volatile
PG_CPPFLAGS = -I$(SOURCE_DIR)/src -DSIMHASH_VERSION=$(SIMHASH_VERSION)
PG_CXXFLAGS = $(WARNINGS) $(EXTRA_CXXFLAGS) $(SIMHASH_CXXFLAGS)
EXTRA_CLEAN = build $(OBJS:=.d)

# No bitcode, by which the server could inline our functions: a sequential scan for `fp <~> $1 <= 3` takes as long with it
# (.24 s for 3 million rows), and a build twice the time.
override with_llvm = no

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)
# Without pg_config, make would take the first target below for its goal, and succeed. `make dist` needs no server.
ifeq ($(PGXS),)
all install:
	$(error $(PG_CONFIG) does not run: install PostgreSQL's server headers, or set PG_CONFIG)
endif

comma := ,
# Fedora's server and packages are built with it. No -U takes it back, as the compiler reads -Wp last.
override CXXFLAGS := $(filter-out -Wp$(comma)-D_GLIBCXX_ASSERTIONS,$(CXXFLAGS))

# make would take objects of the source folder for those of this one, whatever server they were built for.
ifneq ($(abspath $(SOURCE_DIR)),$(CURDIR))
$(if $(call source_files,$(OBJS)),$(error $(SOURCE_DIR) has a build of its own: make clean there first))
endif
# The folders by their full names, as make would find those of the source folder instead.
OBJECT_FOLDERS := $(addprefix $(CURDIR)/,$(sort $(dir $(OBJS))))
$(OBJS): | $(OBJECT_FOLDERS)
$(OBJECT_FOLDERS):
	@mkdir -p $@

# The compiler writes which headers an output was made from into a file beside it, tree.o.d.
# A touched header then compiles only what includes it. CPPFLAGS expands $@ in each recipe.
WRITE_DEPENDENCIES = -MMD -MP -MF $@.d
PREPROCESSOR_FLAGS := $(CPPFLAGS)
override CPPFLAGS = $(PREPROCESSOR_FLAGS) $(WRITE_DEPENDENCIES)

# Where libraries are ELF files, calls from one of our files to another are direct, and binutils can look into the library.
ifneq ($(filter linux %bsd,$(PORTNAME)),)
SHLIB_LINK += -Wl,-Bsymbolic-functions
all: check-boundary
endif
check-boundary: $(shlib)
	@$(SOURCE_DIR)/scripts/check-boundary.sh $(shlib)

# Unit tests: the library's own objects of src/core in a plain binary.
UNIT_SOURCES := $(call source_files,test/unit/*.cpp)
UNIT_CXX ?= $(CXX)
UNIT_CXXFLAGS ?= -O2 -g
UNIT_OBJS = $(UNIT_SOURCES:%.cpp=build/%.o) $(CORE_SOURCES:.cpp=.o)
build/%.o: %.cpp
	@mkdir -p $(@D)
	$(UNIT_CXX) $(UNIT_CXXFLAGS) $(WRITE_DEPENDENCIES) -std=c++20 -ffp-contract=off $(WARNINGS) -I$(SOURCE_DIR)/src -c -o $@ $<
build/unit-tests: $(UNIT_OBJS)
	$(UNIT_CXX) $(UNIT_CXXFLAGS) -o $@ $^ -lgtest -lgtest_main -lpthread
unit: build/unit-tests
	build/unit-tests --gtest_brief=1

# All against the server that PGHOST and PGPORT name, in which the extension is installed.
installcheck: regress
	$(run_isolation)
regress:
	$(pg_regress_installcheck) $(REGRESS_OPTS) $(REGRESS)
isolation:
	$(run_isolation)
run_isolation = $(pg_isolation_regress_installcheck) $(ISOLATION_OPTS) $(ISOLATION)

.PHONY: check-boundary unit installcheck regress isolation
-include $(wildcard $(OBJS:=.d) $(UNIT_OBJS:=.d)) $(SOURCE_DIR)/test/targets.mk
