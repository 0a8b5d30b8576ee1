-- Memory is taken by need, not by setting: with the greatest settings, 2 TB, everything runs as with small ones.
SET maintenance_work_mem = 2147483647;
SET work_mem = 2147483647;
SET hash_mem_multiplier = 1000;
SET jit = off;
CREATE TABLE docs (id integer, fp bigint, tenant integer);
INSERT INTO docs SELECT i, hashint8extended(i / 7, 5) # (1::bigint << (i % 64)), i % 3 FROM generate_series(1, 20000) i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_tenant ON docs USING simhash (fp, tenant) WITH (tables = 1);
SET min_parallel_table_scan_size = 0;
CREATE INDEX docs_parallel ON docs USING simhash (fp);
RESET min_parallel_table_scan_size;
DROP INDEX docs_parallel;
-- A vacuum that removes nothing, some rows, all rows but one; one by parallel workers.
VACUUM docs;
DELETE FROM docs WHERE id % 2 = 0;
VACUUM docs;
SELECT rows, fingerprints, orphans FROM simhash_index_check('docs_fp', true);
SELECT rows, fingerprints, orphans FROM simhash_index_check('docs_tenant', true);
SET min_parallel_index_scan_size = 0;
DELETE FROM docs WHERE id % 4 = 1;
VACUUM (PARALLEL 2) docs;
RESET min_parallel_index_scan_size;
SELECT rows, fingerprints, orphans FROM simhash_index_check('docs_fp', true);
-- Queries.
SET enable_seqscan = off;
SELECT count(*) FROM docs WHERE fp <~> 42 <= 64;
SELECT count(*) FROM (SELECT id FROM docs ORDER BY fp <~> 42 LIMIT 4000) d;
RESET enable_seqscan;
-- Whole tables.
SELECT count(*) AS pairs FROM simhash_pairs('SELECT id, fp FROM docs', 2);
SELECT count(DISTINCT original) AS groups FROM simhash_groups('SELECT id, fp FROM docs', 2);
SELECT count(*) AS pairs FROM simhash_join('SELECT id, fp::bit(64) || fp::bit(64) FROM docs WHERE id % 8 = 3', 'SELECT id, fp::bit(64) || fp::bit(64) FROM docs', 4);
SELECT cardinality(simhash_pairs_agg(fp, 2)) AS pairs FROM docs;
SELECT count(DISTINCT cluster) AS clusters FROM (SELECT simhash_cluster(fp, 2) OVER () AS cluster FROM docs) c;
SELECT count(*) AS pairs, count(DISTINCT p.id) AS documents FROM near_duplicate_pairs('SELECT id, ''a text of '' || id / 40 FROM docs') p;
SELECT count(DISTINCT original) AS groups FROM near_duplicate_groups('SELECT id, ''a text of '' || id / 40 FROM docs');
DELETE FROM docs WHERE id > 3;
VACUUM docs;
SELECT rows, fingerprints, orphans FROM simhash_index_check('docs_fp', true);
DROP TABLE docs;
