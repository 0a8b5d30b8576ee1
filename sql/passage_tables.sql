-- passage_join, passage_groups and containment_pairs, beside common_passages, passage_hashes and shingle_containment on every two documents.
SET jit = off;
CREATE FUNCTION words(seed text, first int, last int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(left(md5(seed || ' ' || w), 5), ' ' ORDER BY w) FROM generate_series(first, last) w
$$;
CREATE TABLE docs (id int PRIMARY KEY, name text, body text);
-- Words of their own, a piece of 3 to 30 words that others may have, 18 words that every fourth has, and a chain of documents of
-- which each has the end of the one before.
INSERT INTO docs SELECT i, 'doc ' || i, concat_ws(' ', words('own' || i, 1, i % 20), words('piece' || i * 7 % 40, 1, 3 + i * 11 % 28),
                                     words('more' || i, 1, 15), CASE WHEN i % 4 = 0 THEN words('footer', 1, 18) END)
FROM generate_series(1, 160) i;
INSERT INTO docs SELECT 200 + i, 'chain ' || i, words('link' || i, 1, 20) || ' ' || words('link' || i + 1, 1, 20) FROM generate_series(1, 9) i;
INSERT INTO docs VALUES (301, 'empty', ''), (302, 'null', NULL), (303, 'equal', words('x', 1, 30)), (304, 'equal too', words('x', 1, 30)), (305, 'short', words('x', 1, 15)),
    (306, 'short too', words('x', 1, 15)), (307, 'one word', repeat('ho ', 40)), (308, 'one word', repeat('ho ', 30)), (309, 'in other letters', upper(words('x', 1, 30))),
    (310, 'equal', words('y', 1, 66)), (311, 'equal', words('y', 1, 66));
-- Of three documents the third has most of both others, which have 10 words in common.
INSERT INTO docs SELECT 400 + 3 * i + k, 'three ' || i, concat_ws(' ', CASE WHEN k <> 1 THEN words('first' || i, 1, 12) END, words('between' || i, 1, 10), CASE WHEN k <> 0 THEN words('last' || i, 1, 12) END)
FROM generate_series(1, 20) i, generate_series(0, 2) k;
CREATE TABLE truth AS
SELECT a.id AS a, b.id AS b, (SELECT max(c.words) FROM common_passages(a.body, b.body, 1) c) AS words FROM docs a JOIN docs b ON a.id <> b.id;
-- The pairs, in both directions, of documents that have a hash in common which at most so many of them have.
CREATE FUNCTION pairs_of(n int, most int) RETURNS TABLE (a int, b int, words int) LANGUAGE sql AS $$
    WITH hash AS MATERIALIZED (SELECT id, h, count(*) OVER (PARTITION BY h) AS documents FROM docs, unnest(passage_hashes(body, n)) h),
        pair AS (SELECT DISTINCT x.id AS a, y.id AS b FROM hash x JOIN hash y ON x.h = y.h AND x.id <> y.id WHERE x.documents <= most)
    SELECT t.a, t.b, t.words::int FROM pair JOIN truth t ON t.a = pair.a AND t.b = pair.b WHERE t.words >= n
$$;

-- ==== Two queries ====

-- Either may be the larger one. A corpus is not paired with itself.
CREATE FUNCTION joined(a_filter text, b_filter text, n int, most int) RETURNS TABLE (a bigint, b bigint, words int) LANGUAGE sql AS $$
    SELECT * FROM passage_join(format('SELECT id, body FROM docs WHERE %s ORDER BY id', a_filter), format('SELECT id, body FROM docs WHERE %s ORDER BY id DESC', b_filter), n, most)
$$;
CREATE TABLE split (a_filter text, b_filter text);
INSERT INTO split VALUES ('id % 3 = 0', 'id % 3 > 0'), ('id % 3 > 0', 'id % 3 = 0'), ('id IN (4, 203, 303)', 'id NOT IN (4, 203, 303)'), ('id NOT IN (4, 203, 303)', 'id IN (4, 203, 303)'), ('id > 0', 'id < 0'), ('id < 0', 'id > 0');
CREATE FUNCTION join_differs(n int, most int) RETURNS TABLE (a_filter text, pairs bigint, missed bigint, wrong bigint) LANGUAGE plpgsql AS $$
DECLARE s split;
BEGIN
    FOR s IN SELECT * FROM split LOOP
        EXECUTE format('CREATE TEMPORARY TABLE expected AS SELECT p.* FROM pairs_of(%s, %s) p JOIN docs x ON x.id = p.a JOIN docs y ON y.id = p.b WHERE (x.%s) AND (y.%s)',
            n, most, s.a_filter, s.b_filter);
        CREATE TEMPORARY TABLE found AS SELECT f.a, f.b, f.words FROM joined(s.a_filter, s.b_filter, n, most) f;
        a_filter := s.a_filter;
        SELECT count(*) INTO pairs FROM expected;
        SELECT count(*) INTO missed FROM (TABLE expected EXCEPT ALL TABLE found) d;
        SELECT count(*) INTO wrong FROM (TABLE found EXCEPT ALL TABLE expected) d;
        DROP TABLE expected, found;
        RETURN NEXT;
    END LOOP;
END $$;
SELECT n, d.* FROM unnest('{6, 10, 16, 25, 70}'::int[]) n, join_differs(n, 1000) d ORDER BY n, a_filter;
-- Documents of both queries count.
SELECT most, d.a_filter, d.pairs, d.missed, d.wrong FROM unnest('{1, 2, 3, 40, 41}'::int[]) most, join_differs(16, most) d WHERE d.a_filter ~ 'id % 3' ORDER BY most, a_filter;
-- In order of the first query's rows, then of the second's, whichever is read first.
SELECT * FROM passage_join('SELECT id, body FROM docs WHERE id IN (204, 205, 303) ORDER BY id DESC', 'SELECT id, body FROM docs WHERE id NOT IN (204, 205, 303) ORDER BY id DESC');
SELECT * FROM passage_join('SELECT id, body FROM docs WHERE id NOT IN (204, 205, 303) ORDER BY id DESC', 'SELECT id, body FROM docs WHERE id IN (204, 205, 303) ORDER BY id DESC');
-- A document may be in both.
SELECT * FROM passage_join('SELECT name, body FROM docs WHERE id IN (303, 305)', 'SELECT name, body FROM docs WHERE id IN (303, 305)', 15, 1000, NULL::text);
SELECT * FROM passage_join(NULL, 'SELECT 1, ''a''');
SELECT * FROM passage_join('SELECT 1, ''a''', NULL);

-- ==== Groups ====

-- Greedily: the first original before the row with which it is a pair, or none.
CREATE FUNCTION greedy(n int, most int) RETURNS TABLE (id int, original int, words int) LANGUAGE plpgsql AS $$
DECLARE d record;
BEGIN
    CREATE TEMPORARY TABLE pair AS SELECT * FROM pairs_of(n, most);
    CREATE TEMPORARY TABLE done (id int, original int, words int);
    FOR d IN SELECT docs.id FROM docs ORDER BY docs.id LOOP
        INSERT INTO done SELECT d.id, coalesce(p.b, d.id), p.words
        FROM (SELECT) one LEFT JOIN LATERAL (SELECT p.b, p.words FROM pair p JOIN done o ON o.id = p.b AND o.original = o.id WHERE p.a = d.id ORDER BY p.b LIMIT 1) p ON true;
    END LOOP;
    RETURN QUERY SELECT * FROM done;
    DROP TABLE pair, done;
END $$;
-- By chains: the first row that pairs lead to.
CREATE FUNCTION chained(n int, most int) RETURNS TABLE (id int, original int, words int) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMPORARY TABLE pair AS SELECT * FROM pairs_of(n, most);
    RETURN QUERY WITH RECURSIVE reached AS (SELECT docs.id, docs.id AS other FROM docs UNION SELECT r.id, p.b FROM reached r JOIN pair p ON p.a = r.other)
        SELECT r.id, min(other), NULL::int FROM reached r GROUP BY r.id;
    DROP TABLE pair;
END $$;
CREATE FUNCTION groups_differ(n int, most int) RETURNS TABLE (groups bigint, wrong bigint, chains bigint, wrong_chains bigint) LANGUAGE sql AS $$
    SELECT (SELECT count(DISTINCT original) FROM greedy(n, most)),
        (SELECT count(*) FROM (SELECT * FROM passage_groups('SELECT id, body FROM docs ORDER BY id', n, most) EXCEPT ALL SELECT * FROM greedy(n, most)) d),
        (SELECT count(DISTINCT original) FROM chained(n, most)),
        (SELECT count(*) FROM (SELECT * FROM passage_groups('SELECT id, body FROM docs ORDER BY id', n, most, true) EXCEPT ALL SELECT * FROM chained(n, most)) d)
$$;
SELECT n, d.* FROM unnest('{6, 10, 16, 25, 70}'::int[]) n, groups_differ(n, 1000) d ORDER BY n;
SELECT most, d.* FROM unnest('{1, 2, 3, 40, 41}'::int[]) most, groups_differ(16, most) d ORDER BY most;
-- Each document has a row, in the order of the query, and that decides which the originals are.
SELECT string_agg(id || '>' || original || coalesce(':' || words, ''), ' ') FROM passage_groups('SELECT id, body FROM docs WHERE id BETWEEN 201 AND 400 ORDER BY id');
SELECT string_agg(id || '>' || original || coalesce(':' || words, ''), ' ') FROM passage_groups('SELECT id, body FROM docs WHERE id BETWEEN 201 AND 400 ORDER BY id DESC');
SELECT string_agg(id || '>' || original || coalesce(':' || words, ''), ' ') FROM passage_groups('SELECT id, body FROM docs WHERE id BETWEEN 201 AND 400 ORDER BY id', chains => true);
SELECT * FROM passage_groups('SELECT name, body FROM docs WHERE id BETWEEN 303 AND 306 ORDER BY id', 15, 1000, false, NULL::text);
SELECT * FROM passage_groups(NULL);
SELECT * FROM passage_groups('SELECT id, body FROM docs WHERE false');

-- ==== Containment ====

-- Of pairs that have a run of 12 words in common none is missed: the windows are of 12 words.
CREATE TABLE parts AS SELECT id, body FROM docs;
INSERT INTO parts SELECT 1000 + i * 10 + k, words('whole' || i, 1, 20 + 10 * k) FROM generate_series(1, 20) i, generate_series(0, 3) k;
INSERT INTO parts VALUES (2001, words('apart', 1, 30)), (2002, (SELECT string_agg(left(md5('apart ' || w), 5) || CASE WHEN w % 8 = 0 THEN ' otherwise' ELSE '' END, ' ' ORDER BY w) FROM generate_series(1, 30) w));
CREATE TABLE contained AS SELECT a.id AS a, b.id AS b, shingle_containment(a.body, b.body) AS containment, shares_passage(a.body, b.body, 12) AS is_found FROM parts a JOIN parts b ON a.id <> b.id;
SELECT least, count(*) FILTER (WHERE t.is_found) AS pairs, count(*) FILTER (WHERE NOT t.is_found) AS without_a_run,
       (SELECT count(*) FROM (SELECT * FROM containment_pairs('SELECT id, body FROM parts ORDER BY id', least) EXCEPT ALL SELECT a, b, containment FROM contained WHERE containment >= least) d) AS wrong,
       (SELECT count(*) FROM (SELECT a, b, containment FROM contained WHERE containment >= least AND is_found EXCEPT ALL SELECT * FROM containment_pairs('SELECT id, body FROM parts ORDER BY id', least)) d) AS missed
FROM contained t, unnest('{1, 0.8, 0.5, 0.3}'::float[]) least WHERE t.containment >= least GROUP BY least ORDER BY least;
-- From the one that is contained to the other; a text with too many other words in between is missed.
SELECT * FROM containment_pairs('SELECT id, body FROM parts WHERE id BETWEEN 1010 AND 1013 OR id > 2000 ORDER BY id', .4);
SELECT id, other, containment FROM containment_pairs('SELECT name, body FROM docs WHERE id IN (303, 305) ORDER BY id', .4, 1000, NULL::text);
SELECT count(*) FROM containment_pairs('SELECT id, body FROM parts WHERE id BETWEEN 1010 AND 1013', .8, 3);

-- ==== What they share ====

-- Files instead of memory; workers.
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT n, d.* FROM unnest('{6, 16}'::int[]) n, join_differs(n, 1000) d WHERE d.a_filter ~ 'id % 3' ORDER BY n, a_filter;
SELECT n, d.* FROM unnest('{6, 16}'::int[]) n, groups_differ(n, 1000) d ORDER BY n;
RESET work_mem;
RESET hash_mem_multiplier;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT n, d.* FROM unnest('{10}'::int[]) n, join_differs(n, 1000) d WHERE d.a_filter ~ 'id % 3' ORDER BY n, a_filter;
SELECT n, d.* FROM unnest('{10}'::int[]) n, groups_differ(n, 1000) d ORDER BY n;
SELECT count(*) FROM containment_pairs('SELECT id, body FROM parts');
RESET max_parallel_workers_per_gather;
-- A query that calls volatile functions runs once.
CREATE SEQUENCE calls;
SELECT count(*) FROM passage_groups('SELECT nextval(''calls''), body FROM docs ORDER BY id');
SELECT count(*) FROM passage_join('SELECT nextval(''calls''), body FROM docs', 'SELECT nextval(''calls''), body FROM docs WHERE id > 200');
SELECT last_value - 2 * count(*) - count(*) FILTER (WHERE id > 200) AS other_calls FROM calls, docs GROUP BY last_value;
-- Arguments.
SELECT * FROM passage_join('docs', 'SELECT id, body FROM docs');
SELECT * FROM passage_join('SELECT id, body FROM docs', 'SELECT id FROM docs');
SELECT * FROM passage_join('SELECT id, body FROM docs', 'SELECT name, body FROM docs');
SELECT * FROM passage_join('SELECT id, body FROM docs', 'SELECT id, body FROM docs', 0);
SELECT * FROM passage_groups('SELECT id, body FROM docs', 16, 0);
SELECT * FROM passage_groups('SELECT id, body FROM docs', 16, 1000, NULL);
SELECT * FROM containment_pairs('SELECT id, body FROM docs', 1.5);
SELECT * FROM containment_pairs('SELECT id, body FROM docs', NULL);
SELECT containment_digest('a', '\x00');
-- Texts that repeat each other, in another order in each of two queries.
CREATE TABLE repeated AS
SELECT id, md5(id::text) || (SELECT string_agg(' ' || md5(w::text), '' ORDER BY w) FROM generate_series(1, 20) w) AS body FROM generate_series(1, 2) id;
SELECT p.* FROM passage_join('SELECT CASE id WHEN 2 THEN 1 ELSE 2 END, body FROM repeated UNION ALL SELECT i, i::text FROM generate_series(3, 9) i',
	'SELECT id, body FROM repeated UNION ALL SELECT 3, body FROM repeated WHERE id = 1') p ORDER BY 1, 2;
DROP TABLE repeated;
DROP TABLE docs, truth, parts, contained, split;
DROP SEQUENCE calls;
DROP FUNCTION words, pairs_of, joined, join_differs, greedy, chained, groups_differ;
