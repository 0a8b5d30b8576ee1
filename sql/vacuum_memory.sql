-- VACUUM remembers fingerprints that lost a posting in a list that is doubled up to maintenance_work_mem, here up to 65536 of them and
-- a few more. Consecutive numbers are packed densely: a leaf has 3700 postings, far more than there are between the two.
CREATE TABLE docs (fp bigint);
CREATE INDEX docs_fp ON docs USING simhash (fp);
SET maintenance_work_mem = 1152;
INSERT INTO docs SELECT generate_series(1, 80000);
DELETE FROM docs WHERE fp > 7;
VACUUM docs;
SELECT rows, fingerprints, orphans FROM simhash_index_check('docs_fp', true);
SET maintenance_work_mem = 1153;
INSERT INTO docs SELECT generate_series(8, 80000);
REINDEX INDEX docs_fp;
DELETE FROM docs WHERE fp > 7;
VACUUM docs;
SELECT rows, fingerprints, orphans FROM simhash_index_check('docs_fp', true);
DROP TABLE docs;
