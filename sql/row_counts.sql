-- pg_class.reltuples of indexes of all classes, which the planner computes with: one for each row, however many lanes or hashes it has,
-- after CREATE INDEX and after VACUUM, also with little memory, of a partial index, and where nothing is left.
CREATE TABLE docs (id integer, fp bigint, code bit(256), body text, tenant smallint) WITH (autovacuum_enabled = off);
CREATE FUNCTION add_rows(first integer, last integer) RETURNS void LANGUAGE sql AS $$
    -- Every seventh row has no value, and every eleventh a text without a feature.
    INSERT INTO docs SELECT i, CASE WHEN i % 7 > 0 THEN hashint8extended(i, 1) END,
        CASE WHEN i % 7 > 0 THEN ('x' || md5(i::text) || md5(i || 'b'))::bit(256) END,
        CASE WHEN i % 7 > 0 THEN CASE WHEN i % 11 > 0 THEN (SELECT string_agg(md5((i + w)::text), ' ') FROM generate_series(1, 40) w) ELSE '?!' END END,
        i % 3 - 1
    FROM generate_series(first, last) i
$$;
SELECT add_rows(1, 600);
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_fp_tenant ON docs USING simhash (fp, tenant);
CREATE INDEX docs_code ON docs USING simhash (code);
CREATE INDEX docs_code_tenant ON docs USING simhash (code, tenant);
CREATE INDEX docs_body ON docs USING simhash (body);
CREATE INDEX docs_body_tenant ON docs USING simhash (body, tenant);
CREATE INDEX docs_passages ON docs USING simhash (body passage_ops);
CREATE INDEX docs_expression ON docs USING simhash (minhash(body));
CREATE INDEX docs_part ON docs USING simhash (code) WHERE id % 2 = 0;
CREATE INDEX docs_none ON docs USING simhash (code) WHERE id < 0;
-- Those that are not the number of rows that the index has. Of an index without rows the server may leave -1, which is not known.
CREATE FUNCTION counts() RETURNS TABLE (rows bigint, indexes bigint, wrong text) LANGUAGE sql AS $$
    SELECT (SELECT count(*) FROM docs), count(*),
        string_agg(format('%s: %s, not %s', relname, reltuples, expected), '; ' ORDER BY relname) FILTER (WHERE greatest(reltuples, 0) <> expected)
    FROM (SELECT relname, reltuples, CASE relname WHEN 'docs_part' THEN (SELECT count(*) FROM docs WHERE id % 2 = 0)
                                                  WHEN 'docs_none' THEN 0 ELSE (SELECT count(*) FROM docs) END AS expected
          FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid = 'docs'::regclass) i
$$;
SELECT 'built' AS state, * FROM counts();
VACUUM docs;
SELECT 'vacuumed, with nothing to remove' AS state, * FROM counts();
DELETE FROM docs WHERE id % 5 = 0;
VACUUM (INDEX_CLEANUP on) docs;
SELECT 'vacuumed' AS state, * FROM counts();
SELECT add_rows(601, 3000);
UPDATE docs SET body = body || ' more', code = ~code, fp = ~fp WHERE id % 9 = 0;
DELETE FROM docs WHERE id % 4 = 0;
SET maintenance_work_mem = '1MB';
VACUUM (INDEX_CLEANUP on) docs;
SELECT 'vacuumed with little memory' AS state, * FROM counts();
REINDEX TABLE docs;
SELECT 'rebuilt' AS state, * FROM counts();
RESET maintenance_work_mem;
DELETE FROM docs WHERE fp IS NOT NULL;
VACUUM (INDEX_CLEANUP on) docs;
SELECT 'without values' AS state, * FROM counts();
DELETE FROM docs;
VACUUM (INDEX_CLEANUP on) docs;
SELECT 'empty' AS state, * FROM counts();
SELECT add_rows(1, 100);
DELETE FROM docs WHERE id = 50;
VACUUM (INDEX_CLEANUP on) docs;
SELECT 'filled again' AS state, * FROM counts();
DROP TABLE docs;
DROP FUNCTION add_rows, counts;
