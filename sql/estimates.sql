-- How many rows the planner expects of a condition on a distance, for every kind of data, radius and form.

-- 20 000 rows each: uniform; groups of ten within a few bits; one fingerprint on a tenth, a crowd of
-- different ones within 5 bits of another on a fifth, NULL on a tenth.
CREATE FUNCTION word(i int) RETURNS bigint IMMUTABLE LANGUAGE sql AS
$$ SELECT ('x' || left(md5(i::text), 16))::bit(64)::bigint $$;
CREATE TABLE uniform AS SELECT word(i) AS fp FROM generate_series(1, 20000) i;
CREATE TABLE clustered AS
SELECT word(-i / 10) # (1::bigint << (i % 64)) # (1::bigint << (i * 7 % 64)) AS fp FROM generate_series(1, 20000) i;
CREATE TABLE hot AS
SELECT CASE WHEN i % 10 = 0 THEN 0
            WHEN i % 10 IN (1, 2) THEN word(0) # (1::bigint << (i % 64)) # (1::bigint << (i / 64 % 64)) # (1::bigint << (i / 4096 % 64))
            WHEN i % 10 = 3 THEN NULL
            ELSE word(i) END AS fp
FROM generate_series(1, 20000) i;
ANALYZE uniform, clustered, hot;

CREATE FUNCTION estimate(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' -> 'Plan Rows';
END $$;
CREATE FUNCTION actual(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE n float8;
BEGIN
    EXECUTE 'SELECT count(*) FROM (' || query || ') s' INTO n;
    RETURN n;
END $$;
CREATE FUNCTION is_near(estimated float8, true_rows float8) RETURNS boolean LANGUAGE sql AS
$$ SELECT abs(estimated - true_rows) <= 10 OR estimated BETWEEN true_rows / 10 AND true_rows * 10 $$;
CREATE FUNCTION far_off(query text) RETURNS text LANGUAGE sql AS
$$ SELECT format('%s instead of %s', e, a) FROM estimate(query) e, actual(query) a WHERE NOT is_near(e, a) $$;

-- For stored, absent and hot fingerprints and every radius: within 10 times or 10 rows of the truth.
CREATE TABLE estimates AS
SELECT name, q, radius, form, estimate(query) AS estimated, actual(query) AS true_rows
FROM unnest(ARRAY['uniform', 'clustered', 'hot']) name,
     unnest(ARRAY[word(4), word(17), word(99), word(-5), word(-7), word(0), 0, 1, 31, -1, word(123456789)]) q,
     unnest(ARRAY[-1, 0, 1, 3, 8, 16, 24, 32, 48, 63, 64, 100]) radius,
     (VALUES ('fp <~> %s <= %s'), ('fp <@ hamming_ball(%s, %s)'), ('fp <~> %s = %s'), ('%s ~= fp AND 3 = %s'),
        ('fp ~|= %s AND 1 = %s'), ('fp ~||||||||= %s AND 8 = %s')) f(form),
     format('SELECT FROM %I WHERE ' || form, name, q::text || '::bigint', radius) query
WHERE (form !~ '~=' OR radius = 3) AND (form !~ '~[|]= ' OR radius = 1) AND (form !~ '~[|]{8}=' OR radius = 8);
-- The operators of constraints at their own radius: here 2 000 rows lie on a fingerprint, 4 000 within 8 bits of it.
CREATE TABLE rings AS SELECT CASE i % 5 WHEN 0 THEN 0 WHEN 1 THEN 15 WHEN 2 THEN 31 ELSE word(i) END AS fp FROM generate_series(1, 10000) i;
ANALYZE rings;
SELECT form, round(estimate('SELECT FROM rings WHERE ' || form) / 2000.0) * 2000 AS rows_about
FROM unnest(ARRAY['fp ~|= 0', 'fp ~|||= 0', 'fp ~= 0', 'fp ~||||= 0', 'fp ~|||||= 0', '0 ~||||||||= fp']) form;
DROP TABLE rings;
SELECT name, form, count(*) AS estimates, count(*) FILTER (WHERE NOT is_near(estimated, true_rows)) AS far_off
FROM estimates GROUP BY 1, 2 ORDER BY 1, 2;
SELECT * FROM estimates WHERE NOT is_near(estimated, true_rows) ORDER BY name, form, q, radius;

-- Where the comparison stays beside the predicate, for an index on the distance, each row counts once.
CREATE TABLE compared AS SELECT fp FROM hot;
CREATE INDEX ON compared USING simhash (fp);
CREATE INDEX ON compared ((fp <~> 0));
ANALYZE compared;
SELECT condition, far_off('SELECT FROM compared WHERE ' || condition)
FROM unnest(ARRAY['fp <~> 0 <= 3', 'fp <~> 0 < 30', 'fp <~> 0 = 0', 'fp <~> 0 = 30', 'fp <~> 0 <= 30 AND fp <~> 0 <= 28']) condition;
DROP TABLE compared;

-- Conditions on one distance count once: narrower ones, repeated ones, and the predicate of a partial index.
CREATE TABLE repeated AS SELECT fp FROM hot;
CREATE INDEX ON repeated USING simhash (fp) WHERE fp <~> 0 <= 8;
ANALYZE repeated;
SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off;
CREATE FUNCTION estimates_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN concat_ws(' of ', round(float8(plan #>> '{0,Plan,Plan Rows}') / 1000), round(float8(plan #>> '{0,Plan,Plans,0,Plan Rows}') / 1000));
END $$;
SELECT condition, estimates_of('SELECT FROM repeated WHERE ' || condition) AS thousands, round(actual('SELECT FROM repeated WHERE ' || condition) / 1000) AS true_thousands
FROM unnest(ARRAY['fp <~> 0 <= 8', 'fp <~> 0 <= 3 AND fp <~> 0 <= 8', 'fp <~> 0 <= 8 AND 0 <~> fp <= 8', 'fp <~> 0 <= 8 AND fp <~> 0 <= 9 AND hamming(fp, 0) < 9']) condition;
RESET enable_seqscan; RESET enable_indexscan; RESET enable_indexonlyscan;
DROP TABLE repeated;
DROP FUNCTION estimates_of;

-- Statistics of a distance between two columns, either way round, tell how many rows have a small one.
CREATE TABLE of_two AS SELECT word(i) AS a, CASE WHEN i % 10 < 3 THEN word(i) # (1::bigint << (i % 64)) ELSE word(-i) END AS b FROM generate_series(1, 20000) i;
CREATE STATISTICS of_two_distance ON (b <~> a) FROM of_two;
ANALYZE of_two;
SELECT condition, far_off('SELECT FROM of_two WHERE ' || condition)
FROM unnest(ARRAY['a <~> b <= 3', 'b <~> a <= 3', 'hamming(a, b) < 4', 'hamming_within(b, a, 3)', 'a <~> b = 1', 'b <~> a = 30', 'a <~> b > 3', 'b <~> a <= 32']) condition;
DROP TABLE of_two;

-- Texts that many rows have, too long for the server's statistics, and those of one template: the index tells how many they are.
CREATE FUNCTION words(seed text, n int) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(regexp_replace(md5(seed || ' ' || i), '(....)', '\1 ', 'g'), '') FROM generate_series(1, n) i $$;
CREATE TABLE pages AS
SELECT i AS id, CASE WHEN i % 10 = 0 THEN words('page', 50) WHEN i % 10 <= 2 THEN md5(i::text) || ' ' || words('template', 10)
                     ELSE words('text ' || i, 4) END AS body
FROM generate_series(1, 5000) i;
CREATE INDEX ON pages USING simhash (body);
-- The planner lists the newest index first. Those with a scope tell nothing, as they keep other lanes.
CREATE INDEX ON pages USING simhash (body, id);
CREATE INDEX ON pages USING simhash (body, (id % 2));
CREATE INDEX ON pages USING simhash (body, (-id));
ANALYZE pages;
SELECT id, form, far_off(query)
FROM pages, unnest(ARRAY['body =~~ %L', 'near_duplicate(%L, body)', 'near_duplicate(body, %L, 0.9)']) form,
     format('SELECT FROM pages WHERE ' || form, body) query WHERE id IN (10, 11, 13) ORDER BY id, form;
-- From PostgreSQL 16 on the planner also lists the indexes of a partitioned table itself, which have no pages.
CREATE TABLE volumes (id int, body text) PARTITION BY RANGE (id);
CREATE TABLE volume PARTITION OF volumes FOR VALUES FROM (1) TO (100);
INSERT INTO volumes SELECT id, body FROM pages WHERE id < 100;
CREATE INDEX ON volumes USING simhash (body);
ANALYZE volumes;
SELECT condition, actual(format('SELECT FROM volumes v LEFT JOIN generate_series(11, 20) i ON ' || condition, body)) AS rows
FROM volumes, unnest(ARRAY['v.id = i AND v.body =~~ %L', '(v.body =~~ %1$L AND i = 11) OR (v.body &~~ %1$L AND i = 12)']) condition WHERE id = 13;
DROP TABLE volumes;
DROP TABLE pages;
DROP FUNCTION words;

-- Unknown query: an average one. Unknown radius: a small one. Never the default third of the table.
SET plan_cache_mode = force_generic_plan;
PREPARE of_query(bigint) AS SELECT FROM uniform WHERE fp <~> $1 <= 3;
PREPARE of_radius(bigint, int) AS SELECT FROM uniform WHERE fp <~> $1 <= $2;
PREPARE of_less(bigint, bigint) AS SELECT FROM uniform WHERE $2 > fp <~> $1;
PREPARE of_ball(hamming_ball) AS SELECT FROM uniform WHERE fp <@ $1;
PREPARE of_near(bigint) AS SELECT FROM uniform WHERE fp ~= $1;
PREPARE of_wide(bigint) AS SELECT FROM uniform WHERE fp <~> $1 <= 32;
PREPARE of_exact(bigint) AS SELECT FROM uniform WHERE fp <~> $1 = 32;
SELECT estimate('EXECUTE of_query(1)') BETWEEN 1 AND 11 AS few, estimate('EXECUTE of_radius(1, 3)') BETWEEN 1 AND 11 AS few,
       estimate('EXECUTE of_less(1, 4)') BETWEEN 1 AND 11 AS few, estimate('EXECUTE of_ball(''(1,3)'')') BETWEEN 1 AND 11 AS few,
       estimate('EXECUTE of_near(1)') BETWEEN 1 AND 11 AS few, estimate('EXECUTE of_wide(1)') BETWEEN 8000 AND 14000 AS half,
       estimate('EXECUTE of_exact(1)') BETWEEN 1000 AND 7000 AS some;
RESET plan_cache_mode;

-- Joins, by pairs and by rows with a match.
SELECT query, far_off(query)
FROM unnest(ARRAY[
    'SELECT FROM uniform a JOIN (SELECT * FROM uniform LIMIT 1000) b ON a.fp <~> b.fp <= 3',
    'SELECT FROM clustered a JOIN (SELECT * FROM clustered LIMIT 1000) b ON a.fp <@ hamming_ball(b.fp, 3)',
    'SELECT FROM clustered a JOIN (SELECT * FROM clustered LIMIT 1000) b ON a.fp <~> b.fp = 2',
    'SELECT FROM hot a JOIN (SELECT * FROM hot LIMIT 100) b ON a.fp <~> b.fp <= 64',
    'SELECT FROM (SELECT * FROM uniform LIMIT 100) a WHERE EXISTS (SELECT FROM uniform b WHERE a.fp ~= b.fp)',
    'SELECT FROM (SELECT * FROM hot LIMIT 100) a WHERE NOT EXISTS (SELECT FROM uniform b WHERE a.fp ~= b.fp)',
    'SELECT FROM (SELECT * FROM uniform LIMIT 200) a WHERE NOT EXISTS (SELECT FROM uniform b WHERE a.fp ~= b.fp)']) query;
SELECT estimate('SELECT FROM uniform a JOIN uniform b ON a.fp <~> b.fp <= 3') BETWEEN 2000 AND 200000 AS self_join,
       estimate('SELECT FROM hot a JOIN hot b ON a.fp <~> b.fp <= 3') BETWEEN 4000000 / 10 AND 4000000 * 10 AS hot_self_join,
       estimate('SELECT FROM uniform a WHERE EXISTS (SELECT FROM uniform b WHERE a.fp <~> b.fp <= 3)') BETWEEN 2000 AND 20000 AS semi_join;

-- Never analyzed: still few.
CREATE TABLE unknown_statistics (fp bigint);
ALTER TABLE unknown_statistics SET (autovacuum_enabled = off);
INSERT INTO unknown_statistics SELECT fp FROM uniform;
SELECT estimate('SELECT FROM unknown_statistics WHERE fp <~> 42 <= 3') BETWEEN 1 AND 20 AS few;

-- Within a negative radius there is no pair.
SELECT estimate('SELECT FROM uniform a JOIN uniform b ON hamming_within(a.fp, b.fp, -1)') AS no_pair;

-- The statistics list more common fingerprints than the table has by now.
CREATE TABLE shrunk WITH (autovacuum_enabled = off) AS
SELECT CASE WHEN i <= 500 THEN word(i % 100) ELSE word(i) END AS fp, i FROM generate_series(1, 1000) i;
ANALYZE shrunk;
DELETE FROM shrunk WHERE i % 20 > 0;
VACUUM shrunk;
SELECT estimate('SELECT FROM shrunk WHERE fp <~> 42 <= 3') BETWEEN 2 AND 50 AS one_of_few;
DROP TABLE shrunk;

DROP TABLE uniform, clustered, hot, estimates, unknown_statistics;
DROP FUNCTION word, estimate, actual, is_near, far_off;
