-- Leaves whose entries are of very different density: a run of one fingerprint takes 2 bytes a row, and the same rows beside far
-- fingerprints, encoded together, do not fit on a page. A full tail of far ones on one side is split all the same.
CREATE TABLE dense (id integer, fp bigint);
CREATE FUNCTION fill(VARIADIC repeated bigint[]) RETURNS void LANGUAGE sql BEGIN ATOMIC
    DELETE FROM dense;
    INSERT INTO dense SELECT i, f FROM unnest(repeated) f, generate_series(1, 1500) i;
END;
-- Far ones above.
SELECT FROM fill(42, 42);
CREATE INDEX dense_fp ON dense USING simhash (fp) WITH (tables = 1, fillfactor = 100);
CREATE FUNCTION checked() RETURNS TABLE (rows bigint, fingerprints bigint) LANGUAGE sql
    AS $$ SELECT rows, fingerprints FROM simhash_index_check('dense_fp', true) $$;
INSERT INTO dense SELECT i, (1::bigint << 62) - i * (1::bigint << 50) FROM generate_series(1, 300) i;
SELECT * FROM checked();
-- Below.
SELECT FROM fill(-42, -42);
REINDEX INDEX dense_fp;
INSERT INTO dense SELECT i, i * (1::bigint << 50) FROM generate_series(1, 300) i;
SELECT * FROM checked();
-- Above, and then one more row at the end of a long run, beside a shorter one: the cut before it would leave the full tail, of 384
-- rows, and the row to the right half, where they fit neither packed nor raw. All of them are on one leaf until then. Rows without a
-- fingerprint between them make the TIDs of the far ones wide.
TRUNCATE dense;
INSERT INTO dense SELECT i, 42 FROM generate_series(1, 1000) i;
INSERT INTO dense SELECT i, 43 FROM generate_series(1, 500) i;
REINDEX INDEX dense_fp;
ALTER TABLE dense SET (fillfactor = 10);
INSERT INTO dense SELECT i FROM generate_series(1, 20000) i;
INSERT INTO dense SELECT i, -i * (1::bigint << 50) FROM generate_series(1, 384) i;
SELECT level, pages, entries FROM simhash_index_info('dense_fp') WHERE tree = 0;
INSERT INTO dense SELECT i, 42 FROM generate_series(1, 300) i;
SELECT * FROM checked();
-- In block tables, where consecutive fingerprints take 2 bits.
DELETE FROM dense;
ALTER TABLE dense RESET (fillfactor);
DROP INDEX dense_fp;
INSERT INTO dense SELECT i, i FROM generate_series(1, 3000) i;
CREATE INDEX dense_fp ON dense USING simhash (fp) WITH (radius = 0, tables = 3, fillfactor = 100);
INSERT INTO dense SELECT i, (1::bigint << 62) - i * (1::bigint << 50) FROM generate_series(1, 300) i;
SELECT * FROM checked();
SET enable_seqscan = off;
SELECT count(*), sum(id) FROM dense WHERE fp <~> 0 <= 5;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SET enable_seqscan = on;
SELECT count(*), sum(id) FROM dense WHERE fp <~> 0 <= 5;
DROP TABLE dense CASCADE;
DROP FUNCTION checked;
RESET enable_indexscan;
RESET enable_bitmapscan;
-- Consecutive fingerprints, so that leaves of postings end between two of one range: each is nearest to itself.
CREATE TABLE consecutive (fp bigint);
CREATE INDEX consecutive_fp ON consecutive USING simhash (fp);
INSERT INTO consecutive SELECT i FROM generate_series(1, 5000) i, generate_series(1, 2);
SET enable_seqscan = off;
SELECT count(*) AS lost FROM generate_series(1, 5000) i WHERE (SELECT fp FROM consecutive ORDER BY fp <~> i LIMIT 1) <> i;
RESET enable_seqscan;
DROP TABLE consecutive;
-- Leaves that split while a scan goes on: what was noted of them grows old, and it misses nothing.
CREATE TABLE growing (id integer, fp bigint);
INSERT INTO growing SELECT i, ('x' || md5(i::text))::bit(64)::bigint # 1 FROM generate_series(1, 20000) i;
CREATE INDEX growing_fp ON growing USING simhash (fp);
CREATE TABLE question AS SELECT i AS id, ('x' || md5(i::text))::bit(64)::bigint AS fp FROM generate_series(1, 20000, 40) i;
CREATE INDEX question_id ON question (id);
CREATE FUNCTION grow(question integer) RETURNS integer LANGUAGE sql
    AS $$ INSERT INTO growing SELECT -question, ('x' || md5(question || '/' || i))::bit(64)::bigint FROM generate_series(1, 60) i; SELECT 60 $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT pages > 10 AS several_leaves FROM simhash_index_info('growing_fp') WHERE tree = 0 AND level = 0;
EXPLAIN (COSTS OFF) SELECT count(*), sum(grow(q.id)) FROM question q JOIN growing g ON g.fp <~> q.fp <= 3 WHERE g.id > 0 AND q.id > 0;
SELECT count(*), sum(grow(q.id)) FROM question q JOIN growing g ON g.fp <~> q.fp <= 3 WHERE g.id > 0 AND q.id > 0;
-- The same within one query's runs: those of a table are found together, long before the last of them is read.
CREATE FUNCTION grow_much(question integer) RETURNS integer LANGUAGE sql
    AS $$ INSERT INTO growing SELECT -question, ('x' || md5(question || '+' || i))::bit(64)::bigint FROM generate_series(1, 3000) i; SELECT 3000 $$;
SELECT count(*), sum(grow_much(q.id)) FROM question q JOIN growing g ON g.fp <~> q.fp <= 5 WHERE g.id > 0 AND q.id % 1000 = 1;
SELECT rows, orphans FROM simhash_index_check('growing_fp', true);
-- Built anew, the index ends before most leaves that were noted.
DELETE FROM growing WHERE id NOT BETWEEN 1 AND 1000;
VACUUM growing;
REINDEX INDEX growing_fp;
SELECT count(*), sum(g.id) FROM question q JOIN growing g ON g.fp <~> q.fp <= 3;
INSERT INTO growing SELECT i, ('x' || md5(i::text))::bit(64)::bigint # 1 FROM generate_series(1001, 20000) i;
SELECT count(*), sum(g.id) FROM question q JOIN growing g ON g.fp <~> q.fp <= 3;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE growing, question;
DROP FUNCTION grow, grow_much;
-- A page above the leaves splits: a full root, of 451 pivots, is pushed down, and the page below it is cut after 225 of them. The new pivot
-- belongs just there, at the end of the left half, as keys come in descending order to the 225th leaf, and that leaf splits.
CREATE TABLE tall (id integer, fp bigint);
INSERT INTO tall SELECT i, i * (1::bigint << 47) FROM generate_series(1, 42000) i;
DO $$
DECLARE
    fewer integer := 1; -- so many of the first rows take fewer than 225 leaves
    enough integer := 42000; -- and so many take 225 or more
    middle integer;
    amidst bigint; -- a fingerprint of the 225th leaf
BEGIN
    WHILE enough - fewer > 1 LOOP
        middle := (fewer + enough) / 2;
        EXECUTE format('CREATE INDEX some_fp ON tall USING simhash (fp) WITH (tables = 1, fillfactor = 10) WHERE id <= %s', middle);
        IF (SELECT pages < 225 FROM simhash_index_info('some_fp') WHERE tree = 0 AND level = 0) THEN
            fewer := middle;
        ELSE
            enough := middle;
        END IF;
        DROP INDEX some_fp;
    END LOOP;
    SELECT fp INTO amidst FROM tall WHERE id = enough + 50;
    CREATE INDEX tall_fp ON tall USING simhash (fp) WITH (tables = 1, fillfactor = 10);
    FOR i IN REVERSE 40..1 LOOP
        INSERT INTO tall SELECT NULL, amidst + j * (1::bigint << 31) FROM generate_series(i * 1000, i * 1000 - 999, -1) j;
        EXIT WHEN EXISTS (SELECT FROM simhash_index_info('tall_fp') WHERE level = 2);
    END LOOP;
END $$;
SELECT level, pages, entries FROM simhash_index_info('tall_fp') WHERE tree = 0 AND level > 0;
SELECT rows, fingerprints, orphans FROM simhash_index_check('tall_fp', true);
DROP TABLE tall;
