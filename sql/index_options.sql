-- The options of an index: their bounds, what they make of the block tables, how they are changed later; and what an
-- index is not for.
CREATE TABLE docs (id integer PRIMARY KEY, fp bigint);
INSERT INTO docs SELECT i, ('x' || md5(i::text))::bit(64)::bigint FROM generate_series(1, 3000) i;
CREATE INDEX ON docs USING simhash (fp) WITH (radius = 64);
CREATE INDEX ON docs USING simhash (fp) WITH (radius = -1);
CREATE INDEX ON docs USING simhash (fp) WITH (tables = 0);
CREATE INDEX ON docs USING simhash (fp) WITH (tables = 65);
CREATE INDEX ON docs USING simhash (fp) WITH (fillfactor = 9);
CREATE INDEX ON docs USING simhash (fp) WITH (pages = 9);
CREATE INDEX docs_wide ON docs USING simhash (fp) WITH (radius = 63, tables = 64, fillfactor = 100);
DROP INDEX docs_wide;
-- With no more tables than the radius they are equal blocks, whatever the radius.
CREATE INDEX docs_radius_10 ON docs USING simhash (fp) WITH (radius = 10);
CREATE INDEX docs_radius_3 ON docs USING simhash (fp) WITH (radius = 3);
SELECT array_agg(prefix_mask ORDER BY tree) AS masks, array_agg(prefix_mask ORDER BY tree) = (
           SELECT array_agg(prefix_mask ORDER BY tree) FROM simhash_index_info('docs_radius_3') WHERE level = 0) AS same
FROM simhash_index_info('docs_radius_10') WHERE level = 0;
DROP INDEX docs_radius_10, docs_radius_3;
-- The build settles what the block tables are: changed options wait for a REINDEX.
CREATE INDEX docs_altered ON docs USING simhash (fp) WITH (radius = 3);
ALTER INDEX docs_altered SET (radius = 5, fillfactor = 80);
ALTER INDEX docs_altered SET (tables = 99);
ALTER INDEX docs_altered SET (tables = 7);
SELECT DISTINCT radius, prefix_bits FROM simhash_index_info('docs_altered') WHERE contents = 'index';
REINDEX INDEX CONCURRENTLY docs_altered;
SELECT DISTINCT radius, prefix_bits FROM simhash_index_info('docs_altered') WHERE contents = 'index';
ALTER INDEX docs_altered RESET (tables);
ALTER INDEX docs_altered RESET (radius, fillfactor);
SELECT DISTINCT radius, prefix_bits FROM simhash_index_info('docs_altered') WHERE contents = 'index';
REINDEX INDEX docs_altered;
SELECT DISTINCT radius, prefix_bits FROM simhash_index_info('docs_altered') WHERE contents = 'index';
DROP INDEX docs_altered;
-- What it is not for.
CREATE INDEX ON docs USING simhash (id);
-- The message without its place, which only PostgreSQL 19 tells.
\set VERBOSITY sqlstate
CREATE INDEX ON docs USING simhash (fp DESC);
\set VERBOSITY default
CREATE UNIQUE INDEX ON docs USING simhash (fp);
CREATE INDEX ON docs USING simhash (fp) INCLUDE (id);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'simhash_ops';
DROP TABLE docs;
