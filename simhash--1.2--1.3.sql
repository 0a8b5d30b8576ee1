-- simhash 1.2 to 1.3. Each object here stands in simhash--1.3.sql, too; test/upgrade.sh compares the two ways.
\echo Use "ALTER EXTENSION simhash UPDATE" to load this file. \quit

-- ==== Similarity ====

CREATE FUNCTION simhash_shingles_of(features text[]) RETURNS shingle_set
    AS 'MODULE_PATHNAME', 'simhash_shingles_of_text_array'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_shingles_of(text[]) IS 'the set of features of your own';

CREATE FUNCTION simhash_shingles_of(hashes bigint[]) RETURNS shingle_set
    AS 'MODULE_PATHNAME', 'simhash_shingles_of_bigint_array'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_shingles_of(bigint[]) IS
    'the set of features of your own, of which these are the hashes';
