-- Codes whose lanes are skewed, constant or crowded: the search shares its radius out to them again, and finds what the scan finds.
SET jit = off;
CREATE FUNCTION random_code(seed text) RETURNS bit(256) LANGUAGE sql IMMUTABLE AS $$
    SELECT ('x' || md5(seed || 'a') || md5(seed || 'b'))::bit(256)
$$;
-- Inverts distances[i] bits of each lane i: place k of a code is bit 67 k mod 256, and a lane has 64 places.
CREATE FUNCTION changed(code bit, distances integer[], first integer DEFAULT 0) RETURNS bit(256) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE place integer;
BEGIN
    FOR lane IN 0 .. 3 LOOP
        FOR k IN 0 .. distances[lane + 1] - 1 LOOP
            place := 67 * (64 * lane + (first + 5 * k) % 64) % 256;
            code := set_bit(code, place, 1 - get_bit(code, place));
        END LOOP;
    END LOOP;
    RETURN code;
END $$;
SELECT (SELECT array_agg(a <~> b ORDER BY lane) FROM unnest(bit_lanes(c), bit_lanes(changed(c, '{7,0,64,1}', 9))) WITH ORDINALITY l (a, b, lane)) AS lanes
FROM random_code('center') c;

CREATE TABLE codes (id integer GENERATED ALWAYS AS IDENTITY, kind text, code bit(256));
INSERT INTO codes (kind, code) SELECT 'random', random_code('r' || i) FROM generate_series(1, 20000) i;
-- Near one of three themes: an eighth of the bits differ.
INSERT INTO codes (kind, code) SELECT 'themes', random_code('theme' || i % 3) # (random_code('t' || i) & random_code('u' || i) & random_code('v' || i))
FROM generate_series(1, 12000) i;
-- One lane is the same in all.
INSERT INTO codes (kind, code) SELECT 'constant', random_code('c' || i) & ~changed(repeat('0', 256)::bit(256), '{0,0,64,0}') FROM generate_series(1, 6000) i;
-- One lane is near the center's, and the others are random.
INSERT INTO codes (kind, code)
SELECT 'crowd', ((random_code('center') # (random_code('d' || i) & random_code('e' || i) & random_code('f' || i))) & first_lane) | (random_code('d' || i) & ~first_lane)
FROM generate_series(1, 6000) i, changed(repeat('0', 256)::bit(256), '{64,0,0,0}') first_lane;
-- At distances 31 and 32 from the center, shared out to the lanes in every way up to 12 bits.
INSERT INTO codes (kind, code)
SELECT 'edge', changed(random_code('center'), ARRAY[a, b, c, total - a - b - c], a + b)
FROM unnest(ARRAY[31, 32]) total, generate_series(0, 12) a, generate_series(0, 12) b, generate_series(0, 12) c WHERE total - a - b - c BETWEEN 0 AND 12;
-- At distance 31 from a code whose first lane is the crowded one, by 8 bits or more in each other lane; in the first lane the first table does not find them.
INSERT INTO codes (kind, code)
SELECT 'beside', changed(changed(random_code('center'), '{0,64,64,64}'), ARRAY[31 - b - c - d, b, c, d])
FROM generate_series(8, 10) b, generate_series(8, 10) c, generate_series(8, 10) d;
CREATE INDEX codes_code ON codes USING simhash (code);
VACUUM ANALYZE codes;

CREATE TABLE queries AS
SELECT row_number() OVER () AS n, code FROM (
    SELECT random_code('center') AS code
    UNION ALL SELECT changed(random_code('center'), distances::integer[]) FROM unnest(ARRAY['{1,0,2,0}', '{0,64,64,64}']) distances
    UNION ALL SELECT random_code('theme' || i) FROM generate_series(0, 2) i
    UNION ALL SELECT changed(code, ARRAY[id % 5, id % 7, id % 3, id % 4], id) FROM codes WHERE id % 2700 = 11) q;
CREATE TABLE answers (method text, radius integer, n bigint, id integer);
CREATE PROCEDURE answer(name text) LANGUAGE sql AS $$
    INSERT INTO answers SELECT name, radius, n, c.id FROM unnest(ARRAY[0, 3, 4, 22, 31, 39]) radius, queries q CROSS JOIN LATERAL
        (SELECT id FROM codes WHERE codes.code <~~> q.code <= radius OFFSET 0) c
$$;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
CALL answer('scan');
SET enable_seqscan = off;
SET enable_bitmapscan = on;
CALL answer('bitmap');
SET enable_bitmapscan = off;
SET enable_indexscan = on;
CALL answer('index');
-- Matches that do not fit into work_mem are found by a pass.
SET work_mem = '64kB';
CALL answer('little memory');
RESET work_mem;
SELECT radius, count(*) FILTER (WHERE method = 'scan') AS rows,
    count(*) - 4 * count(*) FILTER (WHERE method = 'scan') AS more_or_less,
    count(*) FILTER (WHERE method <> 'scan' AND NOT EXISTS (SELECT FROM answers s WHERE s.method = 'scan' AND (s.radius, s.n, s.id) = (a.radius, a.n, a.id))) AS wrong
FROM answers a GROUP BY radius ORDER BY radius;
-- What is wrong first, if anything: the fewest rows tell most.
SELECT method, radius, n, count(*) FILTER (WHERE method <> 'scan') AS rows, array_agg(id ORDER BY id) FILTER (WHERE is_missing) AS missing
FROM (SELECT m.method, s.radius, s.n, s.id, true AS is_missing FROM answers s, (VALUES ('bitmap'), ('index'), ('little memory')) m (method)
      WHERE s.method = 'scan' AND NOT EXISTS (SELECT FROM answers a WHERE (a.method, a.radius, a.n, a.id) = (m.method, s.radius, s.n, s.id))) d
GROUP BY 1, 2, 3 ORDER BY count(*), 1, 2, 3 LIMIT 1;
-- In order of distance within the radius, too: the first place at which a distance is another one.
SELECT n, place, i.distance, s.distance AS expected
FROM (SELECT n, c.distance, row_number() OVER (PARTITION BY n) AS place FROM queries q CROSS JOIN LATERAL
          (SELECT codes.code <~~> q.code AS distance FROM codes WHERE codes.code <~~> q.code <= 31 ORDER BY codes.code <~~> q.code) c) i
FULL JOIN (SELECT n, c.code <~~> q.code AS distance, row_number() OVER (PARTITION BY n ORDER BY c.code <~~> q.code) AS place
           FROM answers a JOIN queries q USING (n) JOIN codes c USING (id) WHERE method = 'scan' AND radius = 31) s USING (n, place)
WHERE i.distance IS DISTINCT FROM s.distance ORDER BY n, place LIMIT 1;

-- A crowded lane is searched within fewer bits than its share, 7, so that most of the rows that are so near in it are not compared.
CREATE FUNCTION compared(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, TIMING off, FORMAT json) ' || query INTO plan;
    RETURN (plan -> 0 -> 'Plan' ->> 'Actual Rows')::numeric + coalesce((plan -> 0 -> 'Plan' ->> 'Rows Removed by Index Recheck')::bigint, 0);
END $$;
SELECT CASE WHEN near > 2000 THEN 'crowded' ELSE 'near: ' || near END AS lane, CASE WHEN compared < .75 * near THEN 'few' ELSE 'all: ' || compared END AS compared
FROM (SELECT changed(random_code('center'), '{0,64,64,64}') AS query) q, LATERAL
    (SELECT count(*) AS near FROM codes WHERE (bit_lanes(code))[1] <~> (bit_lanes(query))[1] <= 7) n,
    LATERAL compared(format('SELECT FROM codes WHERE code <~~> %L::bit(256) <= 31', query)) compared;
-- A scan that is ended early, and begun again with a radius that searches one lane.
SELECT n, (SELECT count(*) FROM (SELECT FROM codes c WHERE c.code <~~> q.code <= CASE WHEN n % 2 = 1 THEN 31 ELSE 2 END LIMIT 3) l) AS found FROM queries q ORDER BY n LIMIT 6;
RESET ALL;
DROP TABLE codes, queries, answers;
DROP PROCEDURE answer;

-- A crowded lane beside little memory: the search of the lane may be broken off because its matches are many, or because they outgrow
-- work_mem, or both, after some of its rows were returned. Rows that are near in this lane alone are found all the same.
CREATE TABLE crowd (id integer GENERATED ALWAYS AS IDENTITY, code bit(256));
INSERT INTO crowd (code) SELECT random_code('r' || i) FROM generate_series(1, 40000) i;
INSERT INTO crowd (code)
SELECT ((random_code('center') # (random_code('d' || i) & random_code('e' || i) & random_code('f' || i))) & first_lane) | (random_code('k' || i) & ~first_lane)
FROM generate_series(1, 10000) i, changed(repeat('0', 256)::bit(256), '{64,0,0,0}') first_lane;
INSERT INTO crowd (code)
SELECT changed(random_code('center'), ARRAY[near, near + 1 + i % 2, near + 1 + i % 3, near + 1], 7 * i) FROM generate_series(2, 9) near, generate_series(1, 128) i;
CREATE INDEX crowd_code ON crowd USING simhash (code);
VACUUM ANALYZE crowd;
CREATE FUNCTION found(memory integer, radius integer) RETURNS integer[] LANGUAGE plpgsql AS $$
DECLARE ids integer[];
BEGIN
    PERFORM set_config('work_mem', memory || 'kB', true);
    EXECUTE format('SELECT array_agg(id ORDER BY id) FROM crowd WHERE code <~~> %L <= %s', random_code('center'), radius) INTO ids;
    RETURN ids;
END $$;
SET enable_seqscan = off;
CREATE TABLE distances AS SELECT id, hamming(code, random_code('center')) AS distance FROM crowd;
SELECT memory, radius, cardinality(expected) AS rows, cardinality(found) AS found,
    (SELECT array_agg(id) FROM (SELECT unnest(expected) EXCEPT SELECT unnest(found) ORDER BY 1 LIMIT 3) m (id)) AS first_missing
FROM generate_series(28, 39) radius, LATERAL (SELECT array_agg(id ORDER BY id) AS expected FROM distances WHERE distance <= radius) e,
    unnest(ARRAY[64, 80, 96, 112, 128, 160, 192, 256, 512]) memory, LATERAL (SELECT found(memory, radius)) f
WHERE found IS DISTINCT FROM expected ORDER BY radius, memory LIMIT 5;
SELECT radius, count(*) FROM distances, unnest(ARRAY[28, 31, 39]) radius WHERE distance <= radius GROUP BY radius ORDER BY radius;
RESET enable_seqscan;
DROP TABLE crowd, distances;

-- A crowded lane holds its matches back, and drops nearly all when the radius is shared out again: those that are left, which no other
-- lane finds, are looked up.
CREATE TABLE held (id integer GENERATED ALWAYS AS IDENTITY, code bit(256));
INSERT INTO held (code) SELECT random_code('r' || i) FROM generate_series(1, 20000) i;
INSERT INTO held (code)
SELECT code FROM (SELECT ((random_code('center') # (random_code('d' || i) & random_code('e' || i) & random_code('f' || i))) & first_lane) | (random_code('k' || i) & ~first_lane) AS code
                  FROM generate_series(1, 10000) i, changed(repeat('0', 256)::bit(256), '{64,0,0,0}') first_lane) c
WHERE (bit_lanes(code))[1] <~> (bit_lanes(random_code('center')))[1] = 7;
INSERT INTO held (code) SELECT changed(random_code('center'), '{4,9,9,9}', i) FROM generate_series(1, 64) i;
CREATE INDEX held_code ON held USING simhash (code);
VACUUM ANALYZE held;
SET enable_seqscan = off;
SELECT count(*) AS found, CASE WHEN compared < 1000 THEN 'few' ELSE compared::text END AS compared
FROM held, compared(format('SELECT FROM held WHERE code <~~> %L::bit(256) <= 31', random_code('center'))) compared WHERE code <~~> random_code('center') <= 31 GROUP BY compared;
RESET enable_seqscan;
DROP TABLE held;
DROP FUNCTION random_code, changed, compared, found;
