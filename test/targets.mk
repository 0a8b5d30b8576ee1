# The targets of those who change simhash: tests that are not run at every installation, benches, checks of the source. The
# Makefile at the top includes this file, so they are called there. Tests and benches of a server need PG_CONFIG, and where they
# do not build the extension themselves, that it is installed.
#
#   make tap               the TAP tests (TEST=002 for one) with the installed extension, as a user who may start a server
#   make crash             20 rounds of kill -9 under load (ROUNDS=n)
#   make standby           the same for a replica (ROUNDS=n)
#   make damage            10 000 random damages to index pages (TRIALS=n); damage-sanitized: with sanitizers
#   make recovery-targets  recovery that ends after each of 90 records of several pages (TARGETS=n)
#   make sessions          random statements of several sessions, 2 000 of each (STEPS=n, SEED=n)
#   make soak              mixed load for ten minutes, then a check and brute force (SECONDS=n, SEED=n, LOAD=codes, scopes, documents or passages)
#   make groups-check      groups of 200 000 rows against an insert loop under the constraint (ROWS=n)
#   make sqlsmith          random statements by SQLsmith for half an hour, then a check (SECONDS=n, SEED=n)
#   make valgrind          the SQL tests on a server under memcheck: 1.5 hours (REGRESS="ball splits": these)
#   make assert-tests      all tests on a server with assertions, which it builds once (ten minutes) in /var/tmp: a nightly run, as
#                          assertions make the tests take twice as long. ASSERT_PG_CONFIG= names a server that is there
#   make assert-server     only builds that server; MUTANTS= that need assertions run with its PG_CONFIG
#   make upgrade-test      ALTER EXTENSION UPDATE from the release before, whose script and data are kept (OLD_LIBRARY=: and that library)
#   make old-snapshot      old_snapshot_threshold (PostgreSQL 15, 16): an error, not fewer rows
#   make kept-index        writes an index of the present format for tests of later versions (test/data/index_format_N)
#   make mutants           one mistake at a time into a copy of the source: do the tests notice? Installs them into the server of
#                          PG_CONFIG. MUTANTS="name name" tries these, MACHINE=n also n changes of an operator (SEED=n)
#   make fuzz              tokenizer, leaf decoder, input and recv functions, states of aggregates, digests and the metapage's reader under
#                          libFuzzer with sanitizers, FUZZ_SECONDS or FUZZ_RUNS each (needs clang); FUZZERS="type state" runs these
#   make arm64, s390x      cross-compiles the library; runs unit tests and the leaf fuzzer's inputs (FUZZ_RUNS=n) under emulation
#
#   make bench             the index beside its alternatives, at 1 and 10 million rows: an hour; writes docs/performance. ROWS="n n",
#                          PARTS= or METHODS= write build/bench
#   make plan-grid         the planner's choices against the best plans: tens of minutes (ROWS="n n", KINDS=, FORMS=, THRESHOLD=)
#   make quality           measures fingerprints on real documents (10 minutes, and as long to fetch packages); writes build/quality/figures
#   make quality-of        counts, by an exact join, what near_duplicate() finds among the text files in FOLDER=...; measures
#                          fingerprints on 4 000 of them
#   make verified-pairs    after that: time of all pairs of these documents by fingerprints and by MinHash, on two cores
#   make document-search   one document among a million by an index on texts (ROWS=n; OTHERS="gin gist": beside pg_trgm)
#   make document-groups   all near-duplicates among a million documents, without an index, and by MinHash outside the server (ROWS=n,
#                          VOCABULARY=words, SIMILARITY=, ROUNDS=n; FOLDER=...: among the text files there)
#   make passages-bench    passages among many documents by an index, beside GIN on the same hashes (ROWS=n; OTHERS=trgm: and pg_trgm;
#                          OTHERS=lengths: for 8 to 32 words)
#   make scaling           a table of many documents, from load to VACUUM, and four ways in which new ones arrive (ROWS=n, MINUTES=n,
#                          RATE=n, SESSIONS=n, BATCH=n, SETTINGS="name=value ...")
#   make insert-or-find    documents from 32 clients that are inserted, or found, beside upserts (ROWS=n calls; FSYNC=off)
#   make false-neighbours  after that: counts documents that are near by their fingerprints and not alike
#   make pictures          measures perceptual hashes of pictures and of their copies (5 minutes; fetches packages)
#
#   make format-check      fails where clang-format would change a file
#   make tidy              fails where clang-tidy finds what is not our dialect (.clang-tidy)
#   make drawing           writes docs/block-tables.svg
#   make dist              writes simhash-1.3.0.zip, of what is committed: the form in which PGXN takes it
#   make release-check     what a release needs before it is tagged

.PHONY: tap damage damage-sanitized crash standby recovery-targets sessions clean-tmp-check soak groups-check sqlsmith upgrade-test kept-index \
	old-snapshot valgrind mutants assert-tests assert-server fuzz arm64 s390x quality quality-of verified-pairs document-search document-groups \
	passages-bench scaling insert-or-find \
	false-neighbours pictures bench plan-grid drawing format-check tidy dist release-check

# ---- the library for tests that stop backends at given points or damage pages (src/index/testing.hpp) ----

TESTING_FLAGS ?=
build/testing/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(CPPFLAGS) -DSIMHASH_TEST_PAUSES $(TESTING_FLAGS) -c -o $@ $<

# Only files that include testing.hpp have such points; with flags of its own all of the library is built anew.
PAUSING_OBJS := $(patsubst %.cpp,%.o,$(shell cd $(SOURCE_DIR) && grep -l 'include "index/testing.hpp"' $(SERVER_SOURCES)))
TESTING_OBJS = $(foreach object,$(OBJS),$(if $(TESTING_FLAGS)$(filter $(PAUSING_OBJS),$(object)),build/testing/)$(object)) \
	build/testing/test/hooks/testing.o
build/testing/simhash.so: $(TESTING_OBJS)
	$(CXX) $(CXXFLAGS) $(TESTING_FLAGS) -shared -o $@ $^ $(SHLIB_LINK)

# A library that takes our hook in the planner away (test/t/016_hook.pl).
build/testing/displacer.so: test/hooks/displacer.cpp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(CPPFLAGS) -shared -o $@ $<

-include $(wildcard $(OBJS:%=build/testing/%.d) build/testing/test/hooks/*.d build/testing/*.so.d)

# ---- tests by servers of their own ----

SANITIZERS = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
PROVE_ENVIRONMENT = PATH="$(shell $(PG_CONFIG) --bindir):$$PATH" PG_CONFIG=$(PG_CONFIG) TESTDIR=$(CURDIR) TESTDATADIR=$(CURDIR)/tmp_check \
	TESTLOGDIR=$(CURDIR)/tmp_check/log PG_REGRESS=$(top_builddir)/src/test/regress/pg_regress \
	PERL5LIB=$(top_srcdir)/src/test/perl:$(CURDIR)/test/perl
TRIALS ?= 10000
TARGETS ?= 90
STEPS ?= 2000

tap damage damage-sanitized crash standby recovery-targets sessions soak: clean-tmp-check
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
	$(PROVE_ENVIRONMENT) SIMHASH_CRASH_ROUNDS=$(or $(ROUNDS),20) prove -v test/t/003_crash.pl
standby:
	$(PROVE_ENVIRONMENT) SIMHASH_STANDBY_ROUNDS=$(or $(ROUNDS),20) prove -v test/t/004_standby.pl
recovery-targets:
	$(PROVE_ENVIRONMENT) SIMHASH_RECOVERY_TARGETS=$(TARGETS) prove -v test/t/012_recovery_targets.pl
sessions:
	$(PROVE_ENVIRONMENT) SIMHASH_SESSIONS_STEPS=$(STEPS) $(if $(SEED),SIMHASH_SESSIONS_SEED=$(SEED)) \
		prove -v test/t/031_random_sessions.pl
SECONDS ?= 600
soak:
	PG_CONFIG=$(PG_CONFIG) test/soak/run.sh $(SECONDS) $(or $(LOAD),codes) $(SEED)
groups-check:
	PG_CONFIG=$(PG_CONFIG) test/groups_check.sh $(ROWS)
sqlsmith: SECONDS = 1800
sqlsmith:
	PG_CONFIG=$(PG_CONFIG) test/sqlsmith.sh $(SECONDS) $(SEED)
upgrade-test:
	PG_CONFIG=$(PG_CONFIG) test/upgrade.sh
kept-index:
	PG_CONFIG=$(PG_CONFIG) test/kept_index.sh
old-snapshot:
	PG_CONFIG=$(PG_CONFIG) test/old_snapshot.sh
valgrind:
	PG_CONFIG=$(PG_CONFIG) test/valgrind.sh
# The script's own totals, and a failure wherever an assertion failed, also where the test went on.
assert-tests:
	PG_CONFIG=$$($(if $(ASSERT_PG_CONFIG),echo $(ASSERT_PG_CONFIG),test/assert_server.sh | tail -n 1)) && \
		[ -x "$$PG_CONFIG" ] && export PG_CONFIG && scripts/test.sh
assert-server:
	test/assert_server.sh
mutants:
	PG_CONFIG=$(PG_CONFIG) test/mutants/run.sh $(MUTANTS)
	$(if $(MACHINE),PG_CONFIG=$(PG_CONFIG) SEED=$(SEED) test/mutants/run.sh --machine $(MACHINE))

# ---- the quality bench: fingerprints on real documents ----

QUALITY_SOURCES = $(wildcard test/quality/*.cpp)

build/measure: $(QUALITY_SOURCES:%.cpp=build/%.o) $(CORE_SOURCES:%.cpp=build/%.o)
	$(UNIT_CXX) $(UNIT_CXXFLAGS) -o $@ $^

quality: build/measure build/compare_texts
	python3 test/quality/corpora.py build/quality
	build/measure build/quality/corpora/* > build/quality/results.tsv
	python3 test/quality/report.py build/quality/results.tsv build/quality/figures >build/quality/figures.md
	python3 test/quality/passages.py build/quality >build/quality/passages.md

# Of the text files in a folder, FOLDER: two tables, and build/quality-of/folder.svg.
quality-of: build/measure
	python3 test/quality/folder.py "$(FOLDER)" build/quality-of

build/compare_texts: test/bench/compare_texts.cpp $(CORE_SOURCES:%.cpp=build/%.o)
	$(UNIT_CXX) $(UNIT_CXXFLAGS) -std=c++20 -ffp-contract=off $(WARNINGS) -Isrc -o $@ $^

# Both look at the documents that `make quality` has fetched.
build/verified_pairs build/false_neighbours: build/%: test/bench/%.cpp build/test/quality/minhash.o \
		$(CORE_SOURCES:%.cpp=build/%.o)
	$(UNIT_CXX) $(UNIT_CXXFLAGS) -std=c++20 -ffp-contract=off $(WARNINGS) -Isrc -Itest/quality -o $@ $^

CORPORA = $(filter-out $(wildcard build/quality/corpora/pieces-* build/quality/corpora/unseen-* build/quality/corpora/script-*),\
	$(wildcard build/quality/corpora/*))

verified-pairs: build/verified_pairs
	build/verified_pairs 2 100000 5000 $(CORPORA)
	CXX="$(CXX)" test/bench/verified_pairs.sh $(PG_CONFIG) 100000 5000 $(CORPORA)

document-search:
	CXX="$(CXX)" test/bench/document_search.sh $(PG_CONFIG) $(or $(ROWS),1000000) $(OTHERS)

# As its users would build it: for this machine alone. GCC 12 finds fault with its own header for AVX-512.
NO_HEADER_WARNINGS = -Wno-uninitialized -Wno-maybe-uninitialized -Wno-unknown-warning-option
build/minhash_groups: test/bench/minhash_groups.cpp $(addprefix test/quality/,minhash.cpp truth.cpp) $(CORE_SOURCES)
	@mkdir -p $(@D)
	$(UNIT_CXX) -O3 -march=native -std=c++20 -ffp-contract=off $(WARNINGS) $(NO_HEADER_WARNINGS) -Isrc -Itest/quality -o $@ $^ -lpthread

build/natural_documents: test/bench/natural_documents.cpp
	@mkdir -p $(@D)
	$(UNIT_CXX) $(UNIT_CXXFLAGS) -std=c++20 $(WARNINGS) -o $@ $<

document-groups: build/minhash_groups build/natural_documents
	CXX="$(CXX)" test/bench/document_groups.sh $(PG_CONFIG) \
		$(foreach setting,ROWS VOCABULARY FOLDER SIMILARITY ROUNDS,$(if $($(setting)),"$(setting)=$($(setting))"))

passages-bench:
	CXX="$(CXX)" test/bench/passages.sh $(PG_CONFIG) $(or $(ROWS),100000) $(OTHERS)

scaling: build/natural_documents
	CXX="$(CXX)" test/bench/scaling.sh $(PG_CONFIG) \
		$(foreach setting,ROWS MINUTES RATE SESSIONS BATCH,$(if $($(setting)),"$(setting)=$($(setting))")) \
		$(if $(filter undefined,$(origin SETTINGS)),,"SETTINGS=$(SETTINGS)")

insert-or-find:
	CXX="$(CXX)" FSYNC=$(FSYNC) test/bench/insert_or_find.sh $(PG_CONFIG) $(or $(ROWS),200000)

false-neighbours: build/false_neighbours
	build/false_neighbours $(CORPORA)

# Needs python3-numpy and python3-pil.
pictures:
	python3 test/quality/pictures.py build/pictures

# ---- the speed bench ----

# Only a run of everything replaces plots and figures in docs.
BENCH_DOCS = $(if $(ROWS)$(PARTS)$(METHODS),,BENCH_PLOTS=docs/performance BENCH_PAGE=docs/performance.md)

bench:
	PG_CONFIG=$(PG_CONFIG) $(BENCH_DOCS) test/bench/speed/run.sh $(if $(ROWS),--rows "$(ROWS)") \
		$(if $(PARTS),--parts "$(PARTS)") $(if $(METHODS),--methods "$(METHODS)")

plan-grid:
	PG_CONFIG=$(PG_CONFIG) test/bench/plan_grid.sh $(if $(ROWS),--rows "$(ROWS)") $(if $(KINDS),--kinds "$(KINDS)") \
		$(if $(FORMS),--forms "$(FORMS)") $(if $(THRESHOLD),--threshold "$(THRESHOLD)")

# ---- fuzzing ----

FUZZ_SECONDS ?= 30
FUZZ_CXX ?= clang++
FUZZ_FLAGS = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZERS = text leaf type state meta digest

build/fuzz/%.o: %.cpp
	@mkdir -p $(@D)
	$(FUZZ_CXX) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -ffunction-sections $(SIMHASH_CXXFLAGS) $(WARNINGS) $(WRITE_DEPENDENCIES) \
		-Isrc -isystem $(shell $(PG_CONFIG) --includedir-server) -D_GNU_SOURCE -DUSE_ASSERT_CHECKING -c -o $@ $<

# The last four link stand-ins of the server's functions. What these files call apart from that is in functions that no fuzzer
# reaches, and the linker leaves them out.
fuzzed_objects = $(patsubst %.cpp,build/fuzz/%.o,$(CORE_SOURCES) $(addprefix src/,$(1)) test/fuzz/server_stubs.cpp)
build/fuzz/text: $(CORE_SOURCES:%.cpp=build/fuzz/%.o)
build/fuzz/leaf: $(patsubst %.cpp,build/fuzz/%.o,$(filter src/core/leaf/%,$(CORE_SOURCES)))
build/fuzz/type: $(call fuzzed_objects,$(addprefix values/,fingerprint/ball.cpp code/bit_ball.cpp code/code.cpp) \
	$(addprefix values/,text/shingle_set.cpp fingerprint/conversions.cpp) server/arguments.cpp)
build/fuzz/state: $(call fuzzed_objects,$(addprefix values/fingerprint/,simhash.cpp minhash.cpp) $(addprefix server/,arguments.cpp server_text.cpp))
build/fuzz/digest: $(call fuzzed_objects,whole_tables/digests.cpp values/text/shingle_set.cpp $(addprefix server/,arguments.cpp server_text.cpp))
build/fuzz/meta: $(call fuzzed_objects,$(addprefix index/,store/page.cpp options.cpp lanes.cpp scope.cpp))
$(FUZZERS:%=build/fuzz/%): build/fuzz/%: build/fuzz/test/fuzz/%_fuzz.o
	$(FUZZ_CXX) $(FUZZ_FLAGS) -fsanitize=fuzzer -Wl,--gc-sections,-z,start-stop-gc -o $@ $^ \
		$(addprefix -L,$(shell $(PG_CONFIG) --pkglibdir --libdir)) -lpgcommon -lpgport

fuzz: $(FUZZERS:%=build/fuzz/%)
	@mkdir -p build/fuzz/corpus
	for fuzzer in $(FUZZERS); do \
		build/fuzz/$$fuzzer $(if $(FUZZ_RUNS),-runs=$(FUZZ_RUNS),-max_total_time=$(FUZZ_SECONDS)) -max_len=8200 \
			-print_final_stats=1 $$([ $$fuzzer = text ] && echo build/fuzz/corpus || echo -len_control=0) || exit 1; \
	done

-include $(wildcard $(patsubst %.cpp,build/fuzz/%.o.d,$(CORE_SOURCES) $(SERVER_SOURCES) $(wildcard test/fuzz/*.cpp)))

# Runs the leaf fuzzer's inputs without libFuzzer and sanitizers.
build/replay-leaf: $(patsubst %,build/test/fuzz/%.o,driver leaf_fuzz) $(patsubst %.cpp,build/%.o,$(filter src/core/leaf/%,$(CORE_SOURCES)))
	$(UNIT_CXX) $(UNIT_CXXFLAGS) -o $@ $^

# ---- other kinds of processors, under emulation ----

arm64 s390x:
	PG_CONFIG=$(PG_CONFIG) test/cross.sh $@ $(FUZZ_RUNS)

# ---- the checks of the source ----

CLANG_FORMAT ?= clang-format

format-check:
	$(CLANG_FORMAT) --dry-run --Werror $(wildcard src/*.hpp src/*/*.?pp src/*/*/*.?pp test/*/*.?pp)

CLANG_TIDY ?= clang-tidy
TIDY_JOBS ?= $(shell nproc)
TIDY_SOURCES = $(CORE_SOURCES) $(SERVER_SOURCES) $(wildcard test/unit/*.cpp test/fuzz/*.cpp)
TIDY_FLAGS = $(SIMHASH_CXXFLAGS) $(filter -DSIMHASH_%,$(PREPROCESSOR_FLAGS)) -D_GNU_SOURCE -Wold-style-cast -Isrc -Itest/unit \
	-isystem $(shell $(PG_CONFIG) --includedir-server)

# Eight files a call, as clang-tidy takes .3 s to start.
tidy:
	@printf '%s\n' $(TIDY_SOURCES) | xargs -P $(TIDY_JOBS) -n 8 sh -c \
		'said=$$($(CLANG_TIDY) --quiet "$$@" -- $(TIDY_FLAGS) 2>&1) || { printf "%s\n" "$$said"; exit 1; }' tidy

# ---- the drawing in README, and releases ----

drawing:
	scripts/block_tables.py >docs/block-tables.svg
dist:
	scripts/dist.sh
release-check:
	scripts/release-check.sh
