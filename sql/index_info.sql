-- simhash_index_info: what an index holds, by tree and level and as a whole, and who may see it.
CREATE TABLE docs (id integer, fp bigint);
CREATE INDEX docs_fp ON docs USING simhash (fp);
SELECT contents, tree, level, pages, entries, fingerprints, tail_entries, fill FROM simhash_index_info('docs_fp');
INSERT INTO docs VALUES (1, 42), (2, 42), (3, 43), (4, NULL);
SELECT contents, tree, level, pages, entries, fingerprints, tail_entries FROM simhash_index_info('docs_fp');
TRUNCATE docs;
INSERT INTO docs SELECT i, ('x' || md5(i::text))::bit(64)::bigint FROM generate_series(1, 20000) i;
INSERT INTO docs SELECT i, 42 FROM generate_series(1, 3000) i;
INSERT INTO docs SELECT i, NULL FROM generate_series(1, 2000) i;
SELECT contents, tree, level, radius, prefix_bits, prefix_mask, pages > 0 AS pages, bytes = pages * current_setting('block_size')::int AS bytes,
    CASE level WHEN 1 THEN entries > 1 ELSE entries > 0 END AS entries, fingerprints, fill BETWEEN 0.01 AND 1 AS fill,
    bytes_per_entry > 0 AS bytes_per_entry
FROM simhash_index_info('docs_fp');
-- How full the leaves are, as the build was asked to fill them.
CREATE INDEX docs_one ON docs USING simhash (fp) WITH (tables = 1, fillfactor = 50);
SELECT contents, level, fill BETWEEN 0.4 AND 0.5 AS half_full FROM simhash_index_info('docs_one') WHERE level = 0;
-- Other relations and other people are refused.
SELECT * FROM simhash_index_info('docs');
SELECT count(*) FROM simhash_index_info(NULL);
CREATE TABLE parts (fp bigint) PARTITION BY RANGE (fp);
CREATE INDEX parts_fp ON parts USING simhash (fp);
SELECT * FROM simhash_index_info('parts_fp');
CREATE ROLE regress_index_info_reader;
GRANT SELECT ON docs TO regress_index_info_reader;
SET ROLE regress_index_info_reader;
SELECT * FROM simhash_index_info('docs_fp');
RESET ROLE;
-- Members of pg_monitor may look at any index.
GRANT pg_monitor TO regress_index_info_reader;
REVOKE SELECT ON docs FROM regress_index_info_reader;
SET ROLE regress_index_info_reader;
SELECT contents, radius, entries FROM simhash_index_info('docs_fp') WHERE contents = 'index';
RESET ROLE;
-- The radius is that of values: each lane of a document is a fingerprint by itself, and the distances of a code's lanes add up.
CREATE TABLE kinds (body text, code bit(256));
CREATE INDEX kinds_body ON kinds USING simhash (body);
CREATE INDEX kinds_near ON kinds USING simhash (body) WITH (radius = 5);
CREATE INDEX kinds_code ON kinds USING simhash (code);
SELECT index, radius FROM unnest(ARRAY['kinds_body', 'kinds_near', 'kinds_code']::regclass[]) index, simhash_index_info(index)
WHERE contents = 'index';
DROP TABLE docs, parts, kinds;
DROP ROLE regress_index_info_reader;
