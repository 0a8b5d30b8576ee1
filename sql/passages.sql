-- Passages: shares_passage, &~~, common_passages, passage_hashes, shingle_containment.
\pset null NULL
SELECT 'The boat house is closed in March, says the mayor.' AS a,
       'The mayor says: THE BOAT HOUSE is closed.' AS b \gset
SELECT words, shares_passage(:'a', :'b', words), shares_passage(:'b', :'a', words) AS the_other_way
FROM generate_series(1, 7) words;
-- 16 words, and 15.
SELECT ('x y ' || words || ' z') &~~ ('u v ' || words) AS sixteen, ('x y ' || fifteen || ' z') &~~ ('u v ' || fifteen) AS fifteen,
       shares_passage('x y ' || words, words || ' z') AS by_default, shares_passage('x y ' || fifteen, fifteen, 15) AS if_asked
FROM (SELECT string_agg(i::text, ' ') AS words, string_agg(i::text, ' ') FILTER (WHERE i > 1) AS fifteen
      FROM generate_series(1, 16) i) s;
SELECT shares_passage('', '', 1), shares_passage('?', 'a', 1), shares_passage('a', 'a', 2), shares_passage('a', 'A', 1),
       shares_passage(NULL, 'a'), NULL &~~ 'a'::text AS by_operator, shares_passage('a', 'a', NULL), shares_passage('a', 'a', 2147483647);
SELECT shares_passage('a', 'b', 0);
SELECT * FROM common_passages('a', 'b', -1);

-- Positions are those that substr() takes.
SELECT *, substr(:'a', a_start, a_length) = passage AS in_a, substr(:'b', b_start, b_length) AS in_b
FROM common_passages(:'a', :'b', 2);
-- The longest first; each word is in one passage at most; in the order of the first text.
SELECT * FROM common_passages('one two three four, two three four five', 'two three four five six one two three', 2);
SELECT * FROM common_passages('a a a a a', 'a a a', 1);
-- Characters that are several bytes, several code points, or several words.
SELECT *, substr('Ölçü: 東京都に行く。', a_start, a_length) = passage AS in_a, substr('x 東京都、ölçü', b_start, b_length) AS in_b
FROM common_passages('Ölçü: 東京都に行く。', 'x 東京都、ölçü', 1);
SELECT a_start, a_length, b_start, b_length, words FROM common_passages(U&'Cafe\0301 \00e9t\00e9', U&'\+01f600 caf\00e9 e\0301te\0301!', 1);
SELECT a_start, a_length, b_start, b_length, words FROM common_passages(U&'. \FDFA', U&'\FDFA', 1);
SELECT count(*) FROM common_passages('', 'a', 1);
SELECT count(*) FROM common_passages(NULL, 'a', 1);
SELECT * FROM common_passages('a b c', 'x y z');

-- Texts of a megabyte, equal, and of one word.
SELECT a_start, a_length, b_start, b_length, words, passage = rtrim(words.of) AS whole
FROM (SELECT string_agg(i::text, ' ') || ' ' AS of FROM generate_series(1, 150000) i) words, common_passages(words.of, words.of);
SELECT a_start, a_length, b_start, b_length, words FROM common_passages(repeat('a ', 300000), repeat('a, ', 300001));
SELECT shares_passage(repeat('a ', 100000), repeat('a b ', 100000), 2) AS two, shares_passage(repeat('a ', 100000), repeat('a b ', 100000), 1) AS one;

-- A call site keeps texts and their runs: others of the same length, other lengths, and again.
CREATE TABLE passage_texts (id int PRIMARY KEY, body text);
INSERT INTO passage_texts SELECT i, (SELECT string_agg(md5((j % i)::text), ' ') FROM generate_series(i, 40 + 2 * i) j) FROM generate_series(1, 40) i;
INSERT INTO passage_texts VALUES (41, NULL), (42, '');
SELECT count(*) AS pairs, count(*) FILTER (WHERE shared) AS shared, count(*) FILTER (WHERE shared <> (longest >= 16)) AS wrong,
       count(*) FILTER (WHERE shared_some <> (longest >= words)) AS wrong_of_some
FROM (SELECT a.body &~~ b.body AS shared, 3 + (a.id + b.id) % 20 AS words, shares_passage(a.body, b.body, 3 + (a.id + b.id) % 20) AS shared_some,
             coalesce((SELECT max(words) FROM common_passages(a.body, b.body, 1)), 0) AS longest
      FROM passage_texts a, passage_texts b WHERE a.id < 41 AND b.id < 41) s;
SELECT count(*) FROM passage_texts a JOIN passage_texts b ON a.body &~~ b.body AND a.id < b.id;
DROP TABLE passage_texts;

-- Two texts with 16 words in common have a hash in common.
SELECT passage_hashes('') AS none, passage_hashes('1 2 3 4 5 6 7 8 9 10 11 12 13 14 15') AS too_short,
       passage_hashes('1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16') AS one_window,
       passage_hashes('x ' || repeat('a ', 1000)) AS repeats, passage_hashes(NULL);
SELECT count(*) AS texts, count(*) FILTER (WHERE NOT passage_hashes('x' || i || ' ' || words) && passage_hashes(words || ' y' || i)) AS missed
FROM (SELECT i, string_agg(md5((i * j)::text), ' ') AS words FROM generate_series(1, 100) i, generate_series(1, 16) j GROUP BY i) s;

-- The share of the first text's shingles that the second has.
SELECT shingle_containment('a b c d', 'x a b c d e f'), shingle_containment('x a b c d e f', 'a b c d'), shingle_containment('a b c', 'x y z');
SELECT shingle_containment('a b', 'b c', width => 1), shingle_containment('abcd', 'abc', 'chars', 2), shingle_containment('', 'a'), shingle_containment('a', ''),
       shingle_containment(NULL, 'a'), shingle_containment('a', NULL), shingle_containment('a b c', 'a b c', NULL, NULL);
SELECT shingle_containment('a', 'b', 'pages');
