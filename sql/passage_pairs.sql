-- passage_pairs, beside shares_passage and common_passages on every two documents.
SET jit = off;
CREATE FUNCTION words(seed text, first int, last int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(left(md5(seed || ' ' || w), 5), ' ' ORDER BY w) FROM generate_series(first, last) w
$$;
CREATE TABLE docs (id int PRIMARY KEY, name text, body text);
-- Words of their own, a piece of 3 to 30 words that others may have, and 18 words that every fourth has.
INSERT INTO docs SELECT i, 'doc ' || i, concat_ws(' ', words('own' || i, 1, i % 20), words('piece' || i % 50, 1, 3 + i * 7 % 28),
                                     words('more' || i, 1, 15), CASE WHEN i % 4 = 0 THEN words('footer', 1, 18) END)
FROM generate_series(1, 300) i;
INSERT INTO docs VALUES (1001, 'empty', ''), (1002, 'null', NULL), (1003, 'equal', words('x', 1, 30)), (1004, 'equal too', words('x', 1, 30)), (1005, 'short', words('x', 1, 15)),
    (1006, 'short too', words('x', 1, 15)), (1007, 'one word', repeat('ho ', 40)), (1008, 'one word', repeat('ho ', 30));
CREATE TABLE truth AS
SELECT a.id AS a, b.id AS b, (SELECT max(c.words) FROM common_passages(a.body, b.body, 1) c) AS words FROM docs a JOIN docs b ON a.id < b.id;
SELECT n AS words, count(*) FILTER (WHERE t.words >= n) AS pairs,
       (SELECT count(*) FROM passage_pairs('SELECT id, body FROM docs ORDER BY id', n)) AS found,
       (SELECT count(*) FROM (SELECT * FROM passage_pairs('SELECT id, body FROM docs ORDER BY id', n) EXCEPT ALL SELECT * FROM truth t WHERE t.words >= n) d) AS wrong
FROM truth t, unnest('{1, 3, 7, 8, 9, 12, 15, 16, 17, 25, 31}'::int[]) n GROUP BY n ORDER BY n;
-- In the order of the query's rows, ids of any type.
SELECT * FROM passage_pairs('SELECT id, body FROM docs WHERE id IN (1003, 1004, 1005, 1006, 1007, 1008) ORDER BY id DESC');
SELECT * FROM passage_pairs('SELECT name, body FROM docs WHERE id > 1000 ORDER BY id', 15, 1000, NULL::text);
SELECT * FROM passage_pairs(NULL);
-- What more documents have than that pairs none of them by itself.
SELECT count(*) AS missed, count(*) FILTER (WHERE NOT (t.a % 4 = 0 AND t.b % 4 = 0 AND t.b < 1000)) AS other_than_of_the_footer
FROM truth t LEFT JOIN passage_pairs('SELECT id, body FROM docs ORDER BY id', 16, 70) p ON p.id = t.a AND p.other = t.b WHERE t.words >= 16 AND p.id IS NULL;
SELECT count(*) FROM passage_pairs('SELECT id, body FROM docs', 16, 75);
SELECT count(*) FROM passage_pairs('SELECT id, body FROM docs', 16, 1);
-- Files instead of memory.
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT count(*) AS found, (SELECT count(*) FROM truth WHERE words >= 10) AS pairs FROM passage_pairs('SELECT id, body FROM docs ORDER BY id', 10);
RESET work_mem;
RESET hash_mem_multiplier;
-- Arguments.
SELECT * FROM passage_pairs('docs');
SELECT * FROM passage_pairs('SELECT id, id FROM docs');
SELECT * FROM passage_pairs('SELECT name, body FROM docs');
SELECT * FROM passage_pairs('SELECT id, body FROM docs', 0);
SELECT * FROM passage_pairs('SELECT id, body FROM docs', NULL);
SELECT * FROM passage_pairs('SELECT id, body FROM docs', 16, 0);
DROP TABLE docs, truth;
DROP FUNCTION words;
