-- The database of a user of the release before: what test/upgrade.sh keeps of it, as that release made it, and then upgrades.
CREATE EXTENSION simhash;
-- Stored values of all kinds. Each third page is a copy of the one before; the last ones have words that 1.3 sees otherwise.
CREATE TABLE page (id integer PRIMARY KEY, body text, fp bigint, code bit(128), shingles shingle_set, made bigint GENERATED ALWAYS AS (simhash(body)) STORED);
INSERT INTO page (id, body)
    SELECT i, (SELECT string_agg('w' || hashint4extended(n, (i - (i % 3 = 2)::int) % 1000) % 5000, ' ' ORDER BY n) FROM generate_series(1, 40) n) || CASE WHEN i % 3 = 2 THEN ' more' ELSE '' END
    FROM generate_series(1, 120) i;
INSERT INTO page (id, body) VALUES
    (121, 'എന്റെ അവൾ അവർ കൺ'), (122, U&'\0645\06CC\200C\062E\0648\0627\0647\0645 \06A9\062A\0627\0628'), (123, E'soft\u00AD\nware'), (124, 'soft' || U&'\00AD' || 'ware'), (125, NULL);
UPDATE page SET fp = minhash(body), code = minhash_code(body), shingles = CASE WHEN id % 6 < 3 OR id > 120 THEN simhash_shingles(body) END;
CREATE INDEX page_fp ON page USING simhash (fp);
CREATE INDEX page_code ON page USING simhash (code);
CREATE INDEX page_made ON page USING simhash (simhash(body), (id % 2));
CREATE TABLE page_group AS SELECT * FROM near_duplicate_groups('SELECT id, body FROM page ORDER BY id');
CREATE TABLE no_copy (id integer, body text, fp bigint, CONSTRAINT no_near_body EXCLUDE USING simhash (body WITH =~~), CONSTRAINT no_near_fp EXCLUDE USING simhash (fp WITH ~=));
INSERT INTO no_copy SELECT id, body, fp FROM page WHERE id % 3 = 1 AND id <= 120;
CREATE VIEW near_first AS SELECT id FROM page WHERE fp <~> (SELECT fp FROM page WHERE id = 4) <= 12;
-- The rows stand as they were inserted, so that a restored table has them at the same places, and the kept index files fit.
CREATE TABLE kept (id integer, body text);
INSERT INTO kept SELECT id, body FROM page WHERE body IS NOT NULL;
CREATE INDEX kept_body ON kept USING simhash (body);
CREATE INDEX kept_passages ON kept USING simhash (body passage_ops);
-- What the release answers, to be asked again.
CREATE TABLE answer (question text, rows bigint, ids bigint);
CREATE PROCEDURE ask(question text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('INSERT INTO answer SELECT %L, count(*), sum(id) FROM (%s) q', question, question);
END $$;
CALL ask('SELECT b.id FROM page a JOIN page b ON a.fp <~> b.fp <= 9');
CALL ask('SELECT b.id FROM page a JOIN page b ON a.code <~~> b.code <= 18');
CALL ask('SELECT b.id FROM page a JOIN page b ON a.fp ~= b.fp WHERE a.id % 4 = 0');
CALL ask('SELECT id FROM near_first');
CALL ask('SELECT id FROM near_duplicate_pairs(''SELECT id, shingles FROM page'')');
CALL ask('SELECT id + other AS id FROM simhash_pairs(''SELECT id, code FROM page'', 20)');
CALL ask('SELECT b.id FROM kept a JOIN kept b ON a.body =~~ b.body WHERE a.id <= 120 AND b.id <= 120');
CALL ask('SELECT b.id FROM kept a JOIN kept b ON a.body &~~ b.body WHERE a.id <= 120');
