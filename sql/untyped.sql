-- Literals and parameters without a type, as drivers send them: a call has one meaning, or is an error.
\set VERBOSITY sqlstate
SELECT minhash_of('{the,quick,fox}');
SELECT minhash_code_of('{the,quick,fox}', 64);
SELECT simhash_of('{1,2}', '{1,2}');
PREPARE of_list AS SELECT minhash_of($1);
PREPARE of_list_and_weights AS SELECT simhash_of($1, $2);
\set VERBOSITY default
-- A third argument tells which of the two it is, and so does a name or a cast.
SELECT simhash_of('{a,b}', '{1,2}', 'xxh3') = simhash_of(ARRAY['a', 'b'], ARRAY[1, 2]) AS with_hash,
       simhash_of(hashes => '{1,2}', weights => '{1,2}') = simhash_of(ARRAY[1, 2]::bigint[], ARRAY[1, 2]) AS named,
       minhash_of('{the,quick,fox}'::text[]) = minhash('the quick fox', width => 1) AS cast_to_type;
PREPARE of_list AS SELECT minhash_of($1::text[]) = minhash('the quick fox', width => 1) AS of_list;
EXECUTE of_list('{the,quick,fox}');
PREPARE of_weighed(text[], float8[]) AS SELECT simhash_of($1, $2) = simhash_of(ARRAY['1', '2'], ARRAY[1, 2]) AS of_weighed;
EXECUTE of_weighed('{1,2}', '{1,2}');
-- Documents: what looks like an array is a text.
PREPARE of_document AS SELECT minhash($1) = minhash('the quick fox') AS minhash, minhash_code($1) = minhash_code('the quick fox') AS minhash_code,
    simhash($1) = simhash('the quick fox') AS simhash;
EXECUTE of_document('{the,quick,fox}');
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name;
-- No form of minhash and simhash takes an array.
\set VERBOSITY sqlstate
SELECT minhash(ARRAY['a']);
SELECT minhash_code(ARRAY[1]::bigint[]);
SELECT simhash(ARRAY['a'], ARRAY[1]);
\set VERBOSITY default
-- Whole tables: an untyped similarity, ids of any type.
CREATE TABLE page AS SELECT i AS id, md5((i)::text)::uuid AS code, 'a b c d ' || i / 2 AS body FROM generate_series(1, 4) i;
SELECT * FROM near_duplicate_pairs('SELECT id, body FROM page', '0.9');
PREPARE pairs AS SELECT * FROM near_duplicate_pairs($1, $2);
EXECUTE pairs('SELECT id, body FROM page', 0.9);
PREPARE pairs_of_codes AS SELECT count(*) FROM near_duplicate_pairs($1, $2, NULL::uuid) p JOIN page ON code = p.id;
EXECUTE pairs_of_codes('SELECT code, body FROM page', 0.9);
PREPARE pairs_of_parameter(text, float8, uuid) AS SELECT count(*), min(pg_typeof(other)::text) FROM near_duplicate_pairs($1, $2, $3);
EXECUTE pairs_of_parameter('SELECT code, body FROM page', 0.9, NULL);
PREPARE groups AS SELECT * FROM near_duplicate_groups($1, $2);
EXECUTE groups('SELECT id, body FROM page', 0.9);
SELECT count(DISTINCT original) FROM near_duplicate_groups('SELECT code, body FROM page', '0.9', false, NULL::uuid);
SELECT name, parameter_types FROM pg_prepared_statements WHERE name ~ 'pairs|groups' ORDER BY name;
\set VERBOSITY sqlstate
SELECT * FROM near_duplicate_pairs('SELECT code, body FROM page', NULL::uuid);
SELECT * FROM near_duplicate_groups('SELECT code, body FROM page', '0.9', NULL);
DROP TABLE page;
