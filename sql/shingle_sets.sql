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
SELECT error_of(written) FROM (VALUES (''), ('words'), ('words/'), ('words/3'), ('lines/3:'), ('words/0:'), ('words/33:'), ('words/-3:'), ('words/3:1'),
    ('words/3:000000000000000g'), ('words/3:00000000000000020000000000000001'), ('words/3:00000000000000010000000000000001'),
    ('words/3 :'), (repeat('x', 200))) AS bad (written);
SELECT shingle_similarity(simhash_shingles('a b c', 'words', 2), simhash_shingles('a b c'));
SELECT shingle_similarity(simhash_shingles('a b c', 'chars', 3), simhash_shingles('a b c'));
SELECT simhash_shingles('a', 'lines');
SELECT simhash_shingles('a', width => 0);
DROP TABLE document, pair, copied;
DROP FUNCTION error_of;
