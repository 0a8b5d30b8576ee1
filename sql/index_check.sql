-- simhash_index_check: what it counts, in every state of an index, and whom and what it refuses.
CREATE TABLE checked (id integer, fp bigint);
CREATE INDEX checked_fp ON checked USING simhash (fp);
SELECT * FROM simhash_index_check('checked_fp', true);
INSERT INTO checked SELECT i, ('x' || md5(i::text))::bit(64)::bigint FROM generate_series(1, 20000) i;
INSERT INTO checked SELECT i, 42 FROM generate_series(1, 3000) i;
INSERT INTO checked SELECT i, NULL FROM generate_series(1, 2000) i;
SELECT rows, fingerprints, orphans, free_pages FROM simhash_index_check('checked_fp');
SELECT rows, fingerprints, orphans, free_pages FROM simhash_index_check('checked_fp', true);
-- Rows of an aborted insertion are in the index until vacuum comes, and prove nothing.
BEGIN;
INSERT INTO checked SELECT i, -i FROM generate_series(1, 1000) i;
SELECT rows, fingerprints, orphans FROM simhash_index_check('checked_fp', true);
ROLLBACK;
SELECT rows, fingerprints, orphans FROM simhash_index_check('checked_fp', true);
VACUUM checked;
SELECT rows, fingerprints, orphans FROM simhash_index_check('checked_fp', true);
-- A fingerprint of many rows loses the first of them: those that are left stand on other leaves.
CREATE TABLE repeated (id integer, fp bigint);
INSERT INTO repeated SELECT i, CASE WHEN i % 20 = 0 THEN ('x' || md5(i::text))::bit(64)::bigint ELSE 42 END FROM generate_series(1, 20000) i;
INSERT INTO repeated SELECT 20000 + i, 41 FROM generate_series(1, 100) i;
CREATE INDEX repeated_fp ON repeated USING simhash (fp);
-- Those in the middle go first: leaves whose left neighbours have the same fingerprint are unlinked, too.
DELETE FROM repeated WHERE id BETWEEN 6000 AND 15000;
VACUUM repeated;
SELECT rows, fingerprints, orphans, free_pages FROM simhash_index_check('repeated_fp', true);
DELETE FROM repeated WHERE id <= 15000;
VACUUM repeated;
SELECT rows, fingerprints, orphans FROM simhash_index_check('repeated_fp', true);
DROP TABLE repeated;
-- So many rows without a fingerprint that a build with little memory puts some of them into a file. Those still in memory at its end
-- are in the index, too.
CREATE TABLE absent AS SELECT i AS id, NULL::bigint AS fp FROM generate_series(1, 10000) i;
SET maintenance_work_mem = '1MB';
CREATE INDEX absent_fp ON absent USING simhash (fp);
RESET maintenance_work_mem;
SELECT rows, fingerprints, orphans FROM simhash_index_check('absent_fp', true);
DROP TABLE absent;
-- A fingerprint of many rows goes, and then everything: the trees shrink, and grow again from the free pages.
DELETE FROM checked WHERE fp = 42;
VACUUM checked;
SELECT rows, fingerprints, orphans FROM simhash_index_check('checked_fp', true);
DELETE FROM checked;
VACUUM checked;
SELECT rows, fingerprints, orphans, pages FROM simhash_index_check('checked_fp', true);
-- A page can be taken again when no snapshot is older than its unlinking, and a vacuum without anything to remove records it.
SELECT pg_current_xact_id() IS NOT NULL AS later;
VACUUM checked;
SELECT pages AS pages_before FROM simhash_index_info('checked_fp') WHERE contents = 'index' \gset
INSERT INTO checked SELECT i, ('x' || md5(i::text))::bit(64)::bigint FROM generate_series(1, 20000) i;
SELECT rows, fingerprints, orphans FROM simhash_index_check('checked_fp', true);
SELECT pages <= :pages_before AS reused FROM simhash_index_info('checked_fp') WHERE contents = 'index';
-- An index grows only when none of its pages is free.
CREATE TABLE filled (fp bigint);
CREATE INDEX filled_fp ON filled USING simhash (fp);
INSERT INTO filled SELECT hashint8extended(i, 1) FROM generate_series(1, 20000) i;
DELETE FROM filled;
VACUUM filled;
SELECT pg_current_xact_id() IS NOT NULL AS later;
VACUUM filled;
DO $$
DECLARE
    size bigint := pg_relation_size('filled_fp');
    i integer := 0;
BEGIN
    WHILE pg_relation_size('filled_fp') = size LOOP
        INSERT INTO filled SELECT hashint8extended(i + j, 2) FROM generate_series(1, 100) j;
        i := i + 100;
    END LOOP;
END $$;
SELECT free_pages FROM simhash_index_check('filled_fp', true);
DROP TABLE filled;
-- Leaves go from the middle of a page of several hundred pivots: those behind move up, and nothing behind them does.
CREATE TABLE wide AS SELECT (i::bigint << 40) # hashint8extended(i, 1) & 1099511627775 AS fp FROM generate_series(1, 60000) i;
CREATE INDEX wide_fp ON wide USING simhash (fp) WITH (fillfactor = 10);
SELECT max(entries) > 450 AS pivots FROM simhash_index_info('wide_fp') WHERE level = 1;
DELETE FROM wide WHERE fp & 65535 BETWEEN 50000 AND 60000;
VACUUM wide;
SELECT rows - (SELECT count(*) FROM wide) AS too_many, orphans FROM simhash_index_check('wide_fp', true);
DROP TABLE wide;
-- Layouts, partial indexes and indexes on expressions; rows of HOT chains.
CREATE INDEX checked_wide ON checked USING simhash (fp) WITH (radius = 7, tables = 8);
SELECT rows, fingerprints, orphans FROM simhash_index_check('checked_wide', true);
CREATE INDEX checked_one ON checked USING simhash (fp) WITH (tables = 1, fillfactor = 50);
SELECT rows, fingerprints, orphans FROM simhash_index_check('checked_one', true);
CREATE INDEX checked_part ON checked USING simhash ((fp # id)) WHERE id <= 100;
SELECT rows, fingerprints, orphans FROM simhash_index_check('checked_part', true);
UPDATE checked SET id = id WHERE id % 100 = 0;
SELECT simhash_index_check(index, true) IS NOT NULL AS checked
FROM unnest(ARRAY['checked_fp', 'checked_wide', 'checked_one', 'checked_part']::regclass[]) index;
-- A row without its posting is damage: the index's function was replaced. Where it stands is left out.
\set VERBOSITY sqlstate
CREATE FUNCTION checked_value(bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE INDEX checked_computed ON checked USING simhash (checked_value(fp));
SELECT rows, fingerprints, orphans FROM simhash_index_check('checked_computed', true);
CREATE OR REPLACE FUNCTION checked_value(bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1 # 1; END';
SELECT simhash_index_check('checked_computed', true);
CREATE OR REPLACE FUNCTION checked_value(bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
SELECT simhash_index_check('checked_computed', true);
\set VERBOSITY default
DROP FUNCTION checked_value CASCADE;
-- Other relations and other people are refused.
CREATE INDEX checked_id ON checked (id);
SELECT simhash_index_check('checked_id');
SELECT simhash_index_check('checked');
SELECT simhash_index_check(0);
CREATE TABLE parts (fp bigint) PARTITION BY RANGE (fp);
CREATE INDEX parts_fp ON parts USING simhash (fp);
SELECT simhash_index_check('parts_fp');
CREATE ROLE regress_index_check_reader;
GRANT SELECT ON checked TO regress_index_check_reader;
SET ROLE regress_index_check_reader;
SELECT simhash_index_check('checked_fp');
RESET ROLE;
-- Nor may members of pg_monitor, who may look at any index.
GRANT pg_monitor TO regress_index_check_reader;
REVOKE SELECT ON checked FROM regress_index_check_reader;
SET ROLE regress_index_check_reader;
SELECT simhash_index_check('checked_fp');
RESET ROLE;
DROP TABLE checked, parts;
DROP ROLE regress_index_check_reader;
