-- Pairs, joins and clusters of wide codes: equal to a self join by the server's own operators; memory; bad input.

-- Codes of a length: random ones, some near another, some repeated, some whose words are mostly 0.
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
CREATE TABLE wide AS SELECT bits, row_number() OVER () AS id, code FROM lengths, codes_of(bits, 250) code;
INSERT INTO wide SELECT bits, -bits, NULL FROM lengths;
CREATE TABLE radii AS
SELECT DISTINCT bits, radius FROM lengths, LATERAL (VALUES (0), (1), (bits / 16), (bits / 8), (bits / 4)) r (radius);

-- Every pair with its distance, by the server.
CREATE TABLE distances AS
SELECT bits, x.code AS a, y.code AS b, bit_count(x.code # y.code)::integer AS distance
FROM (SELECT DISTINCT bits, code FROM wide) x JOIN (SELECT DISTINCT bits, code FROM wide) y USING (bits)
WHERE x.code < y.code;
CREATE FUNCTION in_order(pairs simhash_bit_pair[]) RETURNS boolean LANGUAGE sql AS $$
    SELECT coalesce(bool_and(before IS NULL OR before < (a, b)), true)
    FROM (SELECT a, b, lag((a, b)) OVER (ORDER BY place) AS before FROM unnest(pairs) WITH ORDINALITY AS p (a, b, distance, place)) p
$$;

-- By all ways, for radii from 0 to a quarter of the length.
CREATE TABLE found AS
SELECT bits, radius, simhash_pairs_agg(code, radius) AS pairs
FROM wide JOIN radii USING (bits)
GROUP BY bits, radius;
SELECT bits, sum(cardinality(pairs)) AS pairs, bool_and(in_order(pairs)) AS in_order FROM found GROUP BY bits ORDER BY bits;
CREATE TABLE expected AS SELECT bits, radius, a, b, distance FROM distances JOIN radii USING (bits) WHERE distance <= radius;
WITH given AS (SELECT bits, radius, p.* FROM found, unnest(pairs) p)
SELECT count(*) AS wrong FROM ((TABLE expected EXCEPT ALL TABLE given) UNION ALL (TABLE given EXCEPT ALL TABLE expected)) w;
SELECT count(*) AS of_array, count(*) FILTER (WHERE array_agg IS DISTINCT FROM nullif(pairs, '{}')) AS wrong
FROM (SELECT pairs, (SELECT array_agg(p) FROM simhash_bit_pairs((SELECT array_agg(code) FROM wide WHERE wide.bits = found.bits), radius) p)
      FROM found) f;
SELECT count(*) AS of_query, count(*) FILTER (WHERE array_agg IS DISTINCT FROM nullif(pairs, '{}')) AS wrong
FROM (SELECT pairs, (SELECT array_agg(p) FROM simhash_bit_pairs_of('SELECT code FROM wide WHERE bits = ' || bits, radius) p)
      FROM found) f;
-- Without a radius: that of =~~.
SELECT bits, max(distance) AS greatest, count(*) = (SELECT count(*) FROM distances d WHERE d.bits = l.bits AND d.a =~~ d.b) AS as_near
FROM lengths l, simhash_bit_pairs_of('SELECT code FROM wide WHERE bits = ' || bits) GROUP BY bits ORDER BY bits;
SELECT count(*) AS pairs, count(*) = (SELECT cardinality(simhash_pairs_agg(code)) FROM wide WHERE bits = 256) AS as_aggregate
FROM simhash_bit_pairs((SELECT array_agg(code) FROM wide WHERE bits = 256));

-- Between two sets: with equal ones, and of the first set first.
CREATE TABLE joined AS
SELECT bits, radius, p.* FROM radii,
    simhash_bit_join_of(format('SELECT code FROM wide WHERE bits = %s AND id %% 3 = 0', bits),
                        format('SELECT code FROM wide WHERE bits = %s AND id %% 3 <> 0', bits), radius) p;
SELECT count(*) AS pairs, count(DISTINCT (bits, radius)) AS joins, count(*) FILTER (WHERE distance = 0) AS of_equal FROM joined;
WITH expected AS (
    SELECT DISTINCT bits, radius, x.code AS a, y.code AS b, bit_count(x.code # y.code)::integer AS distance
    FROM wide x JOIN wide y USING (bits) JOIN radii USING (bits)
    WHERE x.id % 3 = 0 AND y.id % 3 <> 0 AND bit_count(x.code # y.code) <= radius)
SELECT count(*) AS wrong FROM ((TABLE expected EXCEPT ALL TABLE joined) UNION ALL (TABLE joined EXCEPT ALL TABLE expected)) w;
SELECT count(*) AS pairs, array_agg(j) = (SELECT array_agg(e ORDER BY a, b) FROM simhash_bit_join_of(
    'SELECT code FROM wide WHERE bits = 256 AND id % 3 = 0', 'SELECT code FROM wide WHERE bits = 256 AND id % 3 <> 0') e) AS equal_and_in_order
FROM simhash_bit_join((SELECT array_agg(code) FROM wide WHERE bits = 256 AND id % 3 = 0),
                      (SELECT array_agg(code) FROM wide WHERE bits = 256 AND id % 3 <> 0)) j;

-- Clusters: their names link what a walk along the pairs links.
CREATE TABLE clusters AS
SELECT bits, id, code, radius, simhash_cluster(code, radius) OVER (PARTITION BY bits, radius ORDER BY id) AS cluster
FROM wide JOIN radii USING (bits) WHERE radius <= bits / 8;
SELECT count(*) AS rows, count(*) FILTER (WHERE (cluster IS NULL) <> (code IS NULL) OR cluster > code) AS wrong FROM clusters;
CREATE TABLE names AS SELECT DISTINCT bits, radius, code, cluster FROM clusters WHERE code IS NOT NULL;
SELECT count(*) AS pairs, count(*) FILTER (WHERE x.cluster <> y.cluster) AS not_linked
FROM expected e JOIN names x ON (x.bits, x.radius, x.code) = (e.bits, e.radius, e.a)
                JOIN names y ON (y.bits, y.radius, y.code) = (e.bits, e.radius, e.b);
WITH RECURSIVE pair AS MATERIALIZED (
    SELECT bits, radius, a::text, b::text FROM expected WHERE bits IN (65, 256, 1024) AND radius <= bits / 8
    UNION ALL SELECT bits, radius, b::text, a::text FROM expected WHERE bits IN (65, 256, 1024) AND radius <= bits / 8
), linked AS ( -- to their names
    SELECT bits, radius, code::text AS code FROM names WHERE cluster = code AND bits IN (65, 256, 1024)
    UNION SELECT bits, radius, b FROM linked JOIN pair USING (bits, radius) WHERE code = a
)
SELECT count(*) AS codes, count(*) = (SELECT count(*) FROM linked) AS all_linked FROM names WHERE bits IN (65, 256, 1024);
SELECT count(DISTINCT cluster) AS clusters, count(DISTINCT cluster) = (SELECT count(DISTINCT c) FROM (
    SELECT simhash_cluster(code, 31) OVER () AS c FROM wide WHERE bits = 256) n) AS as_of_31
FROM (SELECT simhash_cluster(code) OVER () AS cluster FROM wide WHERE bits = 256) n;

-- With as little memory as can be set: the same answers by temporary files, which are gone afterwards.
CREATE FUNCTION temporary_files() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM pg_ls_tmpdir() WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '.%'
$$;
-- Random ones, some near another, some repeated, and many that share their first words.
CREATE TABLE many AS
SELECT i AS id, CASE i % 8 WHEN 6 THEN source # (21::bit(192) << i % 180) # (1::bit(192) << i % 97) WHEN 7 THEN source
                           WHEN 5 THEN source & (repeat('0', 128) || repeat('1', 64))::bit(192) ELSE source END AS code
FROM generate_series(1, 6000) i,
     LATERAL (SELECT (hashint8extended(n, 1)::bit(64) || hashint8extended(n, 2)::bit(64) || hashint8extended(n, 3)::bit(64))::bit(192) AS source
              FROM (SELECT CASE WHEN i % 8 > 5 THEN i - i % 8 ELSE i END AS n) s) s;
SET work_mem = '64MB';
CREATE TABLE many_pairs AS SELECT * FROM simhash_bit_pairs_of('SELECT code FROM many', 12);
CREATE TABLE many_joined AS
SELECT * FROM simhash_bit_join_of('SELECT code FROM many WHERE id % 8 < 4', 'SELECT code FROM many WHERE id % 8 >= 4', 12);
CREATE TABLE many_clusters AS SELECT id, simhash_cluster(code, 12) OVER () AS cluster FROM many;
SELECT count(*) AS pairs, count(*) FILTER (WHERE bit_count(a # b) <> distance) AS wrong FROM many_pairs;
WITH few AS MATERIALIZED (SELECT DISTINCT code FROM many WHERE id % 80 IN (0, 46)),
     near AS (SELECT DISTINCT x.code AS a, y.code AS b FROM few x JOIN many y ON bit_count(x.code # y.code) <= 12 AND x.code <> y.code)
SELECT count(*) AS near, count(*) FILTER (WHERE NOT EXISTS (SELECT FROM many_pairs p WHERE (p.a, p.b) IN ((near.a, near.b), (near.b, near.a)))) AS missing
FROM near;
SELECT count(*) AS joined FROM many_joined;
SELECT count(*) AS rows, count(DISTINCT cluster) AS clusters FROM many_clusters;
SET hash_mem_multiplier = 1;
SET work_mem = '64kB';
CREATE FUNCTION written_blocks(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || statement INTO plan;
    RETURN (plan -> 0 -> 'Plan' ->> 'Temp Written Blocks')::bigint;
END $$;
SELECT written_blocks('SELECT count(*) FROM simhash_bit_pairs_of(''SELECT code FROM many'', 12)') > 50 AS by_files;
SELECT count(*) AS wrong FROM (
    (SELECT * FROM simhash_bit_pairs_of('SELECT code FROM many', 12) EXCEPT ALL TABLE many_pairs)
    UNION ALL (TABLE many_pairs EXCEPT ALL SELECT * FROM simhash_bit_pairs_of('SELECT code FROM many', 12))) w;
SELECT array_agg(f) = (SELECT array_agg((a, b, distance)::simhash_bit_pair) FROM many_pairs m) AS equal_and_in_order FROM simhash_bit_pairs_of('SELECT code FROM many', 12) f;
SELECT array_agg(f) = (SELECT array_agg((a, b, distance)::simhash_bit_pair) FROM many_pairs m) AS equal_and_in_order
FROM (SELECT unnest(simhash_pairs_agg(code, 12)) AS f FROM many) f;
SELECT array_agg(f) = (SELECT array_agg((a, b, distance)::simhash_bit_pair) FROM many_joined m) AS equal_and_in_order
FROM simhash_bit_join_of('SELECT code FROM many WHERE id % 8 < 4', 'SELECT code FROM many WHERE id % 8 >= 4', 12) f;
SELECT temporary_files();
SELECT count(simhash_cluster) FROM (SELECT simhash_cluster(code, 12) OVER () FROM many) c;
SELECT count(simhash_cluster) FROM (SELECT simhash_cluster(i::bit(20)) OVER () FROM generate_series(1, 20000) i) c;
SELECT temporary_files();
SET work_mem = '2MB';
SELECT count(simhash_cluster) FROM (SELECT simhash_cluster(i::bit(20)) OVER () FROM generate_series(1, 20000) i) c;
SET work_mem = '512kB';
SELECT count(*) AS wrong FROM (SELECT id, simhash_cluster(code, 12) OVER () AS cluster FROM many) c JOIN many_clusters m USING (id)
WHERE c.cluster <> m.cluster;
SELECT temporary_files();
SELECT count(simhash_cluster) FROM (SELECT simhash_cluster(code, 12) OVER (PARTITION BY id % 2) FROM many LIMIT 3) c;
SELECT temporary_files();
BEGIN;
SET LOCAL work_mem = '128kB';
DECLARE names CURSOR FOR SELECT id, simhash_cluster(code, 12) OVER () = code AS is_name FROM many;
FETCH 2 FROM names;
MOVE 3000 IN names;
SAVEPOINT before;
FETCH 2 FROM names;
ROLLBACK TO before;
MOVE 990 IN names;
FETCH 2 FROM names;
SELECT temporary_files() > 0 AS has_codes;
COMMIT;
SELECT temporary_files();
SET work_mem = '64kB';
-- Nothing is left of groups that were not asked for, after errors, and when cancelled.
SET enable_sort = off;
SELECT cardinality(simhash_pairs_agg(code)) >= 0 AS some FROM many GROUP BY id % 2 LIMIT 1;
RESET enable_sort;
SELECT temporary_files();
SELECT count(*) FROM simhash_bit_pairs_of('SELECT CASE WHEN id = 5998 THEN B''1'' ELSE code END FROM many ORDER BY id');
SELECT temporary_files();
SET statement_timeout = '300ms';
\set VERBOSITY sqlstate
SELECT count(*) FROM simhash_bit_pairs_of('SELECT (hashint8extended(i, 1)::bit(64) || hashint8extended(i, 2)::bit(64))::bit(128) FROM generate_series(1, 50000) i', 50);
\set VERBOSITY default
RESET statement_timeout;
SELECT temporary_files();
RESET work_mem;
RESET hash_mem_multiplier;

-- Small ones: NULLs, repetitions, no rows, dimensions, bit varying.
SELECT * FROM simhash_bit_pairs('{101,111,NULL,011,111}', 1);
SELECT * FROM simhash_bit_pairs('{{101,111},{011,001}}', 1);
SELECT * FROM simhash_bit_pairs('{}');
SELECT * FROM simhash_bit_pairs('{NULL}', 3);
SELECT * FROM simhash_bit_pairs(NULL);
SELECT * FROM simhash_bit_pairs('{1,0}', NULL);
SELECT * FROM simhash_bit_pairs('{1,0}', 1024);
SELECT * FROM simhash_bit_pairs_of('SELECT i::bit(3)::bit varying FROM generate_series(0, 2) i', 1);
CREATE DOMAIN picture_hash AS bit(4);
SELECT * FROM simhash_bit_pairs_of('SELECT i::bit(4)::picture_hash FROM generate_series(6, 8) i', 1);
SELECT * FROM simhash_bit_join('{110,NULL,110}', '{111,110,000}', 1);
SELECT * FROM simhash_bit_join('{110}', '{}', 1);
SELECT * FROM simhash_bit_join_of('SELECT NULL::bit(9)', 'SELECT B''1''', 1);
SELECT simhash_pairs_agg(code) FROM wide WHERE false;
SELECT simhash_pairs_agg(code) FROM wide WHERE code IS NULL;
SELECT simhash_pairs_agg(code, NULL) FROM wide WHERE bits = 64;
SELECT simhash_pairs_agg(code, 1) FROM (VALUES (B'001'), (B'011'), (B'111'), (NULL)) v (code);
SELECT code, simhash_cluster(code, 1) OVER () FROM (VALUES (B'11100'), (B'00000'), (NULL), (B'11000'), (B'11100')) v (code);
SELECT code, simhash_cluster(code) OVER () FROM (VALUES (NULL::bit(3)), (NULL)) v (code);
SELECT code, simhash_cluster(code, NULL) OVER () FROM (VALUES (B'11'), (NULL)) v (code);
-- The type of a column is bit of any length.
CREATE TABLE kept AS SELECT * FROM simhash_bit_pairs('{101,111}', 1);
SELECT a, b, pg_typeof(a), format_type(atttypid, atttypmod) FROM kept, pg_attribute WHERE attrelid = 'kept'::regclass AND attname = 'a';
-- Literals without a type are still those of fingerprints.
SELECT * FROM simhash_pairs('{1,3}', 1);
SELECT * FROM simhash_join('{1}', '{3}', 1);

-- Bad input.
SELECT * FROM simhash_bit_pairs('{101,1111}');
SELECT * FROM simhash_bit_join('{101}', '{1111}');
SELECT * FROM simhash_bit_pairs_of('SELECT code FROM wide WHERE bits IN (64, 65) ORDER BY bits');
SELECT simhash_pairs_agg(code ORDER BY bits) FROM wide WHERE bits IN (64, 65);
SELECT simhash_cluster(code) OVER (ORDER BY bits) FROM wide WHERE bits IN (64, 65);
SELECT * FROM simhash_bit_pairs_of('SELECT 1::bit(1025)');
SELECT * FROM simhash_bit_pairs_of('SELECT ''''::bit varying');
SELECT * FROM simhash_bit_pairs('{1}', -1);
SELECT * FROM simhash_bit_pairs('{1}', 1025);
SELECT * FROM simhash_bit_pairs_of('SELECT B''1''', -1);
SELECT * FROM simhash_bit_join('{1}', '{1}', 1025);
SELECT * FROM simhash_bit_join_of('SELECT B''1''', 'SELECT B''1''', -1);
SELECT simhash_pairs_agg(code, -1) FROM wide;
SELECT simhash_pairs_agg(code, 1025) FROM wide;
SELECT simhash_pairs_agg(code, (id % 2)::integer) FROM wide WHERE bits = 64;
-- More pairs than an array can have.
SELECT simhash_pairs_agg(i::bit(1024), 1024) FROM generate_series(1, 2660) i;
SELECT simhash_pairs_agg(code) OVER () FROM wide;
SELECT simhash_cluster(code, -1) OVER () FROM wide;
SELECT simhash_cluster(code, (id % 2)::integer) OVER () FROM wide WHERE bits = 64;
SELECT simhash_cluster((random() * 9)::integer::bit(4)) OVER ();
SELECT * FROM simhash_bit_pairs_of('SELECT 1');
SELECT * FROM simhash_bit_pairs_of('SELECT B''1'', B''1''');
DROP TABLE lengths, radii, wide, distances, expected, names, found, joined, clusters, many, many_pairs, many_joined, many_clusters, kept;
DROP DOMAIN picture_hash;
DROP FUNCTION codes_of, in_order, temporary_files, written_blocks;
