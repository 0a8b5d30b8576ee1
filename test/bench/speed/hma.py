"""The part `hma` of the speed bench: the job of Hasher-Matcher-Actioner (ThreatExchange) in a table.

Lookups of PDQ's kind of hashes (codes.cpp: pdq) within 31 bits, sent as hexadecimal digits by 4 and 8 clients, alone and while 1 % of
the rows come and 1 % go each minute, in transactions of BATCH rows. Nothing is built again. Then VACUUM, and the answers beside a scan's.
"""
import subprocess
import time

from wide import Wide, data_name

BITS, KIND = 256, "pdq"
SECONDS, WARM_UP_SECONDS = 30, 15   # of each pgbench run, and of these, until a session has seen most pages of the index
CLIENTS = (4, 8)
BATCH = 10
CHECKED = 20                        # queries whose answers are compared with a scan's
LOOKUP = """\\set n random(1, 10000)
SELECT id FROM codes WHERE fp <~~> (SELECT code_from_hex(hex)::bit(256) FROM asked WHERE n = :n) <= 31;
"""
COME_AND_GO = f"""SELECT nextval('comes') * {BATCH} AS last \\gset
BEGIN;
INSERT INTO codes SELECT id, fp FROM coming WHERE id > :last::bigint - {BATCH} AND id <= :last;
DELETE FROM codes WHERE id > :last::bigint - {BATCH} - :rows::bigint AND id <= :last::bigint - :rows::bigint;
COMMIT;
"""


class Job(Wide):
    def __init__(self, bench, rows):
        super().__init__(bench, rows, KIND, BITS)
        self.data = data_name(KIND, BITS) + ", that come and go"
        self.codes = next(iter(self.chosen("codes")), None)
        self.minute = max(rows // 100, BATCH)       # rows that come in it
        for name, script in (("lookup", LOOKUP), ("come-and-go", COME_AND_GO)):
            (self.workspace / f"{name}.sql").write_text(script, encoding="utf-8")

    def prepare(self):
        self.load()
        self.server.run("ALTER TABLE codes ADD PRIMARY KEY (id)", *self.codes.statements("codes"))
        minutes = len(CLIENTS) * (SECONDS + 5) / 60
        last = self.rows + int(self.minute * minutes) + BATCH
        self.copy("coming", f"id bigint, fp bit({BITS})", self.generate("rows", "coming.tsv", self.rows + 1, last))
        self.server.run(f"CREATE SEQUENCE comes MINVALUE 0 START {self.rows // BATCH + 1}", "ALTER TABLE coming ADD PRIMARY KEY (id)",
                        "CREATE TABLE asked AS SELECT n, substring(encode(bit_send(fp), 'hex') FROM 9) AS hex FROM code_query",
                        "ALTER TABLE asked ADD PRIMARY KEY (n)", "VACUUM ANALYZE", "CHECKPOINT")

    def look_up(self, clients, measure):
        tps, log = self.bench.pgbench(self.workspace / "lookup.sql", clients, "-T", str(SECONDS), warm_up=WARM_UP_SECONDS)
        self.add(f"{measure}: throughput", "codes", "1/s", [tps], clients=clients)
        for percent in (50, 99):
            self.add(f"{measure}: latency, {percent} %", "codes", "µs", [log[len(log) * percent // 100]], clients=clients)

    def look_up_beside_writers(self, clients):
        writer = [self.server.bindir / "pgbench", "-n", "-M", "prepared", "-R", str(self.minute / 60 / BATCH), "-T", str(SECONDS),
                  "-D", f"rows={self.rows}", "-f", self.workspace / "come-and-go.sql"]
        before = self.server.value("SELECT last_value FROM comes")
        begun = time.perf_counter()
        with subprocess.Popen(writer, stdout=subprocess.DEVNULL) as process:
            self.look_up(clients, "lookups while rows come and go")
        if process.returncode != 0:
            raise SystemExit("the rows did not come and go")
        come = (self.server.value("SELECT last_value FROM comes") - before) * BATCH
        self.add("rows that came and went in a minute", "codes", "rows", [come * 60 / (time.perf_counter() - begun)], clients=clients)

    def after(self):
        begun = time.perf_counter()
        self.server.run("VACUUM (INDEX_CLEANUP on) codes")
        self.add("vacuum", "codes", "s", [time.perf_counter() - begun])
        self.add("size, after vacuum", "codes", "bytes/row", [self.server.index_bytes(self.codes, "codes") / self.rows])
        found = []
        for other in ("seqscan", "indexscan"):
            with self.server.connect(f"SET enable_{other} = off; SET enable_bitmapscan = off") as connection:
                found.append(set(connection.execute(
                    f"SELECT q.n, c.id FROM code_query q JOIN codes c ON c.fp <~~> q.fp <= {self.radius} WHERE q.n <= {CHECKED}")))
        self.add(f"rows found otherwise than by a scan, of {CHECKED} queries", "codes", "rows", [len(set.symmetric_difference(*found))])

    def run(self):
        if self.codes is None:
            return
        self.prepare()
        for clients in CLIENTS:
            self.look_up(clients, "lookups")
            self.look_up_beside_writers(clients)
        self.after()
        self.server.run("DROP TABLE codes, code_query, coming, asked", "DROP SEQUENCE comes")
