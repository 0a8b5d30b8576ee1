-- Near-duplicate constraints: EXCLUDE USING simhash (fp WITH ~=).
CREATE TABLE refusing (id integer PRIMARY KEY, fp bigint, CONSTRAINT no_copies EXCLUDE USING simhash (fp WITH ~=));
INSERT INTO refusing VALUES (1, 42), (2, -1);
INSERT INTO refusing VALUES (3, 43);
INSERT INTO refusing VALUES (3, 43) ON CONFLICT DO NOTHING;
INSERT INTO refusing VALUES (4, 65535), (5, NULL), (6, NULL);
UPDATE refusing SET fp = 40 WHERE id = 1;
UPDATE refusing SET fp = -2 WHERE id = 4;
SELECT * FROM refusing ORDER BY id;
DELETE FROM refusing WHERE id = 1;
INSERT INTO refusing VALUES (7, 43);
-- Deferred.
CREATE TABLE deferred (id integer, fp bigint,
    CONSTRAINT at_commit EXCLUDE USING simhash (fp WITH ~=) DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO deferred VALUES (1, 1), (2, 2);
DELETE FROM deferred WHERE id = 1;
COMMIT;
BEGIN;
INSERT INTO deferred VALUES (3, 3);
COMMIT;
SELECT * FROM deferred;
-- Only among some rows.
CREATE TABLE sites (site text, fp bigint, EXCLUDE USING simhash (fp WITH ~=) WHERE (site = 'a'));
INSERT INTO sites VALUES ('a', 1), ('b', 1), ('b', 2);
INSERT INTO sites VALUES ('a', 2);
-- A table that already has near-duplicates.
CREATE TABLE dirty (fp bigint);
INSERT INTO dirty VALUES (7), (5);
ALTER TABLE dirty ADD EXCLUDE USING simhash (fp WITH ~=);
-- Other radii: as many bars as bits.
ALTER TABLE dirty ADD CONSTRAINT one EXCLUDE USING simhash (fp WITH ~|=);
UPDATE dirty SET fp = fp # 96 WHERE fp = 5;
ALTER TABLE dirty ADD CONSTRAINT one EXCLUDE USING simhash (fp WITH ~|=);
ALTER TABLE dirty ADD CONSTRAINT two EXCLUDE USING simhash (fp WITH ~||=);
ALTER TABLE dirty ADD CONSTRAINT five EXCLUDE USING simhash (fp WITH ~|||||=);
INSERT INTO dirty VALUES (7 # 1023);
SELECT a, b, a ~|= b AS "1", a ~||= b AS "2", a ~|||= b AS "3", a ~||||= b AS "4", a ~|||||= b AS "5",
    a ~||||||= b AS "6", a ~|||||||= b AS "7", a ~||||||||= b AS "8", a ~= b AS near
FROM (SELECT 0::bigint AS a, (1::bigint << n) - 1 AS b FROM generate_series(0, 9) n) v ORDER BY b;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM dirty WHERE fp ~|||||= 7;
SELECT * FROM dirty WHERE fp ~||= 7;
-- Equality is the radius 0.
CREATE TABLE exact (fp bigint, EXCLUDE USING simhash (fp WITH =));
INSERT INTO exact VALUES (1), (2);
INSERT INTO exact VALUES (2);
-- Each row is looked for in the index: in memory that is given back.
CREATE FUNCTION memory_used() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT sum(used_bytes)::bigint FROM pg_backend_memory_contexts';
CREATE TABLE many (fp bigint, used bigint, EXCLUDE USING simhash (fp WITH ~=));
INSERT INTO many SELECT ('x' || md5(i::text))::bit(64)::bigint, CASE WHEN i IN (1, 2000) THEN memory_used() END FROM generate_series(1, 2000) i;
SELECT count(used), max(used) - min(used) < 1000000 AS given_back FROM many;
-- The same where each row but the first and the last finds one that differs in the leading bits, and is left out.
UPDATE many SET used = NULL WHERE used IS NOT NULL;
INSERT INTO many SELECT ('x' || md5((CASE WHEN used THEN -i ELSE i END)::text))::bit(64)::bigint # (7::bigint << 61),
    CASE WHEN used THEN memory_used() END
FROM generate_series(1, 2000) i, LATERAL (SELECT i IN (1, 2000) AS used) u ON CONFLICT DO NOTHING;
SELECT count(*), count(used), max(used) - min(used) < 1000000 AS given_back FROM many;
DROP FUNCTION memory_used;
DROP TABLE refusing, deferred, sites, dirty, exact, many;
