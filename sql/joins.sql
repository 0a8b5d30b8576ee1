-- simhash_join and simhash_join_of: equal to brute force; what is read by queries; bad input.

-- Two sets of every kind of fingerprint, with some in both.
CREATE TABLE docs AS
SELECT i AS id, hashint8extended(i, 42) AS fp FROM generate_series(1, 900) i
UNION ALL SELECT 1000 + i, i FROM generate_series(0, 40) i
UNION ALL SELECT 2000 + i, 7 FROM generate_series(1, 100) i
UNION ALL VALUES (3001, -1), (3002, '-9223372036854775808'::bigint), (3003, 9223372036854775807), (3004, NULL);
CREATE TABLE arrivals AS
SELECT id, CASE id % 4 WHEN 0 THEN fp # (1::bigint << (id % 63)) WHEN 1 THEN fp
                       WHEN 2 THEN fp # (255::bigint << (id % 50)) ELSE hashint8extended(id, 43) END AS fp
FROM docs WHERE id % 3 = 0 OR id > 3000;

CREATE FUNCTION join_by_brute_force(wanted_radius integer)
RETURNS TABLE (a bigint, b bigint, distance integer) LANGUAGE sql AS $$
    SELECT x.fp, y.fp, hamming(x.fp, y.fp)
    FROM (SELECT DISTINCT fp FROM arrivals) x JOIN (SELECT DISTINCT fp FROM docs) y ON hamming(x.fp, y.fp) <= wanted_radius
$$;
SELECT radius, count(*) AS pairs, count(*) FILTER (WHERE p.distance = 0) AS of_equal,
       array_agg((p.a, p.b, p.distance)) = (
           SELECT array_agg((e.a, e.b, e.distance) ORDER BY e.a, e.b)
           FROM join_by_brute_force(radius) e) AS equal_and_in_order
FROM unnest('{0,1,2,3,5,8,12}'::integer[]) radius,
     simhash_join((SELECT array_agg(fp) FROM arrivals), (SELECT array_agg(fp ORDER BY hashint8(fp)) FROM docs), radius) p
GROUP BY radius ORDER BY radius;
SELECT radius, count(*) AS pairs,
       array_agg((p.a, p.b, p.distance)) = (
           SELECT array_agg((e.a, e.b, e.distance) ORDER BY e.a, e.b)
           FROM join_by_brute_force(radius) e) AS equal_and_in_order
FROM unnest('{0,3,8}'::integer[]) radius, simhash_join_of('SELECT fp FROM arrivals', 'SELECT fp FROM docs', radius) p
GROUP BY radius ORDER BY radius;
-- As the index joins.
CREATE INDEX docs_fp ON docs USING simhash (fp);
SELECT count(*) AS rows, count(*) FILTER (WHERE i.id IS NULL OR j.id IS NULL) AS of_one_only
FROM (SELECT x.id, y.id AS other FROM arrivals x JOIN docs y ON x.fp <~> y.fp <= 3) i
FULL JOIN (SELECT x.id, y.id AS other FROM simhash_join_of('SELECT fp FROM arrivals', 'SELECT fp FROM docs') p
           JOIN arrivals x ON x.fp = p.a JOIN docs y ON y.fp = p.b) j USING (id, other);
-- By buckets: each pair in the first that it has in common.
SELECT count(*) AS pairs, count(*) = (SELECT count(*) FROM join_by_brute_force(3)) AS equal
FROM (SELECT block, bits, array_agg(fp) FILTER (WHERE arrived) AS of_arrivals, array_agg(fp) FILTER (WHERE NOT arrived) AS of_docs
      FROM (SELECT true AS arrived, fp FROM arrivals UNION ALL SELECT false, fp FROM docs) f, simhash_blocks(fp, 3)
      GROUP BY block, bits) b,
     simhash_join(of_arrivals, of_docs, 3) p
WHERE block = (SELECT min(x.block) FROM simhash_blocks(p.a # p.b, 3) x WHERE x.bits = 0);

-- Pairs of what a query returns.
SELECT count(*) AS pairs, array_agg(p) = (SELECT array_agg(e) FROM simhash_pairs((SELECT array_agg(fp) FROM docs), 5) e) AS equal
FROM simhash_pairs_of('SELECT fp FROM docs', 5) p;
SELECT * FROM simhash_pairs_of('VALUES (1::bigint), (3), (NULL), (3), (1)');
CREATE DOMAIN fingerprint AS bigint;
SELECT * FROM simhash_pairs_of('SELECT i::fingerprint FROM generate_series(1, 3) i', 1);

-- Nothing, NULLs, both sides the same.
SELECT * FROM simhash_join('{}', '{1}');
SELECT * FROM simhash_join('{1}', '{NULL}');
SELECT * FROM simhash_join(NULL, '{1}');
SELECT * FROM simhash_join('{1}', '{1}', NULL);
SELECT * FROM simhash_join('{1,2,NULL}', '{2,1,1}', 0);
SELECT * FROM simhash_join('{0}', '{-1,0}', 64);
SELECT * FROM simhash_join_of('SELECT 1::bigint WHERE false', 'SELECT 1::bigint');
SELECT * FROM simhash_join_of(NULL, 'SELECT 1::bigint');

-- Bad input.
SELECT * FROM simhash_join('{1}', '{1}', -1);
SELECT * FROM simhash_join_of('SELECT 1', 'SELECT 2', 65);
SELECT * FROM simhash_pairs_of('SELECT 1::bigint', 65);
SELECT * FROM simhash_pairs_of('SELECT 1');
SELECT * FROM simhash_pairs_of('SELECT 1::bigint, 2::bigint');
SELECT * FROM simhash_pairs_of('SELECT fp FROM missing');
SELECT * FROM simhash_pairs_of('');
SELECT * FROM simhash_pairs_of('SELECT 1::bigint; SELECT 2::bigint');
-- The query reads only.
SELECT * FROM simhash_pairs_of('DELETE FROM docs RETURNING fp');
SELECT * FROM simhash_pairs_of('DROP TABLE docs');
SELECT count(*) FROM docs;
-- So do the functions that it calls, whatever they are declared to be.
CREATE TABLE written (fp bigint);
CREATE SEQUENCE numbers;
CREATE FUNCTION writes(fp bigint) RETURNS bigint VOLATILE LANGUAGE plpgsql AS 'BEGIN INSERT INTO written VALUES (fp); RETURN fp; END';
CREATE FUNCTION pretends(fp bigint) RETURNS bigint STABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN writes(fp); END';
CREATE FUNCTION turns_on(fp bigint) RETURNS bigint VOLATILE LANGUAGE plpgsql AS
    'BEGIN SET LOCAL transaction_read_only = off; RETURN writes(fp); END';
CREATE FUNCTION catches(fp bigint) RETURNS bigint VOLATILE LANGUAGE plpgsql AS
    'BEGIN BEGIN RETURN writes(fp); EXCEPTION WHEN read_only_sql_transaction THEN RETURN writes(fp + 1); END; END';
\set VERBOSITY terse
SELECT * FROM simhash_pairs_of('SELECT writes(fp) FROM docs');
SELECT * FROM simhash_pairs_of('SELECT pretends(fp) FROM docs');
SELECT * FROM simhash_pairs_of('SELECT turns_on(fp) FROM docs');
SELECT * FROM simhash_pairs_of('SELECT catches(fp) FROM docs');
SELECT * FROM simhash_pairs_of('SELECT nextval(''numbers'')');
SELECT * FROM simhash_pairs_of('WITH d AS (DELETE FROM docs RETURNING fp) SELECT fp FROM d');
SELECT * FROM simhash_join_of('SELECT 1::bigint', 'SELECT writes(fp) FROM docs');
-- In parallel workers, too: there the server has an error of its own.
ALTER FUNCTION writes PARALLEL SAFE;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET parallel_leader_participation = off;
DO $$ BEGIN
    PERFORM simhash_pairs_of('SELECT writes(fp) FROM docs');
EXCEPTION WHEN read_only_sql_transaction OR invalid_transaction_state THEN RAISE INFO 'refused';
END $$;
RESET parallel_leader_participation;
RESET max_parallel_workers_per_gather;
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;
\set VERBOSITY default
SELECT count(*) FROM written;
-- Volatile functions that only read may be called, and the transaction may write afterwards, also after an error.
BEGIN;
SELECT count(*) FROM simhash_pairs_of('SELECT (random() * 0)::bigint FROM docs');
INSERT INTO written VALUES (1);
SAVEPOINT before;
\set VERBOSITY sqlstate
SELECT * FROM simhash_pairs_of('SELECT writes(fp) FROM docs');
\set VERBOSITY default
ROLLBACK TO before;
INSERT INTO written VALUES (2);
COMMIT;
BEGIN READ ONLY;
SELECT count(*) FROM simhash_pairs_of('SELECT fp FROM written');
\set VERBOSITY sqlstate
INSERT INTO written VALUES (3);
\set VERBOSITY default
ROLLBACK;
SELECT fp FROM written ORDER BY fp;
DROP TABLE written;
DROP SEQUENCE numbers;
DROP FUNCTION writes, pretends, turns_on, catches;
-- It is the caller's: of what another role may read.
CREATE ROLE simhash_test_reader;
SET ROLE simhash_test_reader;
SELECT * FROM simhash_pairs_of('SELECT fp FROM docs');
RESET ROLE;
DROP ROLE simhash_test_reader;
DROP TABLE docs, arrivals;
