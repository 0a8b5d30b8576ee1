-- Fingerprints of documents, of given features, of given hashes.

-- The same words in another dress have the same fingerprint.
SELECT simhash('The quick, brown fox') = simhash('  the QUICK brown... fox!') AS same;
SELECT simhash('The quick, brown fox') <> simhash('The quick, brown dog') AS different;

-- A document without a feature has no fingerprint.
SELECT d, simhash(d) IS NULL AS none, simhash(d, 'chars') IS NULL AS none_of_chars
FROM (VALUES (NULL), (''), ('   '), ('?!...'), ('word')) AS v(d);

-- A given feature is hashed as it stands; each weighs 1 unless a weight is given.
SELECT simhash('the quick brown fox', 'words', weighting => 'tf') =
       simhash_of(ARRAY['the', 'quick', 'brown', 'fox']) AS same;
SELECT simhash('a b b c c c', 'words', weighting => 'tf') =
       simhash_of(ARRAY['a', 'b', 'c'], ARRAY[1, 2, 3]) AS same;
SELECT simhash('a b b c c c', 'words', weighting => 'log') =
       simhash_of(ARRAY['a', 'b', 'c'], ARRAY[1, 1 + ln(2::float8), 1 + ln(3::float8)]) AS same;
SELECT simhash('a b c d', 'words', 2, 'tf') = simhash_of(ARRAY['a b', 'b c', 'c d']) AS same;
SELECT simhash('abcde', 'chars', 4, 'tf') = simhash_of(ARRAY['abcd', 'bcde']) AS same;
SELECT simhash('abc', 'chars', 32, 'tf') = simhash_of(ARRAY['abc']) AS beyond_the_document;
SELECT simhash('a b', 'words', 32, 'tf') = simhash_of(ARRAY['a b']) AS beyond_the_document;
SELECT simhash('a b c', 'words', hash => 'fnv1') <> simhash('a b c', 'words') AS different;

-- NULL for an option is the default.
SELECT simhash('a b c', NULL, NULL, NULL, NULL) = simhash('a b c') AS same,
       simhash_of(ARRAY['a', 'b', 'c'], NULL, NULL) = simhash_of(ARRAY['a', 'b', 'c']) AS same_of_features;

-- Hashes vote bit by bit.
SELECT simhash_of(ARRAY[10, 12]::bigint[], ARRAY[2, 1]) AS ten;
SELECT simhash_of(ARRAY[-1, 0, 5]::bigint[]) AS five;
SELECT simhash_of(ARRAY[255]::bigint[], ARRAY[-1]) = ~255::bigint AS votes_against;

-- NULL features do not vote; weights of 0 neither.
SELECT simhash_of(ARRAY['a', NULL, 'b'], ARRAY[1, NULL, 2]) = simhash_of(ARRAY['a', 'b'], ARRAY[1, 2]) AS same;
SELECT simhash_of(ARRAY[1, NULL, 2]::bigint[]) = simhash_of(ARRAY[1, 2]::bigint[]) AS same;
SELECT simhash_of('{}'::text[]) IS NULL AND simhash_of(ARRAY[NULL]::text[]) IS NULL
   AND simhash_of(ARRAY['a'], ARRAY[0]) IS NULL AND simhash_of(NULL::text[]) IS NULL
   AND simhash_of('{}'::bigint[]) IS NULL AND simhash_of(NULL::bigint[]) IS NULL AS no_feature;

-- Sums beyond 64 bits.
SELECT simhash_of(array_fill(5::bigint, ARRAY[100000]), array_fill(1099511627776::float8, ARRAY[100000])) AS five;
SELECT simhash_of(ARRAY[5, 2]::bigint[], ARRAY[1e-12, 1e-14]) AS five;

-- What is accepted is said.
SELECT simhash('a', 'lines');
SELECT simhash('a', 'words', 0);
SELECT simhash('a', 'words', -1);
SELECT simhash('a', 'words', 33);
SELECT simhash('a', 'words', weighting => 'idf');
SELECT simhash('a', 'words', hash => 'md5');
SELECT simhash('a', 'words', hash => repeat('x', 100000));
SELECT simhash_of(ARRAY['a'], NULL, 'md5');
SELECT simhash_of(ARRAY['a', 'b'], ARRAY[1]);
SELECT simhash_of(ARRAY['a'], '{}');
SELECT simhash_of(ARRAY['a', 'b'], ARRAY[1, NULL]);
SELECT simhash_of(ARRAY['a'], ARRAY['NaN'::float8]);
SELECT simhash_of(ARRAY['a'], ARRAY['Infinity'::float8]);
SELECT simhash_of(ARRAY['a'], ARRAY['-Infinity'::float8]);
SELECT simhash_of(ARRAY['a'], ARRAY[1e13]);
SELECT simhash_of(ARRAY[['a', 'b'], ['c', 'd']]);
SELECT simhash_of(ARRAY['a', 'b'], ARRAY[[1, 2]]);
SELECT simhash_of(ARRAY[[1], [2]]::bigint[]);

-- The default, written out: "the" and "word" would have 4.9 and 5.6 of 21.5, more than an eighth, and are
-- lowered to a sixth of what the others have.
SELECT simhash('The word, the WORD; a 12th cat sat on my red mat') =
       simhash_of(ARRAY['a', '12th', 'on', 'my', 'cat', 'sat', 'red', 'mat', 'the', 'word'],
               ARRAY[1, 1, sqrt(2), sqrt(2), sqrt(3), sqrt(3), sqrt(3), sqrt(3)] ||
               array_fill((2 + 2 * sqrt(2) + 4 * sqrt(3)) / 6, ARRAY[2])) AS same,
       simhash('a a b', 'words', NULL, NULL) = simhash('a a b', 'words', 1, 'balanced', 'xxh3') AS same_by_name;

-- As a generated column; large documents, of all kinds that could be slow.
CREATE TABLE page (body text, fp bigint GENERATED ALWAYS AS (simhash(body)) STORED);
INSERT INTO page VALUES ('some text'), (NULL), ('');
SELECT body, fp = simhash('some text') AS same FROM page;
DROP TABLE page;
SELECT simhash(repeat('a', 20000000)) = simhash(repeat('a', 255 + 20000000 % 255)) AS two_words,
       simhash(repeat('same ', 2000000)) = simhash('same') AS one_word_again;
SELECT simhash(d) IS NOT NULL AS words, simhash(d, 'words', 3) IS NOT NULL AS shingles, simhash(d, 'chars') IS NOT NULL AS chars
FROM (SELECT repeat('a', 20000000) UNION ALL SELECT repeat('same ', 2000000) UNION ALL SELECT repeat(U&'\094D', 2000000)
      UNION ALL SELECT string_agg(i::text, ' ') FROM generate_series(1, 500000) i) AS v(d);
