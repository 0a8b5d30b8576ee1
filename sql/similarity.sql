-- shingle_similarity: the exact similarity of two documents' sets of shingles.
SELECT shingle_similarity('a b c d', 'a b c d'), shingle_similarity('a b c d', 'A, b; c d!'),
       shingle_similarity('a b c d', 'b c d e'), shingle_similarity('a b c d', 'w x y z');
SELECT shingle_similarity('a b c', 'b c d', width => 1) = 0.5 AS half,
       shingle_similarity('abcd', 'bcde', 'chars', 2) = 0.5 AS half;
SELECT shingle_similarity('', 'a'), shingle_similarity('', ''), shingle_similarity(NULL, 'a');
SELECT shingle_similarity(repeat('a b c d ', 100000), repeat('b c d a ', 100000));
SELECT round(shingle_similarity(string_agg(i::text, ' '), string_agg((i + 1000)::text, ' '), width => 1)::numeric, 6)
FROM generate_series(1, 100000) i;
-- NULL for an option is the default.
SELECT shingle_similarity('a b c d', 'b c d e', NULL, NULL) = shingle_similarity('a b c d', 'b c d e') AS same,
       shingle_similarity('abcd', 'bcde', 'chars', NULL) = shingle_similarity('abcd', 'bcde', 'chars', 3) AS same,
       shingle_similarity('a', NULL, NULL, NULL) AS none, shingle_similarity(NULL, 'a') AS none;
SELECT shingle_similarity('a', 'b', 'pages');
SELECT shingle_similarity('a', 'b', width => 33);
