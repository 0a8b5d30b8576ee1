"""The part `wide` of the speed bench: codes of 128 and 256 bits, type bit(n).

Its table is (id bigint, fp bit(n)), its queries have up to the radius of a row's bits inverted, so
that the helpers of the other parts serve it. codes.cpp makes all data and compares each row with
each query: what an index may not miss.
"""
import collections
import json
import pathlib
import statistics
import subprocess
import sys
import time

from methods import BITMAP_ONLY, INDEX_ONLY, Method

QUERIES = 10_000
RADII = {256: 31, 128: 18}      # bits of a code: within which it is searched
KINDS = ("random", "clustered", "pdq", "dhash")
MOST_ROWS_OF_KIND = {"dhash": 1_000_000}    # where a thousandth of all rows shares a word with a query
SEED = 42                       # also in codes.cpp
EQUAL = 1_000                   # rows that get one code
RECALL_QUERIES = 100
NEAREST = 10
ROUNDS = 7
BUILD_ROUNDS = 3
FAISS_SECONDS = 20              # of a measurement
WIRE_SECONDS, WARM_UP_SECONDS = 12, 8    # of each pgbench run, and of these, until a session has seen most pages of the index
WORD = 64


def data_name(kind, bits):
    return f"codes of {bits} bits, {kind}"


def words_of(code, bits):
    return [f"(substring({code} FROM {first + 1} FOR {WORD})::bigint)" for first in range(0, bits, WORD)]


def distance(code):
    return f"bit_count({code} # {{q}})"


def words_within(bits, radius):
    """Hand-written: an index on each word, and the scans of all of them put together."""
    share = radius // (bits // WORD)
    near = " OR ".join(f"{word} <~> {query} <= {share}" for word, query in zip(words_of("w.fp", bits), words_of("{q}", bits)))
    return f"SELECT w.id FROM {{table}} w WHERE ({near}) AND {distance('w.fp')} <= {radius}"


def methods_for(bits):
    return [
        Method(
            key="codes", title="simhash, codes",
            note="this extension, an index on `bit(n)`; `fp <~~> q <= radius`",
            indexes={"codes": "CREATE INDEX {name} ON {table} USING simhash (fp)"},
            within=lambda radius: f"SELECT c.id FROM {{table}} c WHERE c.fp <~~> {{q}} <= {radius}",
            nearest=lambda count: f"SELECT c.id FROM {{table}} c ORDER BY c.fp <~~> {{q}} LIMIT {count}",
            settings=INDEX_ONLY, wire=True),
        Method(
            key="words", title="an index on each word",
            note="this extension, an index on each 64 bits of the code, as `bigint`; hand-written OR of words near the query's",
            indexes={f"word{i}": f"CREATE INDEX {{name}} ON {{table}} USING simhash ({word})" for i, word in enumerate(words_of("fp", bits))},
            within=lambda radius: words_within(bits, radius), settings=BITMAP_ONLY, rounds=1),
        Method(
            key="codes_scan", title="scan of codes",
            note="`bit_count(fp # q) <= radius`, no index",
            indexes={},
            within=lambda radius: f"SELECT x.id FROM {{table}} x WHERE {distance('x.fp')} <= {radius}",
            nearest=lambda count: f"SELECT x.id FROM {{table}} x ORDER BY {distance('x.fp')} LIMIT {count}",
            settings="SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off"),
        Method(
            key="codes_hnsw", title="pgvector HNSW, codes",
            note="HNSW over `bit(n)` (extension `vector`), nearest only and approximate; its build takes minutes for 100 000 rows",
            available="SELECT EXISTS (SELECT FROM pg_available_extension_versions WHERE name = 'vector' AND version >= '0.8.0')",
            setup="CREATE SCHEMA IF NOT EXISTS vector; CREATE EXTENSION IF NOT EXISTS vector SCHEMA vector",
            indexes={"hnsw": "CREATE INDEX {name} ON {table} USING hnsw (fp vector.bit_hamming_ops)"},
            within=lambda radius: None,
            nearest=lambda count: f"SELECT v.id FROM {{table}} v ORDER BY v.fp OPERATOR(vector.<~>) {{q}} LIMIT {count}",
            settings=INDEX_ONLY, rounds=1, on_demand=True)]


FAISS = {"faiss_flat": Method(key="faiss_flat", title="faiss flat", note="faiss IndexBinaryFlat, one thread, in a process of its own",
                              indexes={}, within=None),
         "faiss_multihash": Method(key="faiss_multihash", title="faiss MultiHash", indexes={}, within=None,
                                   note="faiss IndexBinaryMultiHash, a table of each 16 bits, one flip; one thread")}
BIGINT = Method(key="bigint", title="simhash, bigint", note="this extension's index on 64 bits, for scale",
                indexes={"simhash": "CREATE INDEX {name} ON {table} USING simhash (fp)"}, within=None)
METHODS = methods_for(256) + list(FAISS.values()) + [BIGINT]
KEYS = [method.key for method in METHODS]


class Wide:
    """One size, kind of data and length of codes."""

    def __init__(self, bench, rows, kind, bits):
        self.bench, self.rows, self.kind, self.bits = bench, rows, kind, bits
        self.server, self.results, self.workspace = bench.server, bench.results, bench.workspace
        self.radius, self.data = RADII[bits], data_name(kind, bits)
        self.methods = [m for m in methods_for(bits) if bench.takes_part(m) and (kind == "clustered" or m.key != "codes_hnsw")]

    def chosen(self, *keys, having=lambda method: True):
        return [m for m in self.methods if (not keys or m.key in keys) and having(m)]

    def add(self, measure, key, unit, values, **parameters):
        self.results.add(measure, key, unit, values, self.rows, self.data, **parameters)

    # ---- data ----

    def generate(self, form, name, *numbers):
        path = self.workspace / name
        with open(path, "wb") as file:
            subprocess.run([self.bench.options.codes, form, self.kind, str(self.bits), *map(str, numbers)], stdout=file, check=True)
        return path

    def copy(self, table, columns, path):
        self.server.run(f"DROP TABLE IF EXISTS {table}", f"CREATE TABLE {table} ({columns})", f"COPY {table} FROM '{path}'")
        path.unlink()
        self.server.run(f"VACUUM (FREEZE, ANALYZE) {table}")

    def load(self):
        self.copy("codes", f"id bigint NOT NULL, fp bit({self.bits})", self.generate("rows", "codes.tsv", 1, self.rows))
        self.copy("code_query", f"n int, id bigint, fp bit({self.bits})",
                  self.generate("queries", "code_queries.tsv", self.rows, self.radius, QUERIES))
        self.server.run("CHECKPOINT")

    # ---- building ----

    def build(self):
        """Beside the index on as many values of bigint, in turns."""
        methods = self.chosen(having=lambda m: m.indexes)
        self.bench.load("narrow", "clustered", self.rows)
        times = collections.defaultdict(list)
        for turn in range(BUILD_ROUNDS):
            for method in [BIGINT] + methods:
                if turn < method.rounds:
                    times[method].append(self.bench.build_once(method, "narrow" if method is BIGINT else "codes", workers=0))
        for method, rounds in times.items():
            seconds, wal, memory = zip(*rounds)
            self.add("build, serial", method.key, "s", seconds)
            self.add("build: WAL", method.key, "MB", wal)
            self.add("build: memory, peak", method.key, "MB", memory)
            table = "narrow" if method is BIGINT else "codes"
            self.add("size, built", method.key, "bytes/row", [self.server.index_bytes(method, table) / self.rows])
        self.server.run("DROP TABLE narrow", "VACUUM ANALYZE codes", "CHECKPOINT")

    # ---- searching ----

    def lateral(self, measure, selects, **parameters):
        self.bench.measure_lateral(measure, selects, "codes", "code_query", self.rows, ROUNDS, data=self.data, **parameters)

    def probe(self):
        self.lateral("probe", {m: m.within(self.radius) for m in self.methods if m.within(self.radius)}, radius=self.radius)

    def nearest(self):
        self.lateral("nearest", {m: m.nearest(NEAREST) for m in self.methods if m.nearest}, count=NEAREST)

    def exactness(self):
        """Rows that the index misses, and rows that it should not find, of all queries."""
        self.copy("code_truth", "n int, id bigint", self.generate("found", "found.tsv", self.rows, self.radius, QUERIES))
        right = "SELECT n, id FROM code_truth"
        for method in self.chosen("codes", "words"):
            found = self.bench.lateral(method.within(self.radius), "codes", "code_query", QUERIES).replace("count(m.found)", "q.n, m.found", 1)
            with self.server.connect(method.settings) as connection:
                connection.execute(f"CREATE TEMP TABLE answer AS {found}")
                for measure, query in (("rows missing", f"{right} EXCEPT ALL TABLE answer"), ("rows too many", f"TABLE answer EXCEPT ALL {right}")):
                    number = connection.execute(f"SELECT count(*) FROM ({query}) differing").fetchone()[0]
                    self.add(f"{measure} of {QUERIES:,} queries".replace(",", " "), method.key, "rows", [number], radius=self.radius)
        total = self.server.value("SELECT count(*) FROM code_truth")
        self.add("rows found by a query", "codes", "rows", [total / QUERIES], radius=self.radius)

    # ---- over the wire ----

    def wire(self):
        """Of the clustered kind: its codes are those of pgbench's function. Up to 7 bits of each word are inverted; of ten ids,
        three ask for nothing that is there."""
        numbers = range(self.bits // WORD)
        words = "".join(f"\\set w{i} hash_murmur2(:id * 16 + {i}, {SEED}) # (127 << :bit)\n" for i in numbers)
        code = " || ".join(f":w{i}::bigint::bit(64)" for i in numbers)
        for method in self.chosen(having=lambda m: m.wire):
            select = method.within(self.radius).format(table="codes", q=f"({code})::bit({self.bits})")
            script = self.workspace / f"wire-{method.key}.sql"
            script.write_text(f"\\set id random(1, {self.rows})\n\\set bit random(0, 57)\n{words}{select};\n", encoding="utf-8")
            for clients in (1, 2, 8):
                runs = [self.bench.pgbench(script, clients, "-T", str(WIRE_SECONDS), warm_up=WARM_UP_SECONDS) for _ in range(3)]
                self.add("wire: throughput", method.key, "1/s", [tps for tps, _ in runs], clients=clients)
                self.add("wire: latency, mean", method.key, "µs", [statistics.mean(log) for _, log in runs], clients=clients)
                self.add("wire: latency, 99 %", method.key, "µs", [log[len(log) * 99 // 100] for _, log in runs], clients=clients)

    # ---- pairs ----

    def pairs(self):
        if not self.chosen("codes"):
            return
        with self.server.connect("SET work_mem = '2GB'") as connection:
            begun = time.perf_counter()
            connection.execute(f"SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM codes', {self.radius})")
            self.add("pairs", "codes", "s", [time.perf_counter() - begun], radius=self.radius, place="memory")

    # ---- what pgvector finds ----

    def recall(self):
        """Of the nearest that the scan finds, and of the rows within the radius, how many HNSW finds."""
        for method in self.chosen("codes_hnsw"):
            scan, = [m for m in methods_for(self.bits) if m.key == "codes_scan"]
            queries = f"(SELECT * FROM code_query LIMIT {RECALL_QUERIES}) q"
            def distances(select):
                return (f"SELECT q.n, bit_count(c.fp # q.fp) AS distance, row_number() OVER (PARTITION BY q.n) AS place FROM {queries} "
                        f"CROSS JOIN LATERAL ({select.format(table='codes', q='q.fp')}) AS m (found) JOIN codes c ON c.id = m.found")
            with self.server.connect("SET enable_memoize = off") as connection:
                connection.execute("CREATE TEMP TABLE exact AS " + distances(scan.nearest(NEAREST)))
                for effort in (40, 400):
                    connection.execute(f"{method.settings}; SET hnsw.ef_search = {effort}")
                    connection.execute("DROP TABLE IF EXISTS approximate; CREATE TEMP TABLE approximate AS " + distances(method.nearest(NEAREST)))
                    # Equal distances count as found, whichever rows they are of.
                    share = connection.execute("""
                        SELECT count(*) FILTER (WHERE a.distance <= e.farthest) / (SELECT count(*) FROM exact)::float8
                        FROM approximate a JOIN (SELECT n, max(distance) AS farthest FROM exact GROUP BY n) e USING (n)""").fetchone()[0]
                    self.add("nearest: share found", method.key, "", [share], count=NEAREST, effort=effort)

    # ---- equal codes ----

    def equal(self):
        """Many rows get the code of one: who finds them all, and what the others' probe takes then."""
        self.server.run(f"INSERT INTO codes SELECT {self.rows} + n, fp FROM codes, generate_series(1, {EQUAL}) n WHERE id = 1", "VACUUM ANALYZE codes")
        code = self.server.value("SELECT fp FROM codes WHERE id = 1")
        asked = {"codes": [("", "SELECT count(*) FROM codes c WHERE c.fp <~~> {q} <= 0")],
                 "codes_hnsw": [(setting, f"SELECT count(*) FROM (SELECT * FROM codes v ORDER BY v.fp OPERATOR(vector.<~>) {{q}} LIMIT {EQUAL}) v "
                                 "WHERE bit_count(v.fp # {q}) = 0")
                                for setting in ("hnsw.ef_search = 1000", "hnsw.iterative_scan = relaxed_order")]}
        for method in self.chosen(*asked):
            for setting, query in asked[method.key]:
                with self.server.connect(method.settings + (f"; SET {setting}" if setting else "")) as connection:
                    connection.execute("LOAD 'vector'" if setting else "SELECT 1")
                    found = connection.execute(query.format(q=f"'{code}'::bit({self.bits})")).fetchone()[0]
                    self.add(f"equal codes found, of {EQUAL}" + (f" ({setting})" if setting else ""), method.key, "rows", [min(found, EQUAL)])
        self.lateral("probe beside equal codes", {m: m.within(self.radius) for m in self.chosen("codes")}, radius=self.radius)

    # ---- faiss ----

    def faiss(self):
        keys = [key for key, method in FAISS.items() if self.bench.takes_part(method)]
        if not keys or not faiss_is_there():
            return
        base = self.generate("bytes", "codes.bin", 1, self.rows)
        queries = self.generate("query-bytes", "queries.bin", self.rows, self.radius, QUERIES)
        for key in keys:
            run = subprocess.run([sys.executable, "-B", pathlib.Path(__file__).with_name("faiss_codes.py"), key, base, queries, str(self.bits),
                                  str(self.radius), str(NEAREST), str(FAISS_SECONDS)], stdout=subprocess.PIPE, check=True)
            measured = json.loads(run.stdout)
            self.add("build, serial", key, "s", [measured["build"]])
            self.add("size, built", key, "bytes/row", [measured["bytes"] / self.rows])
            self.add("probe", key, "µs", [measured["range"] * 1e6], radius=self.radius, queries=measured["queries"])
            if measured["nearest"] is not None:
                self.add("nearest", key, "µs", [measured["nearest"] * 1e6], count=NEAREST, queries=measured["queries"])
        base.unlink()
        queries.unlink()

    # ---- everything ----

    def run(self):
        self.load()
        self.build()
        self.probe()
        self.nearest()
        self.exactness()
        if self.kind == "clustered":
            self.wire()
            self.pairs()
            self.recall()
            self.faiss()
            self.equal()
        self.bench.close_sessions()
        self.server.run("DROP TABLE codes, code_query, code_truth")


def faiss_is_there():
    return subprocess.run([sys.executable, "-c", "import faiss"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def every_method(bench):
    return [method for method in METHODS if bench.takes_part(method)]


def measure(bench, rows):
    for method in methods_for(256):
        if method.setup and bench.takes_part(method):
            bench.server.run(method.setup)
    for bits in RADII:
        for kind in KINDS if bits == 256 else ("clustered",):
            if rows <= MOST_ROWS_OF_KIND.get(kind, rows):
                Wide(bench, rows, kind, bits).run()
