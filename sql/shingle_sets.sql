-- The type shingle_set: made once for a document, compared with many. shingle_similarity() of the texts is the oracle.
SELECT simhash_shingles('a b c d'), simhash_shingles('A, b; c d!')::text = simhash_shingles('a b c d')::text AS same_words,
       simhash_shingles('') AS empty, simhash_shingles('abc', 'chars', 2), simhash_shingles('a b c', NULL, NULL)::text = simhash_shingles('a b c')::text AS defaults,
       simhash_shingles(NULL) AS none;
SELECT shingle_similarity(simhash_shingles('a b c d'), simhash_shingles('b c d e')) AS third, shingle_similarity(simhash_shingles(''), simhash_shingles('')) AS none,
       shingle_similarity(simhash_shingles('a'), simhash_shingles('')) AS zero;

-- Documents from nearly equal to unlike: of each word some n of 128 are replaced.
CREATE TABLE document (id int, body text, shingles shingle_set, small shingle_set GENERATED ALWAYS AS (simhash_shingles(body, 'chars', 2)) STORED);
INSERT INTO document (id, body)
    SELECT n, (SELECT string_agg(CASE WHEN hashint4extended(i, 7) & 127 < n THEN 'other' || n || i ELSE 'word' || i END, ' ' ORDER BY i)
               FROM generate_series(1, 400 - 3 * n) i)
    FROM generate_series(0, 40) n;
UPDATE document SET shingles = simhash_shingles(body);
CREATE TABLE pair AS
    SELECT a.id AS a, b.id AS b, shingle_similarity(a.body, b.body) AS similarity, shingle_similarity(a.shingles, b.shingles) AS of_sets
    FROM document a JOIN document b ON a.id <= b.id;
SELECT count(*), count(*) FILTER (WHERE of_sets = similarity) AS equal, min(similarity) < 0.3 AS unlike, max(similarity) FROM pair;

-- Verified pairs of a table, each set made once. Here radius 32 finds all pairs of which something is left to verify.
SELECT count(*) AS pairs, count(*) FILTER (WHERE similarity >= 0.8) AS similar FROM pair WHERE a < b;
WITH document AS MATERIALIZED (SELECT id, simhash(body) AS fp, simhash_shingles(body) AS shingles FROM document)
SELECT count(*) AS similar
FROM unnest((SELECT simhash_pairs_agg(fp, 32) FROM document)) near
    JOIN document x ON x.fp = near.a JOIN document y ON y.fp = near.b
WHERE shingle_similarity(x.shingles, y.shingles) >= 0.8;

-- To text and back, to binary and back.
SELECT count(*) FILTER (WHERE shingles::text::shingle_set::text = shingles::text) AS by_text,
       count(*) FILTER (WHERE shingle_similarity(shingles, shingles::text::shingle_set) = 1) AS equal, count(*) FROM document;
\copy (SELECT id, shingles FROM document) TO 'results/shingle_sets.bin' (FORMAT binary)
CREATE TABLE copied (id int, shingles shingle_set);
\copy copied FROM 'results/shingle_sets.bin' (FORMAT binary)
SELECT count(*) FROM copied JOIN document USING (id) WHERE copied.shingles::text = document.shingles::text;

-- What is no set, and what cannot be compared.
SELECT written::shingle_set FROM (VALUES ('words/3:'), ('chars/32:00000000000000010000000000000002')) AS good (written);
CREATE FUNCTION error_of(written text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM written::shingle_set;
    RETURN 'none';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT error_of(written) FROM (VALUES ('own/2:'), ('own/0:'), ('own:'), ('owned/1:'), (''), ('words'), ('words/'), ('words/3'), ('lines/3:'), ('words/0:'), ('words/33:'), ('words/-3:'), ('words/3:1'),
    ('words/3:000000000000000g'), ('words/3:00000000000000020000000000000001'), ('words/3:00000000000000010000000000000001'),
    ('words/3 :'), (repeat('x', 200))) AS bad (written);
SELECT shingle_similarity(simhash_shingles('a b c', 'words', 2), simhash_shingles('a b c'));
SELECT shingle_similarity(simhash_shingles('a b c', 'chars', 3), simhash_shingles('a b c'));
SELECT simhash_shingles('a', 'lines');
SELECT simhash_shingles('a', width => 0);

-- Sets of features that the caller found: texts are hashed as they are, hashes taken as they are; NULL is none.
SELECT simhash_shingles_of(ARRAY['B', 'a', NULL, 'a']) AS texts, simhash_shingles_of(ARRAY['B', 'a'])::text = simhash_shingles_of(ARRAY['b', 'a'])::text AS folded,
       simhash_shingles_of(ARRAY[simhash_hash('a'), simhash_hash('B')])::text = simhash_shingles_of(ARRAY['a', 'B'])::text AS by_hashes,
       simhash_shingles_of(ARRAY[-1, 0, NULL, -1, 9223372036854775807, -9223372036854775808]) AS hashes;
SELECT simhash_shingles_of('{}'::text[]) AS empty, simhash_shingles_of(ARRAY[NULL::bigint]) AS nulls, simhash_shingles_of(NULL::text[]) IS NULL AS none,
       shingle_similarity(simhash_shingles_of(ARRAY['<', 'v']), simhash_shingles_of(ARRAY['>', 'v'])) AS third,
       simhash_shingles_of(ARRAY['']) AS empty_text, simhash_shingles_of(ARRAY[repeat('x', 100000)])::text AS long_text;
SELECT simhash_shingles_of(ARRAY[['a'], ['b']]);
\set VERBOSITY terse
SELECT simhash_shingles_of('{a}');
\set VERBOSITY default
-- They are no shingles of one word, though these may have the same hashes.
SELECT shingle_similarity(simhash_shingles_of(ARRAY['a', 'b']), simhash_shingles('a b', 'words', 1));
SELECT * FROM near_duplicate_pairs('SELECT 1, simhash_shingles_of(ARRAY[1]) UNION ALL SELECT 2, simhash_shingles(''a'')');
SELECT * FROM near_duplicate_join('SELECT 1, simhash_shingles_of(ARRAY[1])', 'SELECT 2, ''a b''::text');
-- Whole tables of them, beside the definition. Small numbers, whose leading bits are all alike, are no worse than hashes.
CREATE TABLE own AS SELECT id, CASE WHEN id % 50 = 7 THEN NULL WHEN id % 50 = 8 THEN '{}' ELSE ARRAY(
        SELECT CASE WHEN hashint4extended(i, id) & 127 < id % 10 THEN 1000 * id + i ELSE id / 10 * 500 + i END::bigint FROM generate_series(1, 20 + 40 * (id / 10 % 5)) i) END AS hashes
    FROM generate_series(0, 399) id;
ALTER TABLE own ADD small shingle_set GENERATED ALWAYS AS (simhash_shingles_of(hashes)) STORED, ADD texts shingle_set;
UPDATE own SET texts = simhash_shingles_of(hashes::text[]);
CREATE TABLE near AS SELECT a.id, b.id AS other, shingle_similarity(a.small, b.small) AS similarity FROM own a JOIN own b ON a.id < b.id AND shingle_similarity(a.small, b.small) >= 0.5;
CREATE FUNCTION compared(kind text, threshold float8) RETURNS TABLE(kind text, threshold float8, pairs bigint, missed bigint, wrong bigint) LANGUAGE sql AS $$
    SELECT $1, $2, count(p), count(*) FILTER (WHERE p IS NULL), count(*) FILTER (WHERE n IS NULL)
    FROM (SELECT * FROM near WHERE similarity >= $2) n FULL JOIN near_duplicate_pairs(format('SELECT id, %I FROM own ORDER BY id', $1), $2) p USING (id, other, similarity) $$;
SELECT k, t, pairs > 100 AS many, missed <= pairs / 50 AS few_missed, wrong FROM (VALUES ('small'), ('texts')) v(k), (VALUES (1), (0.8), (0.5)) s(t), compared(k, t) ORDER BY k, t;
SELECT count(*) AS rows, count(*) FILTER (WHERE id <> original) AS copies, count(*) FILTER (WHERE id <> original AND NOT EXISTS (SELECT FROM near n WHERE (n.id, n.other) = (original, g.id))) AS far
FROM near_duplicate_groups('SELECT id, small FROM own ORDER BY id', 0.8) g;
\copy (SELECT small FROM own) TO 'results/shingle_sets.bin' (FORMAT binary)
CREATE TABLE own_copied (small shingle_set);
\copy own_copied FROM 'results/shingle_sets.bin' (FORMAT binary)
SELECT count(*), count(DISTINCT small::text) = (SELECT count(DISTINCT small::text) FROM own) AS same, bool_and(small::text::shingle_set::text = small::text) AS by_text FROM own_copied;
-- An index finds them by fingerprints.
CREATE TABLE tokens (id int, tokens text[], CONSTRAINT copies EXCLUDE USING simhash ((minhash_code_of(tokens)::bit(128)) WITH =~~));
INSERT INTO tokens VALUES (1, '{if,v,<,lo}'), (2, '{if,v,>,lo}');
INSERT INTO tokens VALUES (3, '{lo,v,<,if}');
DROP TABLE document, pair, copied, own, near, own_copied, tokens;
DROP FUNCTION error_of, compared;
