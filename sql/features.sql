-- The features of a document, and the hashes of single ones.

-- What simhash() sees, in order of first appearance.
SELECT * FROM simhash_features('To be, or not to BE');
SELECT * FROM simhash_features('To be, or not to BE', width => 2);
SELECT * FROM simhash_features('abcab', 'chars', 2);
SELECT count(*) FROM simhash_features('?!');
SELECT count(*) FROM simhash_features(NULL);
SELECT count(*), sum(frequency) FROM simhash_features((SELECT string_agg((i % 5000)::text, ' ') FROM generate_series(1, 20000) i));
SELECT * FROM simhash_features('a', 'lines');
SELECT * FROM simhash_features('a', 'words', 0);

-- The features and their hashes give the fingerprint of the document.
SELECT simhash_of(array_agg(feature), array_agg(frequency)) = simhash('To be, or not to BE', 'words', 1, 'tf') AS same,
       simhash_of(array_agg(simhash_hash(feature)), array_agg(frequency)) = simhash('To be, or not to BE', 'words', 1, 'tf') AS same,
       simhash_agg(feature, frequency) = simhash('To be, or not to BE', 'words', 1, 'tf') AS same,
       simhash_agg(feature) = simhash('To be, or not to BE', 'words', 1, 'binary') AS same
FROM simhash_features('To be, or not to BE');

-- tsvector: lexemes by their number of positions.
SELECT simhash(to_tsvector('english', 'the foxes jumped over a fox')) =
       simhash_of(ARRAY['fox', 'jump'], ARRAY[2, 1]) AS same;
SELECT simhash(strip(to_tsvector('english', 'the foxes jumped over a fox'))) = simhash_of(ARRAY['fox', 'jump']) AS same;
SELECT simhash(to_tsvector('english', 'the')) IS NULL AND simhash(''::tsvector) IS NULL
   AND simhash(NULL::tsvector) IS NULL AS none;

-- Hashes of single features.
SELECT simhash_to_hex(simhash_hash('')) AS xxh3, simhash_to_hex(simhash_hash('foobar', 'fnv1')) AS fnv1;
SELECT simhash_hash('x', NULL) = simhash_hash('x') AS default_for_null, simhash_hash(NULL) AS none;
SELECT simhash_hash('x', 'md5');
