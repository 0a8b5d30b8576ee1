\echo Use "ALTER EXTENSION simhash UPDATE" to load this file. \quit

-- ==== One bit of each of 64 minima (src/sql/minhash.cpp) ====

-- Not strict: an option that is null stands for its default.
CREATE FUNCTION minhash(document text, features text DEFAULT 'words', width integer DEFAULT 3) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_minhash_document'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 SUPPORT simhash_text_support;
COMMENT ON FUNCTION minhash(text, text, integer) IS
    'fingerprint of a document, by one bit of each of 64 minima of its features; null where it has none';

CREATE FUNCTION minhash(features text[]) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_minhash_features'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 SUPPORT simhash_text_support;
COMMENT ON FUNCTION minhash(text[]) IS 'fingerprint of given features, by one bit of each of 64 minima';

CREATE FUNCTION minhash(hashes bigint[]) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_minhash_hashes'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash(bigint[]) IS 'fingerprint of features that are hashed already, by one bit of each of 64 minima';

CREATE FUNCTION minhash(document tsvector) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_minhash_tsvector'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash(tsvector) IS 'fingerprint of the lexemes, by one bit of each of 64 minima';

CREATE FUNCTION minhash_agg_transition(internal, text) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_minhash_agg_transition'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION minhash_agg_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_minhash_agg_combine'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION minhash_agg_serialize(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'simhash_minhash_agg_serialize'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_agg_deserialize(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_minhash_agg_deserialize'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash_agg_final(internal) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_minhash_agg_final'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION minhash_agg_transition(internal, text) IS 'implementation of minhash_agg';
COMMENT ON FUNCTION minhash_agg_combine(internal, internal) IS 'implementation of minhash_agg';
COMMENT ON FUNCTION minhash_agg_serialize(internal) IS 'implementation of minhash_agg';
COMMENT ON FUNCTION minhash_agg_deserialize(bytea, internal) IS 'implementation of minhash_agg';
COMMENT ON FUNCTION minhash_agg_final(internal) IS 'implementation of minhash_agg';

CREATE AGGREGATE minhash_agg(feature text) (
    SFUNC = minhash_agg_transition, STYPE = internal, SSPACE = 776,
    FINALFUNC = minhash_agg_final, COMBINEFUNC = minhash_agg_combine,
    SERIALFUNC = minhash_agg_serialize, DESERIALFUNC = minhash_agg_deserialize,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash_agg(text) IS
    'fingerprint of the features in the rows, by one bit of each of 64 minima';

-- Immutable: with constants it is a constant to the planner, and so is the radius of a condition.
CREATE FUNCTION minhash_radius(similarity double precision, recall double precision DEFAULT 0.8) RETURNS integer
    AS 'MODULE_PATHNAME', 'simhash_minhash_radius'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_radius(double precision, double precision) IS
    'the least radius within which this share of the pairs of documents of this similarity lies, by minhash()';

CREATE FUNCTION minhash_similarity(distance integer, confidence double precision DEFAULT 0.95,
                                   OUT similarity double precision, OUT low double precision,
                                   OUT high double precision)
    RETURNS record
    AS 'MODULE_PATHNAME', 'simhash_minhash_similarity'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_similarity(integer, double precision) IS
    'the similarity that a distance of two fingerprints by minhash() tells, with its bounds';
