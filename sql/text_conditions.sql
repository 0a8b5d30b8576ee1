-- Conditions made of a text's fingerprint, and what a table can be made of with it: indexes on the expression,
-- partial ones, statistics, partitions. The planner takes the collation away from simhash() and its relatives, on
-- both sides alike, so that what belongs together is found together.

CREATE TABLE documents (id integer, body text);
INSERT INTO documents SELECT i, concat_ws(' ', 'document', i % 2000, 'of', i / 7, md5((i % 2000)::text)) FROM generate_series(1, 10000) i;
CREATE INDEX documents_simhash ON documents USING simhash (simhash(body));
CREATE UNIQUE INDEX documents_unique ON documents (simhash(body, 'chars'), id);
CREATE INDEX documents_partial ON documents (id) WHERE shingle_similarity(body, 'document 17') > 0.2;
CREATE STATISTICS documents_statistics ON (simhash(body) & 1), (simhash_hash(body)) FROM documents;
VACUUM ANALYZE documents;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;

CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS
$$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query; END $$;
\pset format unaligned
\pset tuples_only on

-- The index on the expression: a constant, a parameter of a generic plan, another row's text.
SELECT plan('SELECT id FROM documents WHERE simhash(body) <~> simhash(''document 17 of 3'') <= 3');
SET plan_cache_mode = force_generic_plan;
PREPARE by_text(text) AS SELECT id FROM documents WHERE simhash(body) <~> simhash($1) <= 3;
SELECT plan('EXECUTE by_text(''document 17 of 3'')');
PREPARE by_digits(text) AS SELECT id FROM documents WHERE simhash(body) <~> simhash_from_hex($1) <= 3;
SELECT plan('EXECUTE by_digits(''12ab'')');
PREPARE by_features(text[]) AS SELECT id FROM documents ORDER BY simhash(body) <~> simhash_of($1) LIMIT 1;
SELECT plan('EXECUTE by_features(ARRAY[''document''])');
RESET plan_cache_mode;
SELECT plan('SELECT d.id FROM (VALUES (''document 17''), (''document 18'')) q (body), documents d
    WHERE simhash(d.body) <~> simhash(q.body) <= 3');

-- Partial index, statistics, inference of a unique index.
SELECT plan('SELECT id FROM documents WHERE shingle_similarity(body, ''document 17'') > 0.2 ORDER BY id');
CREATE FUNCTION expected(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE result json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO result;
    RETURN result -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
SELECT expected('SELECT FROM documents WHERE simhash_hash(body) = simhash_hash(''no such document'')') < 10,
       expected('SELECT FROM documents WHERE simhash(body) & 1 = 1') BETWEEN 4000 AND 6000;
INSERT INTO documents SELECT id, body FROM documents WHERE id <= 3
ON CONFLICT (simhash(body, 'chars'), id) DO NOTHING RETURNING id;

-- Partitions by the expression are pruned.
CREATE TABLE parts (body text) PARTITION BY LIST ((simhash(body) & 1));
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
SELECT plan('SELECT * FROM parts WHERE simhash(body) & 1 = 1');

-- Behind row-level security a condition that is not leakproof reaches no index, neither that of the texts nor that of the expression.
-- That of a stored fingerprint does, and with it the same rows are found.
CREATE TABLE letters (id integer, site integer, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO letters (id, site, body)
    SELECT i, i % 2, concat_ws(' ', 'letter', i, 'of', (SELECT string_agg(md5((i / 8)::text || j), ' ') FROM generate_series(1, 30) j))
    FROM generate_series(1, 2000) i;
CREATE INDEX letters_body ON letters USING simhash (body);
CREATE INDEX letters_minhash ON letters USING simhash (minhash(body));
CREATE INDEX letters_fp ON letters USING simhash (fp);
ALTER TABLE letters ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_site ON letters USING (site = 1);
CREATE ROLE regress_text_conditions_reader;
GRANT SELECT ON letters TO regress_text_conditions_reader;
SET ROLE regress_text_conditions_reader;
SET enable_seqscan = off;
SELECT query, bool_or(line ~ 'letters_') AS by_index
FROM unnest(ARRAY['body =~~ ''a letter''', 'near_duplicate(body, ''a letter'', 0.9)', 'minhash(body) <~> minhash(''a letter'') <= 9',
                  'body = ''a letter''', 'fp <~> minhash(''a letter'') <= minhash_radius(0.8, 0.99) AND body =~~ ''a letter''']) query,
     LATERAL plan('SELECT id FROM letters WHERE ' || query) line GROUP BY query ORDER BY query COLLATE "C";
SELECT array_agg(l.id ORDER BY l.id) AS by_text FROM letters q, letters l WHERE q.id = 99 AND l.body =~~ q.body;
SELECT array_agg(l.id ORDER BY l.id) AS by_both FROM letters q, letters l
WHERE q.id = 99 AND l.fp <~> q.fp <= minhash_radius(0.8, 0.99) AND l.body =~~ q.body;
RESET ROLE;
RESET enable_seqscan;
DROP TABLE letters;
DROP ROLE regress_text_conditions_reader;

DROP TABLE documents, parts;
DROP FUNCTION plan, expected;
