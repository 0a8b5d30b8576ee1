-- simhash_pairs and simhash_join, of fingerprints and codes: equal to a self-join by the server's own operators; as the index joins;
-- little memory; ids of any type; what the query may do; bad input.

-- Two sets of every kind of fingerprint, with some in both.
CREATE TABLE docs AS
SELECT i AS id, hashint8extended(i, 42) AS fp FROM generate_series(1, 250) i
UNION ALL SELECT 1000 + i, hashint8extended(i, 42) # (1::bigint << (i % 63)) # (5::bigint << (i % 60)) FROM generate_series(1, 250, 5) i
UNION ALL SELECT 2000 + i, i FROM generate_series(0, 40) i
UNION ALL SELECT 3000 + i, 7 FROM generate_series(1, 40) i
UNION ALL VALUES (4001, -1), (4002, '-9223372036854775808'::bigint), (4003, 9223372036854775807), (4004, NULL), (4005, NULL);
CREATE TABLE arrivals AS
SELECT id, CASE id % 4 WHEN 0 THEN fp # (1::bigint << (id % 63)) WHEN 1 THEN fp
                       WHEN 2 THEN fp # (255::bigint << (id % 50)) ELSE hashint8extended(id, 43) END AS fp
FROM docs WHERE id % 3 = 0 OR id > 4000;
ALTER TABLE docs ADD place bigint;
UPDATE docs SET place = hashint8(id);
-- In the order of the query's rows: of the pair's first row, then of the other.
CREATE FUNCTION pairs_by_brute_force(wanted integer) RETURNS TABLE (id bigint, other bigint, distance integer) LANGUAGE sql AS $$
    SELECT x.id, y.id, x.fp <~> y.fp FROM docs x JOIN docs y ON (x.place, x.id) < (y.place, y.id) AND bit_count((x.fp # y.fp)::bit(64)) <= wanted
    ORDER BY x.place, x.id, y.place, y.id
$$;
CREATE FUNCTION join_by_brute_force(wanted integer) RETURNS TABLE (id bigint, other bigint, distance integer) LANGUAGE sql AS $$
    SELECT x.id, y.id, x.fp <~> y.fp FROM arrivals x JOIN docs y ON bit_count((x.fp # y.fp)::bit(64)) <= wanted
    ORDER BY x.id, y.place, y.id
$$;
CREATE FUNCTION compare(radius integer, OUT pairs bigint, OUT pairs_are_equal boolean, OUT joined bigint, OUT joins_are_equal boolean) LANGUAGE sql AS $$
    SELECT * FROM
        (SELECT count(*), array_agg(p) IS NOT DISTINCT FROM (SELECT array_agg(b) FROM pairs_by_brute_force(radius) b)
         FROM simhash_pairs('SELECT id, fp FROM docs ORDER BY place, id', radius) p) pairs,
        (SELECT count(*), array_agg(p) IS NOT DISTINCT FROM (SELECT array_agg(b) FROM join_by_brute_force(radius) b)
         FROM simhash_join('SELECT id, fp FROM arrivals ORDER BY id', 'SELECT id, fp FROM docs ORDER BY place, id', radius) p) joined
$$;
SELECT radius, c.* FROM unnest('{0,1,2,3,5,8,12,26}'::integer[]) radius, compare(radius) c;
SET hash_mem_multiplier = 1;
SET work_mem = '64kB';
SELECT radius, c.* FROM unnest('{0,3,8,64}'::integer[]) radius, compare(radius) c;
RESET work_mem;
-- As the index joins, and as the aggregate says.
CREATE INDEX docs_fp ON docs USING simhash (fp);
SELECT count(*) AS rows, count(*) FILTER (WHERE i.id IS NULL OR j.id IS NULL) AS of_one_only
FROM (SELECT x.id, y.id AS other FROM arrivals x JOIN docs y ON x.fp <~> y.fp <= 3) i
FULL JOIN simhash_join('SELECT id, fp FROM arrivals', 'SELECT id, fp FROM docs', 3) j USING (id, other);
SELECT count(*) AS pairs, count(*) = (SELECT cardinality(simhash_pairs_agg(fp, 5)) FROM docs) AS as_many
FROM (SELECT DISTINCT least(x.fp, y.fp), greatest(x.fp, y.fp) FROM simhash_pairs('SELECT id, fp FROM docs', 5) p
      JOIN docs x ON x.id = p.id JOIN docs y ON y.id = p.other WHERE distance > 0) d;
-- Codes of a length: random ones, some near another, some repeated, some whose lanes are mostly 0.
CREATE FUNCTION codes_of(bits integer, how_many integer) RETURNS SETOF "bit" LANGUAGE plpgsql AS $$
DECLARE code text; codes text[] := '{}';
BEGIN
    FOR i IN 1 .. how_many LOOP
        IF i % 10 < 4 AND i > 10 THEN
            code := codes[i - 1 - i % 7];
            FOR flip IN 1 .. abs(hashint4(i)) % (bits / 5 + 1) LOOP
                code := overlay(code PLACING (abs(hashint4(i + flip * 7919)) % 2)::text FROM 1 + abs(hashint4(i * 31 + flip)) % bits FOR 1);
            END LOOP;
        ELSIF i % 10 = 9 THEN
            code := codes[1 + i / 2];
        ELSE
            SELECT left(string_agg(hashint8extended(i, part)::bit(64)::text, ''), bits) INTO code FROM generate_series(0, bits / 64) part;
            IF i % 10 = 5 THEN code := repeat('0', least(bits, 70)) || substr(code, 71); END IF;
        END IF;
        codes := codes || code;
    END LOOP;
    RETURN QUERY EXECUTE format('SELECT c::bit(%s)::"bit" FROM unnest($1) c', bits) USING codes;
END $$;
CREATE TABLE lengths AS SELECT bits FROM unnest('{1,5,63,64,65,100,128,192,256,512,576,1000,1024}'::integer[]) bits;
CREATE TABLE wide AS SELECT bits, row_number() OVER () AS id, code FROM lengths, codes_of(bits, 100) code;
INSERT INTO wide SELECT bits, -bits, NULL FROM lengths;
CREATE TABLE radii AS
SELECT DISTINCT bits, radius FROM lengths, LATERAL (VALUES (0), (1), (bits / 16), (bits / 8), (bits / 4)) r (radius);
CREATE TABLE distances AS
SELECT bits, x.id, y.id AS other, bit_count(x.code # y.code)::integer AS distance FROM wide x JOIN wide y USING (bits) WHERE x.id < y.id;
CREATE VIEW distances_between AS
SELECT bits, CASE WHEN id % 3 = 0 THEN id ELSE other END AS a, CASE WHEN id % 3 = 0 THEN other ELSE id END AS b, distance
FROM distances WHERE (id % 3 = 0) <> (other % 3 = 0);
SELECT bits, sum(pairs) AS pairs, sum(joined) AS joined, bool_and(pairs_are_equal) AS pairs_are_equal, bool_and(joins_are_equal) AS joins_are_equal
FROM radii,
     LATERAL (SELECT count(*) AS pairs, coalesce(array_agg((p.id, p.other, p.distance)), '{}') = ARRAY(
                  SELECT (d.id, d.other, d.distance) FROM distances d WHERE d.bits = radii.bits AND d.distance <= radius ORDER BY d.id, d.other) AS pairs_are_equal
              FROM simhash_pairs(format('SELECT id, code FROM wide WHERE bits = %s ORDER BY id', bits), radius) p) p,
     LATERAL (SELECT count(*) AS joined, coalesce(array_agg((p.id, p.other, p.distance)), '{}') = ARRAY(
                  SELECT (d.a, d.b, d.distance) FROM distances_between d WHERE d.bits = radii.bits AND d.distance <= radius ORDER BY a, b) AS joins_are_equal
              FROM simhash_join(format('SELECT id, code FROM wide WHERE bits = %s AND id %% 3 = 0 ORDER BY id', bits),
                                format('SELECT id, code FROM wide WHERE bits = %s AND id %% 3 <> 0 ORDER BY id', bits), radius) p) j
GROUP BY bits ORDER BY bits;
-- Random ones, some near another, some repeated, and many that share their first lanes; by temporary files, which are gone afterwards.
CREATE TABLE many AS
SELECT i AS id, CASE i % 8 WHEN 6 THEN source # (21::bit(192) << i % 180) # (1::bit(192) << i % 97) WHEN 7 THEN source
                           WHEN 5 THEN source & (repeat('0', 128) || repeat('1', 64))::bit(192) ELSE source END AS code
FROM generate_series(1, 3000) i,
     LATERAL (SELECT (hashint8extended(n, 1)::bit(64) || hashint8extended(n, 2)::bit(64) || hashint8extended(n, 3)::bit(64))::bit(192) AS source
              FROM (SELECT CASE WHEN i % 8 > 5 THEN i - i % 8 ELSE i END AS n) s) s;
CREATE TABLE many_pairs AS SELECT * FROM simhash_pairs('SELECT id, code FROM many ORDER BY id', 12);
CREATE TABLE many_joined AS
SELECT * FROM simhash_join('SELECT id, code FROM many WHERE id % 8 < 4 ORDER BY id', 'SELECT id, code FROM many WHERE id % 8 >= 4 ORDER BY id', 12);
WITH few AS MATERIALIZED (SELECT * FROM many WHERE id % 80 IN (0, 46)),
     near AS (SELECT x.id, y.id AS other FROM few x JOIN many y ON bit_count(x.code # y.code) <= 12 AND x.id <> y.id)
SELECT count(*) AS near, count(*) FILTER (WHERE p IS NULL) AS missing
FROM near LEFT JOIN many_pairs p ON p.id = least(near.id, near.other) AND p.other = greatest(near.id, near.other);
SELECT (SELECT count(*) FROM many_pairs) AS pairs, (SELECT count(*) FROM many_joined) AS joined;
CREATE FUNCTION temporary_files() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM pg_ls_tmpdir() WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '.%'
$$;
SET work_mem = '64kB';
SELECT count(*) AS pairs, min(format('%s: %s instead of %s', n, found, expected)) FILTER (WHERE found IS DISTINCT FROM expected) AS wrong
FROM (SELECT n, (id, other, distance) AS found FROM simhash_pairs('SELECT id, code FROM many ORDER BY id', 12) WITH ORDINALITY p (id, other, distance, n)) f
    FULL JOIN (SELECT row_number() OVER () AS n, (id, other, distance) AS expected FROM many_pairs) e USING (n);
SELECT count(*) AS pairs, min(format('%s: %s instead of %s', n, found, expected)) FILTER (WHERE found IS DISTINCT FROM expected) AS wrong
FROM (SELECT n, (id, other, distance) AS found FROM simhash_join('SELECT id, code FROM many WHERE id % 8 < 4 ORDER BY id', 'SELECT id, code FROM many WHERE id % 8 >= 4 ORDER BY id', 12) WITH ORDINALITY p (id, other, distance, n)) f
    FULL JOIN (SELECT row_number() OVER () AS n, (id, other, distance) AS expected FROM many_joined) e USING (n);
SELECT temporary_files();
-- Nothing is left after an error, and when cancelled.
SELECT count(*) FROM simhash_pairs('SELECT id, CASE WHEN id = 2998 THEN B''1'' ELSE code END FROM many ORDER BY id', 12);
SELECT temporary_files();
SET statement_timeout = '300ms';
\set VERBOSITY sqlstate
SELECT count(*) FROM simhash_pairs('SELECT i, (hashint8extended(i, 1)::bit(64) || hashint8extended(i, 2)::bit(64))::bit(128) FROM generate_series(1, 50000) i', 50);
\set VERBOSITY default
RESET statement_timeout;
SELECT temporary_files();
RESET work_mem;
RESET hash_mem_multiplier;

-- Small ones: NULLs, repetitions, no rows, bit varying, domains, ids that repeat.
SELECT * FROM simhash_pairs('VALUES (1, 1::bigint), (2, 3), (3, NULL), (4, 3), (4, 1)', 1);
SELECT * FROM simhash_pairs('VALUES (1, 1::bigint), (2, 3), (3, 1)', 0);
SELECT * FROM simhash_pairs('VALUES (1, 0::bigint), (2, -1)', 64);
SELECT * FROM simhash_pairs('VALUES (1, 0::bigint), (2, -1)', 63);
SELECT * FROM simhash_pairs('SELECT 1, 1::bigint WHERE false', 1);
SELECT * FROM simhash_pairs(NULL, 1);
SELECT * FROM simhash_groups('VALUES (1, NULL::bigint), (2, NULL)', 64);
SELECT * FROM simhash_groups(NULL, 64);
SELECT * FROM simhash_groups('SELECT 1, B''1'' WHERE false', 64);
SELECT * FROM simhash_join('VALUES (1, 1::bigint), (2, NULL)', 'VALUES (3, 1::bigint), (4, NULL), (5, 1)', 0);
SELECT * FROM simhash_join('SELECT 1, 1::bigint WHERE false', 'SELECT 1, 1::bigint', 64);
SELECT * FROM simhash_join('SELECT 1, 1::bigint', NULL, 64);
SELECT * FROM simhash_join('SELECT 1, NULL::bit(9)', 'SELECT 2, B''1''', 1);
-- Only the second query says of how many lanes the codes are.
SELECT * FROM simhash_join('SELECT 1, NULL::bit(256)', 'SELECT 2, repeat(''10'', 128)::bit(256)', 31);
CREATE DOMAIN fingerprint AS bigint;
CREATE DOMAIN picture_hash AS bit(4);
SELECT * FROM simhash_pairs('SELECT i, i::fingerprint FROM generate_series(1, 3) i', 1);
SELECT * FROM simhash_pairs('SELECT i, i::bit(4)::picture_hash FROM generate_series(6, 8) i', 1);
SELECT * FROM simhash_pairs('SELECT i, i::bit(3)::bit varying FROM generate_series(0, 2) i', 1);
SELECT * FROM simhash_pairs('VALUES (''a'', 1::bigint), (''b'', 3)', 1, NULL::text);
SELECT * FROM simhash_join('VALUES (1.5, 1::bigint)', 'VALUES (2.5, 3::bigint)', 1, NULL::numeric);
SELECT *, pg_typeof(id) FROM simhash_groups('VALUES (1, 1::bigint), (2, 3)', 1, true, NULL::integer);

-- Bad input.
SELECT * FROM simhash_pairs('SELECT 1, 1::bigint', -1);
SELECT * FROM simhash_pairs('SELECT 1, 1::bigint', 65);
SELECT * FROM simhash_pairs('SELECT 1, B''1''', 1025);
SELECT * FROM simhash_pairs('SELECT 1, 1::bigint', NULL);
SELECT * FROM simhash_groups('SELECT 1, 1::bigint', 1, NULL);
SELECT * FROM simhash_pairs('SELECT 1, 1', 3);
SELECT * FROM simhash_pairs('SELECT 1::bigint', 3);
SELECT * FROM simhash_pairs('SELECT 1, 2::bigint, 3', 3);
SELECT * FROM simhash_pairs('SELECT NULL::bigint, 2::bigint', 3);
SELECT * FROM simhash_pairs('SELECT ''a''::text, 2::bigint', 3);
SELECT * FROM simhash_pairs('VALUES (1, B''101''), (2, B''1111'')', 1);
SELECT * FROM simhash_join('SELECT 1, B''101''', 'SELECT 2, B''1111''', 1);
SELECT * FROM simhash_join('SELECT 1, 1::bigint', 'SELECT 2, B''1111''', 1);
SELECT * FROM simhash_pairs('SELECT 1, 1::bit(1025)', 1);
SELECT * FROM simhash_pairs('SELECT 1, ''''::bit varying', 1);
SELECT * FROM simhash_pairs('SELECT id, fp FROM missing', 1);
SELECT * FROM simhash_pairs('', 1);
SELECT * FROM simhash_pairs('SELECT 1, 1::bigint; SELECT 2, 2::bigint', 1);
SELECT * FROM simhash_pairs('{1,3}', 1);
-- What to write for a second column of another type.
SELECT * FROM simhash_pairs('SELECT 1, ''a''::text AS body', 3);
SELECT * FROM simhash_pairs('SELECT 1, ''{"body": "a"}''::jsonb AS j', 3);
SELECT * FROM simhash_pairs('SELECT 1, ''{a,b}''::text[] AS words', 3);
SELECT * FROM simhash_pairs('SELECT 1, 2 ^ 63::numeric', 3);
SELECT * FROM simhash_pairs('SELECT 1, now()', 3);
-- PostgreSQL 19 has other words for the rest.
\set VERBOSITY terse
SELECT * FROM simhash_pairs(ARRAY[1, 3]::bigint[], 1);
\set VERBOSITY default

-- The query reads only.
SELECT * FROM simhash_pairs('DELETE FROM docs RETURNING id, fp', 1);
SELECT * FROM simhash_pairs('DROP TABLE docs', 1);
SELECT count(*) FROM docs;
\set VERBOSITY terse
SELECT * FROM simhash_pairs('WITH d AS (DELETE FROM docs RETURNING id, fp) SELECT id, fp FROM d', 1);
\set VERBOSITY default
-- Functions that it calls may write. The query does not see that, and the transaction keeps it.
CREATE TABLE written (fp bigint);
CREATE FUNCTION writes(fp bigint) RETURNS bigint VOLATILE LANGUAGE plpgsql AS 'BEGIN INSERT INTO written VALUES (fp); RETURN fp; END';
SELECT * FROM simhash_pairs('SELECT n, writes(n) FROM generate_series(1, 2) n UNION ALL SELECT 9, fp FROM written', 64);
SELECT fp FROM written ORDER BY fp;
BEGIN READ ONLY;
SELECT * FROM simhash_pairs('SELECT fp, fp FROM written', 64);
\set VERBOSITY terse
SELECT * FROM simhash_pairs('SELECT 1, writes(3)', 1);
\set VERBOSITY default
ROLLBACK;
-- Parallel workers read it as one process does.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 1;
EXPLAIN (COSTS OFF) SELECT id, fp FROM docs;
SELECT count(*) = (SELECT count(*) FROM pairs_by_brute_force(3)) AS all_pairs FROM simhash_pairs('SELECT id, fp FROM docs', 3);
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
-- It is the caller's: of what another role may read.
CREATE ROLE regress_table_pairs_reader;
SET ROLE regress_table_pairs_reader;
SELECT * FROM simhash_pairs('SELECT id, fp FROM docs', 1);
RESET ROLE;
DROP ROLE regress_table_pairs_reader;
DROP VIEW distances_between;
DROP TABLE written, docs, arrivals, lengths, wide, radii, distances, many, many_pairs, many_joined;
DROP DOMAIN fingerprint, picture_hash;
DROP FUNCTION writes, pairs_by_brute_force, join_by_brute_force, compare, codes_of, temporary_files;
