#!/usr/bin/env python3
"""Measures the simhash index beside its alternatives (methods.py) in a server that run.sh has started.

Results are records: what was measured, on how many rows of which data, with which method and parameters, the unit,
the value of every round and their median. Rounds of the methods are interleaved (A, B, A, B), so that whatever else the
machine does meets all alike. report.py makes tables and plots of them.
"""
import argparse
import collections
import contextlib
import datetime
import gzip
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import threading
import time

import psycopg

import hma
import wide
from methods import METHODS, RADII

FORMAT = 1                  # of the JSON file: raised when a key changes its meaning
HOT = 0x5bd1e9955bd1e995    # also in fingerprints.cpp
ROUNDS = 3
TARGET_ROUNDS = 7           # for the figures that targets are about
# For the probe that is as fast as what it is compared with: a round of 1 000 takes 5 ms, and varies from round to round and, with
# where its memory lies, from session to session.
PROBE_SESSIONS = 11
PROBE_ROUNDS = 15           # in each session, ...
WARM_UP_ROUNDS = 5          # ... behind these
MANY_ROWS = 20_000_000      # of more, what takes minutes is measured once
BUDGET = 1.0                # seconds that a run over many queries may take; fewer queries where it would take longer
QUERIES = 10_000            # in the query table
WIRE_SECONDS = 2            # of each pgbench run
COLD_QUERIES = 200
INSERT_ROWS = 1_000_000
SINGLE_ROWS = 40_000        # inserted one by one, in all
MOST_DOCUMENTS = 20_000
BUILD_MEMORY = "1GB"        # maintenance_work_mem
WHOLE_BYTES = 80            # of memory for a fingerprint of pairs, groups, clusters and joins: what the last of them need
# PostgreSQL's defaults of what run.sh sets.
DEFAULT_SETTINGS = dict(fsync="on", shared_buffers="128MB", max_wal_size="1GB", autovacuum="on", jit="on", synchronous_commit="on",
                        checkpoint_timeout="5min", work_mem="4MB", max_parallel_workers_per_gather="2")
# What each part measures:
#   build      each index built serially: time, WAL, peak memory without shared buffers, bytes per row; the first method and the B-tree also
#              with 1 and 2 workers
#   probe      one lateral join of 1 000 (10 000) query fingerprints with the table; each query is one bit away from some row. probe grows:
#              radius 3 at the most rows beside the fewest, in turns
#   nearest    the same with ORDER BY … LIMIT n
#   wire       pgbench -M prepared, 1, 2 and 8 clients on the same machine; seven of ten queries find a row
#   defaults   the probe, the nearest and the latency over the wire, of simhash and the primary key, with PostgreSQL's default settings
#   cold       after a restart and, as root, with the kernel's file cache dropped: 200 queries in one statement
#   whole      pairs, clusters and a join of all rows, with memory for all fingerprints and for a quarter of them
#   hot        1 % of the rows have one fingerprint; queries at least 16 bits away that share one block with it, against queries that share
#              none
#   insert     1 million rows into an empty indexed table by INSERT … SELECT and COPY, 1 and 4 writers; then 40 000 single-row transactions;
#              then 10 % deleted and VACUUM
#   grow       the same until the index is as large as the table: fast methods, above 1 and up to 20 million rows
#   wide       codes of 256 bits within 31 and of 128 within 18, of four kinds (codes.cpp): builds, lateral joins, the 10 nearest, answers
#              beside brute force; of clustered codes also pgbench, pairs, faiss, and 1 000 rows of one code
#   hma        hashes of PDQ's kind, looked up by pgbench, 4 and 8 clients, while 1 % of the rows come and 1 % go each minute (hma.py)
#   documents  fingerprints of at most 20 000 texts in /usr/share/doc and /usr/share/man
PARTS = ("build", "probe", "nearest", "wire", "defaults", "cold", "whole", "hot", "insert", "grow", "documents", "wide", "hma")


class Results:
    """The records, and one line on stderr for each."""

    def __init__(self):
        self.records = []

    def add(self, measure, method, unit, values, rows, data="clustered", **parameters):
        values = [value for value in values if value is not None]
        if not values:
            return
        record = dict(measure=measure, data=data, rows=rows, method=method, parameters=parameters, unit=unit,
                      median=statistics.median(values), rounds=values)
        self.records.append(record)
        extra = " ".join(f"{key}={value}" for key, value in parameters.items())
        say(f"  {measure:26} {data:10} {rows:>10} {method:12} {extra:28} {record['median']:14.4g} {unit}")


def say(words):
    print(f"{time.strftime('%H:%M:%S')} {words}", file=sys.stderr, flush=True)


class Server:
    """The throwaway server: sessions, restarts, sizes."""

    def __init__(self, bindir, data):
        self.bindir, self.data = pathlib.Path(bindir), pathlib.Path(data)
        self.user = self.data.owner()

    def connect(self, settings=""):
        connection = psycopg.connect(autocommit=True)
        if settings:
            connection.execute(settings)
        return connection

    def run(self, *statements):
        with self.connect() as connection:
            for statement in statements:
                connection.execute(statement)

    def value(self, query):
        with self.connect() as connection:
            return connection.execute(query).fetchone()[0]

    def restart(self):
        command = [self.bindir / "pg_ctl", "-D", self.data, "-l", self.data / "../server.log", "-m", "fast", "-w", "-s", "restart"]
        if os.getuid() == 0:
            command = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--init-groups"] + command
        subprocess.run(command, check=True, cwd="/")

    @contextlib.contextmanager
    def default_settings(self):
        self.run("CHECKPOINT", *[f"ALTER SYSTEM SET {name} = '{value}'" for name, value in DEFAULT_SETTINGS.items()])
        self.restart()
        yield
        self.run("ALTER SYSTEM RESET ALL")
        self.restart()

    def wal_position(self):
        return int(self.value("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"))

    def index_bytes(self, method, table):
        return sum(self.value(f"SELECT pg_relation_size('{name}')") for name in method.index_names(table))


def drop_file_cache():
    """Whether the kernel forgot what it had read of files."""
    os.sync()
    try:
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("3\n", encoding="ascii")
        return True
    except OSError:
        return False


def interleaved(methods, rounds, run, source=None):
    """{key: values}: run(method) for each method in turn, and the turn repeated. rounds: number, or of a method.
    source: of random numbers, for another order in each turn: what ran before leaves the caches its way."""
    values = collections.defaultdict(list)
    rounds_of = rounds if callable(rounds) else lambda method: rounds
    for turn in range(max(map(rounds_of, methods), default=0)):
        for method in source.sample(methods, len(methods)) if source else methods:
            if turn < rounds_of(method):
                values[method.key].append(run(method))
    return values


class Bench:
    def __init__(self, server, results, methods, options):
        self.server, self.results, self.options = server, results, options
        self.methods = methods
        self.workspace = pathlib.Path(options.workspace)
        self.sessions = {}
        self.cache_dropped = False

    def takes_part(self, method):
        """Whether the options ask for it, and the server has it."""
        asked = method.key in self.options.methods if self.options.methods else not method.on_demand
        return asked and self.server.value(method.available)

    def chosen(self, *keys, having=lambda method: True):
        return [m for m in self.methods if (not keys or m.key in keys) and having(m)]

    @contextlib.contextmanager
    def methods_for(self, rows):
        """Without those that would take too long for so many rows."""
        every = self.methods
        self.methods = [m for m in every if rows <= (m.most_rows or rows)]
        yield
        self.methods = every

    def add_rounds(self, measure, values, unit, rows, scale=1.0, **parameters):
        for key, rounds in values.items():
            self.results.add(measure, key, unit, [value * scale for value in rounds], rows, **parameters)

    # ---- data ----

    def fingerprint_files(self, kind, rows, parts):
        """Files of lines for COPY, each with its part of the rows. The caller removes them."""
        bounds = [rows * i // parts for i in range(parts + 1)]
        paths = [self.workspace / f"{kind}-{i}.tsv" for i in range(parts)]
        for path, first, last in zip(paths, bounds, bounds[1:]):
            with open(path, "wb") as file:
                subprocess.run([self.options.generator, kind, str(first + 1), str(last)], stdout=file, check=True)
        return paths

    def load(self, table, kind, rows):
        self.server.run(f"DROP TABLE IF EXISTS {table}", f"CREATE TABLE {table} (id bigint NOT NULL, fp bigint)")
        for path in self.fingerprint_files(kind, rows, 1):
            self.server.run(f"COPY {table} FROM '{path}' WITH (FREEZE false)")
            path.unlink()
        self.server.run(f"VACUUM (FREEZE, ANALYZE) {table}", "CHECKPOINT")

    def make_queries(self, name, table, rows):
        """Query fingerprints that are one bit away from rows spread over the table, in random order."""
        self.server.run(f"DROP TABLE IF EXISTS {name}", f"""
            CREATE TABLE {name} AS
            SELECT (row_number() OVER (ORDER BY hashint8extended(id, 1)))::int AS n, id, fp # (1::bigint << (n % 64)) AS fp
            FROM (SELECT n, 1 + (hashint8extended(n, 7) & 9223372036854775807) % {rows} AS id
                  FROM generate_series(1, {QUERIES}) n) wanted JOIN {table} USING (id)""", f"VACUUM ANALYZE {name}")

    # ---- statements ----

    @staticmethod
    def lateral(select, table, query_table, count):
        inner = select.format(table=table, q="q.fp", id="q.id")
        queries = f"(SELECT * FROM {query_table} LIMIT {count}) q"     # stored in the order of n
        return f"SELECT count(m.found) FROM {queries} CROSS JOIN LATERAL ({inner}) AS m (found)"

    def session(self, method):
        """A session that is kept: its first statements would load the catalogue's caches."""
        if method.key not in self.sessions:
            self.sessions[method.key] = self.server.connect(
                "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off; "
                + method.settings)
        return self.sessions[method.key]

    def close_sessions(self):
        for connection in self.sessions.values():
            connection.close()
        self.sessions.clear()

    @staticmethod
    def check_plan(connection, method, table, statement):
        plan = "\n".join(row[0] for row in connection.execute("EXPLAIN (COSTS OFF) " + statement))
        wanted = method.index_names(table) or [f"Seq Scan on {table}"]
        if not any(name in plan for name in wanted):
            raise SystemExit(f"{method.key}: this plan is not what was to be measured:\n{plan}")

    def time_lateral(self, method, select, table, query_table, count):
        """Seconds per query."""
        connection = self.session(method)
        statement = self.lateral(select, table, query_table, count)
        begun = time.perf_counter()
        connection.execute(statement, prepare=True).fetchone()
        return (time.perf_counter() - begun) / count

    def queries_for(self, method, select, table, query_table):
        """How many queries to run: (1 000 and 10 000), or fewer where those take too long."""
        self.check_plan(self.session(method), method, table, self.lateral(select, table, query_table, 2))
        def quickest(count):
            return min(self.time_lateral(method, select, table, query_table, count) for _ in range(3))
        estimate = quickest(2)
        # What a statement costs whatever its queries, a tenth of a second where JIT compiles it, weighs less with each step. So the
        # steps may take longer than a run.
        for count in (20, 200, 2_000):
            if estimate * count <= 3 * BUDGET:
                estimate = quickest(count)
        fitting = [n for n in (1_000, 10_000) if n * estimate <= BUDGET]
        return fitting or [max([n for n in (2, 10, 100) if n * estimate <= BUDGET] or [2])]

    def measure_lateral(self, measure, selects, table, query_table, rows, rounds, sessions=1, **parameters):
        """selects: {method: SELECT}. Records microseconds per query, over as many queries as fit the time: rounds in each of
        as many sessions."""
        source = random.Random(42)
        counts = {method: self.queries_for(method, select, table, query_table) for method, select in selects.items()}
        for method, numbers in counts.items():      # once for the caches, and to plan it
            for count in numbers:
                self.time_lateral(method, selects[method], table, query_table, count)
        def timed(method):
            return self.time_lateral(method, selects[method], table, query_table, part[method]) * 1e6
        for many in (False, True):
            part = {m: max(n) if many else min(n) for m, n in counts.items() if not many or len(n) > 1}
            # What takes long is no less certain after three rounds.
            slow = [m for m in part if m.rounds == 1 or not m.indexes]
            values = interleaved(slow, min(rounds, ROUNDS), timed)
            fast = [m for m in part if m not in slow]
            for session in range(sessions):
                if session > 0:
                    self.close_sessions()
                    interleaved(fast, WARM_UP_ROUNDS, timed, source)
                for key, more in interleaved(fast, rounds, timed, source).items():
                    values[key] += more
            for method, count in part.items():
                self.results.add(measure + (", 10 000 queries" if many else ""), method.key, "µs", values[method.key], rows,
                                 **parameters, queries=count)

    # ---- 5, 6: build time, memory, WAL, size ----

    def build_once(self, method, table, workers):
        self.server.run(*[f"DROP INDEX IF EXISTS {name}" for name in method.index_names(table)], "CHECKPOINT")
        before = self.server.wal_position()
        settings = f"SET maintenance_work_mem = '{BUILD_MEMORY}'; SET max_parallel_maintenance_workers = {workers}"
        with self.server.connect(settings) as connection:
            begun = time.perf_counter()
            for statement in method.statements(table):
                connection.execute(statement)
            seconds = time.perf_counter() - begun
            memory = private_memory(connection.info.backend_pid)
        return seconds, (self.server.wal_position() - before) / 1e6, memory

    @staticmethod
    def build_rounds(method, rows):
        return method.rounds if rows <= MANY_ROWS else 1

    def build_by_workers(self, table, rows, data):
        """The leader and so many workers."""
        for workers in (1, 2):
            times = interleaved(self.chosen("simhash", "btree"), lambda m: self.build_rounds(m, rows),
                                lambda m: self.build_once(m, table, workers)[0])
            for key, seconds in times.items():
                self.results.add(f"build by {workers} worker{'s' if workers > 1 else ''}", key, "s", seconds, rows, data)

    def build(self, table, rows, methods=None, data="clustered"):
        """Builds every index; the measured rounds are the builds."""
        methods = self.chosen(having=lambda m: m.indexes) if methods is None else methods
        if "build" in self.options.parts:
            self.build_by_workers(table, rows, data)
        rounds = interleaved(methods, lambda m: self.build_rounds(m, rows) if "build" in self.options.parts else 1,
                             lambda m: self.build_once(m, table, workers=0))
        for method in methods:
            times, wal, memory = zip(*rounds[method.key])
            self.results.add("build, serial", method.key, "s", times, rows, data)
            self.results.add("build: WAL", method.key, "MB", wal, rows, data)
            self.results.add("build: memory, peak", method.key, "MB", memory, rows, data)
            size = self.server.index_bytes(method, table) / rows
            self.results.add("size, built", method.key, "bytes/row", [size], rows, data)
        self.server.run(f"VACUUM ANALYZE {table}", "CHECKPOINT")

    # ---- 1, 3: inside the server ----

    def probe(self, table, rows, data="clustered", radii=RADII):
        for radius in radii:
            selects = {m: m.within(radius) for m in self.methods if radius in m.radii and m.within(radius)}
            rounds, sessions = (PROBE_ROUNDS, PROBE_SESSIONS) if radius == 3 else (ROUNDS, 1)
            self.measure_lateral("probe", selects, table, "query", rows, rounds, sessions, data=data, radius=radius)
        if data == "clustered" and min(self.options.rows) < rows == max(self.options.rows):
            self.probe_growth(table, rows)

    def probe_growth(self, table, rows):
        """The probe in this table beside that in one of the fewest rows, in turns: the machine's pace changes within minutes."""
        fewest = min(self.options.rows)
        methods = self.chosen("simhash", "pk")
        self.load("few", "clustered", fewest)
        for method in methods:
            self.build_once(method, "few", workers=0)
        self.server.run("VACUUM ANALYZE few", "CHECKPOINT")
        self.make_queries("few_query", "few", fewest)
        source = random.Random(43)
        def ratio(select, method, count):
            tables = {"few": "few_query", table: "query"}
            seconds = {t: self.time_lateral(method, select, t, tables[t], count) for t in source.sample(sorted(tables), 2)}
            return seconds[table] / seconds["few"]
        for many, count in ((False, 1_000), (True, 10_000)):
            for method in methods:
                ratios = []
                for _ in range(PROBE_SESSIONS):
                    self.close_sessions()
                    rounds = [ratio(method.within(3), method, count) for _ in range(WARM_UP_ROUNDS + PROBE_ROUNDS)]
                    ratios += rounds[WARM_UP_ROUNDS:]
                self.results.add("probe grows" + (", 10 000 queries" if many else ""), method.key, "ratio", ratios, rows,
                                 radius=3, queries=count)
        self.server.run("DROP TABLE few, few_query")

    def nearest(self, table, rows):
        for count in (1, 10, 100):
            selects = {m: m.nearest(count) for m in self.methods if m.nearest and count in m.counts}
            self.measure_lateral("nearest", selects, table, "query", rows, ROUNDS, count=count)

    # ---- 2: over the wire ----

    def wire_script(self, method, table, rows):
        """Rows that are there, one bit away; of each ten, three ask for nothing that is there."""
        path = self.workspace / f"wire-{method.key}.sql"
        select = method.within(3).format(table=table, q=":fp::bigint", id=":id")
        path.write_text(f"\\set id random(1, {rows})\n\\set bit random(0, 63)\n"
                        f"\\set fp hash_murmur2(:id, 42) # (1 << :bit)\n{select};\n", encoding="utf-8")
        return path

    def check_generic_plan(self, method, table):
        statement = method.within(3).format(table=table, q="$1::bigint", id="$1::bigint")
        with self.server.connect("SET plan_cache_mode = force_generic_plan") as connection:
            connection.execute(f"PREPARE wire (bigint) AS {statement}")
            self.check_plan(connection, method, table, "EXECUTE wire(4711)")

    def pgbench(self, script, clients, *more, seed=42, warm_up=0):
        """Transactions per second, and the latencies in microseconds, sorted. Those of the first warm_up seconds are left out."""
        prefix = self.workspace / "pgbench_log"
        done = subprocess.run(
            [self.server.bindir / "pgbench", "-n", "-M", "prepared", "-c", str(clients), "-j", str(min(clients, os.cpu_count())),
             "-l", f"--log-prefix={prefix}", f"--random-seed={seed}", "-f", script, *more],
            check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"pgbench: {done.stderr}")
        transactions = []       # when each ended, in seconds, and its latency
        for log in self.workspace.glob("pgbench_log.*"):
            with open(log, encoding="ascii") as lines:
                for words in map(str.split, lines):
                    transactions.append((int(words[4]) + int(words[5]) / 1e6, int(words[2])))
            log.unlink()
        if warm_up == 0:
            return float(re.search(r"tps = ([0-9.]+)", done.stdout)[1]), sorted(latency for _, latency in transactions)
        begun = min(transactions)[0] + warm_up
        latencies = sorted(latency for ended, latency in transactions if ended >= begun)
        return len(latencies) / (max(transactions)[0] - begun), latencies

    def wire(self, table, rows):
        methods = self.chosen(having=lambda m: m.wire)
        for method in methods:
            self.check_generic_plan(method, table)
        for clients in (1, 2, 8):
            runs = interleaved(methods, TARGET_ROUNDS if clients == 1 else ROUNDS, lambda m: self.pgbench(
                self.wire_script(m, table, rows), clients, "-T", str(WIRE_SECONDS)))
            for key, rounds in runs.items():
                self.results.add("wire: throughput", key, "1/s", [tps for tps, _ in rounds], rows, clients=clients)
                self.results.add("wire: latency, mean", key, "µs", [statistics.mean(log) for _, log in rounds], rows, clients=clients)
                for percent in (50, 95, 99):
                    self.results.add(f"wire: latency, {percent} %", key, "µs",
                                     [log[len(log) * percent // 100] for _, log in rounds], rows, clients=clients)

    def defaults(self, table, rows):
        methods = self.chosen("simhash", "pk")
        self.close_sessions()
        with self.server.default_settings():
            selects = {m: m.within(3) for m in methods}
            self.measure_lateral("defaults: probe", selects, table, "query", rows, PROBE_ROUNDS, ROUNDS, radius=3)
            self.measure_lateral("defaults: nearest", {m: m.nearest(10) for m in methods if m.nearest}, table, "query", rows, ROUNDS, count=10)
            runs = interleaved(methods, TARGET_ROUNDS, lambda m: self.pgbench(self.wire_script(m, table, rows), 1, "-T", str(WIRE_SECONDS)))
            for key, rounds in runs.items():
                self.results.add("defaults: latency, mean", key, "µs", [statistics.mean(log) for _, log in rounds], rows, clients=1)
            self.close_sessions()

    # ---- 4: cold caches ----

    def cold_once(self, method, table):
        """(ms, pages read, pages touched), each per query."""
        self.close_sessions()
        self.server.restart()
        self.cache_dropped = drop_file_cache()
        connection = self.session(method)
        statement = self.lateral(method.within(3), table, "query", COLD_QUERIES)
        self.check_plan(connection, method, table, statement)       # and reads the catalogue
        plan, = connection.execute("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) " + statement).fetchone()[0]
        read, hit = plan["Plan"]["Shared Read Blocks"], plan["Plan"]["Shared Hit Blocks"]
        return plan["Execution Time"] / COLD_QUERIES, read / COLD_QUERIES, (read + hit) / COLD_QUERIES

    def cold(self, table, rows):
        self.server.run("CHECKPOINT")
        methods = self.chosen(having=lambda m: m.wire)
        runs = interleaved(methods, 2, lambda m: self.cold_once(m, table))
        state = "restarted, file cache dropped" if self.cache_dropped else "restarted, file cache kept"
        for key, rounds in runs.items():
            times, read, touched = zip(*rounds)
            self.results.add(f"cold: time ({state})", key, "ms", times, rows, radius=3)
            self.results.add("cold: pages read", key, "pages", read, rows, radius=3)
            self.results.add("pages touched", key, "pages", touched, rows, radius=3)

    # ---- data set 2: one fingerprint has 1 % of the rows ----

    def make_hot_queries(self):
        """hot_1 … hot_4 share that block with the hot fingerprint and are far from it; hot_0 shares none."""
        source = random.Random(42)
        for shared in range(5):
            name = f"hot_{shared}"
            self.server.run(f"DROP TABLE IF EXISTS {name}", f"CREATE TABLE {name} (n int, id bigint, fp bigint)")
            with self.server.connect() as connection, connection.cursor() as cursor:
                with cursor.copy(f"COPY {name} FROM STDIN") as copy:
                    for n in range(1, 1001):
                        copy.write_row((n, n, signed(hot_query(source, shared - 1))))
            self.server.run(f"VACUUM ANALYZE {name}")

    def hot(self, rows):
        self.load("hot", "hot", rows)
        methods = self.chosen("simhash") + (self.chosen("four_btrees") if rows <= 1_000_000 else [])
        for method in methods:
            self.server.run(f"SET maintenance_work_mem = '{BUILD_MEMORY}'", *method.statements("hot"))
            self.results.add("size, built", method.key, "bytes/row", [self.server.index_bytes(method, "hot") / rows], rows, "hot")
        self.server.run("VACUUM ANALYZE hot")
        self.make_hot_queries()
        for method in methods:
            select = method.within(3)
            count = min(1_000, max(self.queries_for(method, select, "hot", "hot_1")))
            turns = []
            for _ in range(TARGET_ROUNDS + 1):      # the first is for the plans and caches
                turns.append([self.time_lateral(method, select, "hot", f"hot_{i}", count) * 1e6 for i in range(5)])
            other, *sharing = zip(*turns[1:])
            self.results.add("probe: no block of the hot", method.key, "µs", other, rows, "hot", queries=count)
            ratios = []
            for i, times in enumerate(sharing):
                self.results.add("probe: shares with the hot", method.key, "µs", times, rows, "hot", block=i + 1, queries=count)
                ratios.append([a / b for a, b in zip(times, other)])
            self.results.add("hot: worst block / none", method.key, "ratio", max(ratios, key=statistics.median), rows, "hot")
        self.server.run("DROP TABLE hot")

    # ---- 6, 7, 8: inserts, their size and WAL, vacuum ----

    def empty_table(self, method):
        self.server.run("DROP TABLE IF EXISTS target", "CREATE TABLE target (id bigint NOT NULL, fp bigint)",
                        *method.statements("target"), "CHECKPOINT")

    def measured(self, work):
        """(seconds, MB of WAL) of work()."""
        before = self.server.wal_position()
        begun = time.perf_counter()
        work()
        return time.perf_counter() - begun, (self.server.wal_position() - before) / 1e6

    def in_parallel(self, statements):
        """Runs each statement in a session and thread of its own; the first error is raised here."""
        errors = []

        def run(statement):
            try:
                self.server.run(statement)
            except psycopg.Error as error:
                errors.append(error)
        threads = [threading.Thread(target=run, args=(statement,)) for statement in statements]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]

    def insert_select(self, source, writers):
        return lambda: self.in_parallel([f"INSERT INTO target SELECT id, fp FROM {source} WHERE id % {writers} = {i}"
                                         for i in range(writers)])

    def insert_fresh(self, method, work):
        self.empty_table(method)
        return self.measured(work)

    def insert_singly(self, method, rows, writers):
        """(rows per second, bytes of WAL per row), into the table as it stands."""
        script = self.workspace / "single.sql"
        script.write_text("\\set id random(1, 100000000000000000)\n\\set fp hash_murmur2(:id, 4711)\n"
                          "INSERT INTO target VALUES (:id, :fp);\n", encoding="utf-8")
        speeds = []
        _, wal = self.measured(lambda: speeds.append(self.pgbench(script, writers, "-t", str(rows // writers), seed=writers)[0]))
        return speeds[0], wal * 1e6 / rows

    def vacuum_after_delete(self, method, rows):
        self.server.run("DELETE FROM target WHERE id % 10 = 3", "CHECKPOINT")
        seconds, wal = self.measured(lambda: self.server.run(
            f"SET maintenance_work_mem = '{BUILD_MEMORY}'", "VACUUM (INDEX_CLEANUP on) target"))
        left = self.server.value("SELECT count(*) FROM target")
        self.results.add("vacuum after deleting 10 %", method.key, "s", [seconds], rows)
        self.results.add("vacuum: WAL", method.key, "MB", [wal], rows)
        if method.indexes:
            self.results.add("size, after vacuum", method.key, "bytes/row", [self.server.index_bytes(method, "target") / left], rows)

    def insert(self, rows):
        methods = self.chosen(having=lambda m: m.insert)
        self.load("source", "clustered", rows)
        files = {4: self.fingerprint_files("clustered", rows, 4)}
        with open(self.workspace / "all.tsv", "wb") as whole:
            subprocess.run(["cat", *files[4]], stdout=whole, check=True)
        files[1] = [self.workspace / "all.tsv"]

        by_turns = interleaved(methods, lambda m: m.rounds, lambda m: self.insert_fresh(m, self.insert_select("source", 1)))
        for method in methods:
            self.add_inserts("INSERT … SELECT", method, rows, 1, by_turns[method.key])
            self.insert_otherwise(method, rows, files)
            self.insert_more_and_vacuum(method, rows)
        for path in files[1] + files[4]:
            path.unlink()
        self.server.run("DROP TABLE target", "DROP TABLE source")

    def insert_otherwise(self, method, rows, files):
        """Each into an empty table; the last one stays. files: {writers: what they copy}."""
        four = self.insert_fresh(method, self.insert_select("source", 4))
        self.add_inserts("INSERT … SELECT", method, rows, 4, [four])
        for writers, paths in sorted(files.items()):
            copies = [f"COPY target FROM '{path}'" for path in paths]
            self.add_inserts("COPY", method, rows, writers, [self.insert_fresh(method, lambda: self.in_parallel(copies))])
        if method.indexes:
            size = self.server.index_bytes(method, "target") / rows
            self.results.add("size, random inserts", method.key, "bytes/row", [size], rows)

    def insert_more_and_vacuum(self, method, rows):
        """Single rows into the table as it stands, then VACUUM."""
        self.server.run("VACUUM ANALYZE target")
        for writers in (1, 4):
            speed, wal = self.insert_singly(method, SINGLE_ROWS, writers)
            self.results.add("insert: single rows", method.key, "rows/s", [speed], rows, writers=writers)
            self.results.add("insert: single rows, WAL", method.key, "bytes/row", [wal], rows, writers=writers)
        self.vacuum_after_delete(method, rows)

    def add_inserts(self, how, method, rows, writers, rounds):
        times, wal = zip(*rounds)
        self.results.add(f"insert: {how}", method.key, "s", times, rows, writers=writers)
        self.results.add(f"insert: {how}, WAL", method.key, "MB", wal, rows, writers=writers)

    def grow(self, table, rows):
        """An index that random inserts alone have made this large. Only the fast ones."""
        for method in self.chosen(having=lambda m: m.grow):
            seconds, wal = self.insert_fresh(method, self.insert_select(table, 4))
            self.add_inserts("INSERT … SELECT", method, rows, 4, [(seconds, wal)])
            self.results.add("size, random inserts", method.key, "bytes/row", [self.server.index_bytes(method, "target") / rows], rows)
            self.vacuum_after_delete(method, rows)
            self.server.run("DROP TABLE target", "CHECKPOINT")

    def whole(self, table, rows):
        """Pairs, clusters and joins of all rows: with memory for all of them, and with a quarter of it, by temporary files."""
        pairs = f"SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM {table}', %d)"
        join = f"SELECT count(*) FROM simhash_join('SELECT id, fp FROM {table} WHERE id %% 10 = 0', 'SELECT id, fp FROM {table} WHERE id %% 10 > 0', %d)"
        groups = f"SELECT count(*) FILTER (WHERE id = original) FROM simhash_groups('SELECT id, fp FROM {table}', %d)"
        clusters = f"SELECT count(*) FILTER (WHERE cluster = fp) FROM (SELECT fp, simhash_cluster(fp, %d) OVER () AS cluster FROM {table}) c"
        for method in self.chosen("simhash"):
            for place, kilobytes in (("memory", rows * WHOLE_BYTES // 1024), ("files", rows * WHOLE_BYTES // 4 // 1024)):
                with self.server.connect(f"SET work_mem = {max(kilobytes, 64)}") as connection:
                    connection.execute("SET hash_mem_multiplier = 1")
                    most = ROUNDS if rows <= MANY_ROWS else 1
                    for measure, statement, radius, rounds in (("pairs", pairs, 3, most), ("pairs", pairs, 8, int(rows <= MANY_ROWS)),
                                                               ("groups", groups, 3, most),
                                                               ("join of a tenth with the others", join, 3, most),
                                                               ("clusters, counted", clusters, 3, most)):
                        seconds = [self.seconds(connection, statement % radius) for _ in range(rounds)]
                        self.results.add(measure, method.key, "s", seconds, rows, radius=radius, place=place)

    @staticmethod
    def seconds(connection, statement):
        begun = time.perf_counter()
        connection.execute(statement)
        return time.perf_counter() - begun

    # ---- data set 3: real documents ----

    def documents(self):
        self.server.run("DROP TABLE IF EXISTS document", "DROP TABLE IF EXISTS documents", "CREATE UNLOGGED TABLE document (body text)")
        with self.server.connect() as connection, connection.cursor() as cursor:
            with cursor.copy("COPY document FROM STDIN") as copy:
                for text in document_texts():
                    copy.write_row((text,))
        self.server.run("CREATE TABLE documents (id bigint NOT NULL, fp bigint)", """
            INSERT INTO documents SELECT row_number() OVER (), fp
            FROM (SELECT simhash(body) AS fp FROM document) d WHERE fp IS NOT NULL""", "DROP TABLE document")
        rows = self.server.value("SELECT count(*) FROM documents")
        if rows < 100:
            say(f"only {rows} documents: left out")
            return
        self.server.run("VACUUM ANALYZE documents")
        self.methods = self.chosen(having=lambda m: m.documents)
        distinct, = [self.server.value("SELECT count(DISTINCT fp) FROM documents")]
        self.results.add("distinct fingerprints", "simhash", "", [distinct], rows, "documents")
        self.build("documents", rows, data="documents")
        self.make_queries("query", "documents", rows)
        found = self.server.value(self.lateral(self.chosen("simhash")[0].within(3), "documents", "query", 1000)) / 1000
        self.results.add("rows found by a query", "simhash", "rows", [found], rows, "documents", radius=3)
        self.probe("documents", rows, "documents", radii=(3,))

    # ---- everything ----

    def run_size(self, rows):
        parts = self.options.parts
        say(f"{rows} rows")
        if {"build", "probe", "nearest", "wire", "defaults", "cold", "whole", "grow"} & set(parts):
            self.load("clustered", "clustered", rows)
            self.build("clustered", rows)
            self.make_queries("query", "clustered", rows)
            for part in ("probe", "nearest", "wire", "defaults", "cold", "whole"):
                if part in parts:
                    getattr(self, part)("clustered", rows)
            if "grow" in parts and INSERT_ROWS < rows <= MANY_ROWS:
                self.server.run(*[f"DROP INDEX {name}" for m in self.methods for name in m.index_names("clustered")])
                self.grow("clustered", rows)
            self.server.run("DROP TABLE clustered")
        if "hot" in parts:
            self.hot(rows)

    def run(self):
        for rows in self.options.rows:
            with self.methods_for(rows):
                self.run_size(rows)
        if "insert" in self.options.parts:
            self.insert(min(INSERT_ROWS, max(self.options.rows)))
        if "documents" in self.options.parts:
            self.documents()
        if "wide" in self.options.parts:
            for rows in self.options.rows:
                wide.measure(self, rows)
        if "hma" in self.options.parts:
            for rows in self.options.rows:
                hma.Job(self, rows).run()


def private_memory(pid):
    """MB: the process's greatest memory, less what it has seen of the shared buffers."""
    status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines())
    return sum(int(status[name].split()[0]) * sign for name, sign in (("VmHWM", 1), ("RssShmem", -1))) * 1024 / 1e6


def hot_query(source, shared_block):
    """A fingerprint at least 16 bits from HOT that has exactly the one block (0 the leading one), or none (-1), in common with it."""
    while True:
        fp = source.getrandbits(64)
        if shared_block >= 0:
            mask = 0xffff << (48 - 16 * shared_block)
            fp = fp & ~mask | HOT & mask
        equal = [i for i in range(4) if (fp ^ HOT) >> (48 - 16 * i) & 0xffff == 0]
        if equal == [shared_block] * (shared_block >= 0) and (fp ^ HOT).bit_count() >= 16:
            return fp


def signed(word):
    return word - (1 << 64) if word >> 63 else word


def document_texts():
    """Documentation and manual pages of the installed packages: the first MOST_DOCUMENTS in the order of their names."""
    left = MOST_DOCUMENTS
    for folder in ("/usr/share/doc", "/usr/share/man"):
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if left == 0:
                return
            if path.is_symlink() or not path.is_file() or not 200 <= path.stat().st_size <= 1 << 20:
                continue
            with contextlib.suppress(OSError, EOFError, UnicodeDecodeError):
                data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
                text = data.decode("utf-8")
                if "\0" not in text and len(text) <= 1 << 20:
                    left -= 1
                    yield text


def machine():
    cpu = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"model name\s*: (.*)", cpu)
    memory = re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text(encoding="ascii"))
    return dict(cpu=model[1].strip() if model else os.uname().machine, cores=os.cpu_count(), memory_bytes=int(memory[1]) * 1024)


def settings_of(server):
    shown = ("shared_buffers", "work_mem", "fsync", "synchronous_commit", "full_page_writes", "wal_level", "max_wal_size",
             "checkpoint_timeout", "autovacuum", "jit", "max_parallel_workers_per_gather", "huge_pages")
    values = {name: server.value(f"SELECT current_setting('{name}')") for name in shown}
    return values | {"maintenance_work_mem": BUILD_MEMORY, "max_parallel_maintenance_workers": "0 where not said"}


def listed(words):
    return [word for word in re.split(r"[,\s]+", words) if word]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bindir", required=True, help="the server's programs")
    parser.add_argument("--data", required=True, help="the server's data directory")
    parser.add_argument("--workspace", required=True, help="a folder for data that server and bench can read")
    parser.add_argument("--generator", required=True, help="the program made of fingerprints.cpp")
    parser.add_argument("--codes", required=True, help="the program made of codes.cpp")
    parser.add_argument("--version", required=True, help="of simhash")
    parser.add_argument("--output", required=True, help="JSON file to write")
    parser.add_argument("--rows", default="1000000,10000000", help="table sizes, by commas")
    parser.add_argument("--parts", default=",".join(PARTS), help="what to measure, by commas")
    parser.add_argument("--methods", default="", help="keys of methods.py, by commas; default all that are available, and not on demand only")
    options = parser.parse_args()
    options.rows = sorted(map(int, listed(options.rows)))
    options.parts, options.methods = listed(options.parts), listed(options.methods)
    for words, known, what in ((options.parts, PARTS, "part"), (options.methods, [m.key for m in METHODS] + wide.KEYS, "method")):
        for word in words:
            if word not in known:
                parser.error(f"there is no {what} \"{word}\"; there are {', '.join(known)}")
    return options


def main():
    options = arguments()
    server, results = Server(options.bindir, options.data), Results()
    bench = Bench(server, results, [], options)
    bench.methods = methods = [m for m in METHODS if bench.takes_part(m)]
    server.run(*{m.setup: None for m in methods if m.setup})
    begun = time.time()
    try:
        bench.run()
    finally:    # what was measured until an error, too
        report = dict(
            format=FORMAT, date=datetime.date.today().isoformat(), seconds=round(time.time() - begun), machine=machine(),
            versions=dict(simhash=options.version, postgresql=server.value("SELECT current_setting('server_version')")),
            settings=settings_of(server),
            methods=[dict(key=m.key, title=m.title, note=m.note, any_radius=m.radii != RADII)
                     for m in methods + (wide.every_method(bench) if {"wide", "hma"} & set(options.parts) else [])],
            rows=options.rows, parts=options.parts, results=results.records)
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1, ensure_ascii=False)
            file.write("\n")


main()
