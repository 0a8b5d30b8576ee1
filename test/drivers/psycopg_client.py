# Prepared statements of psycopg 3, which sends small integers as int2. Prints one line a check: "ok ..." or "not ok ...".
import psycopg

def check(good, what):
    print(("ok " if good else "not ok ") + what)

with psycopg.connect(autocommit=True) as connection:
    connection.execute("SET enable_seqscan = off")
    connection.execute("SET plan_cache_mode = force_generic_plan")
    query = connection.execute("SELECT fp FROM docs WHERE id = 5").fetchone()[0]
    expected = connection.execute("SELECT count(*) FROM docs WHERE hamming(fp, %s) + 0 <= 3", (query,)).fetchone()[0]
    for limit in (3, 3000, 5000000000):
        plan = "\n".join(row[0] for row in connection.execute(
            "EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE fp <~> %s <= %s", (query, limit), prepare=True))
        check("docs_fp" in plan, f"psycopg: the index serves limit {limit}")
    for _ in range(8):  # beyond the number of executions after which plans may become generic
        rows = connection.execute("SELECT id FROM docs WHERE fp <~> %s <= %s", (query, 3), prepare=True).fetchall()
    check(len(rows) == expected, "psycopg: prepared, with a small limit, the right rows")
    few = connection.execute("SELECT count(*) FROM docs WHERE fp <~> %s < %s", (7, 1), prepare=True).fetchone()[0]
    check(few == 1, "psycopg: small fingerprints, sent as int2")
    nearest = connection.execute("SELECT fp <~> %s FROM docs ORDER BY fp <~> %s LIMIT %s", (query, query, 4), prepare=True).fetchall()
    check([row[0] for row in nearest] == sorted(row[0] for row in nearest) and nearest[0][0] == 0, "psycopg: nearest first")
    with psycopg.ClientCursor(connection) as cursor:
        cursor.execute("SELECT count(*) FROM docs WHERE fp <~> %s <= %s", (query, 3))
        check(cursor.fetchone()[0] == expected, "psycopg: client-side parameters")
    with connection.transaction(), connection.cursor(name="named") as cursor:
        cursor.itersize = 2
        cursor.execute("SELECT id FROM docs ORDER BY fp <~> %s", (query,))
        check(len(cursor.fetchmany(5)) == 5, "psycopg: a named cursor over nearest neighbours")
