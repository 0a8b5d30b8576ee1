\echo Use "ALTER EXTENSION simhash UPDATE" to load this file. \quit

-- ==== Pairs of more than memory holds, pairs between two sets (src/tables/pairs.cpp) ====

COMMENT ON TYPE simhash_pair IS 'two fingerprints and their distance';

CREATE FUNCTION simhash_pairs_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_pairs_support'
    LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_pairs_support(internal) IS
    'planner support of functions that give pairs: how many rows';
ALTER FUNCTION simhash_pairs(bigint[], integer) SUPPORT simhash_pairs_support;

CREATE FUNCTION simhash_join(a bigint[], b bigint[], radius integer DEFAULT 3) RETURNS SETOF simhash_pair
    AS 'MODULE_PATHNAME', 'simhash_join_arrays'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT simhash_pairs_support;
COMMENT ON FUNCTION simhash_join(bigint[], bigint[], integer) IS
    'Every pair within the radius of a fingerprint of one array and one of the other, once, in order';

-- These run a query, which may be about anything.
CREATE FUNCTION simhash_pairs_of(query text, radius integer DEFAULT 3) RETURNS SETOF simhash_pair
    AS 'MODULE_PATHNAME', 'simhash_pairs_of'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SUPPORT simhash_pairs_support;
COMMENT ON FUNCTION simhash_pairs_of(text, integer) IS
    'Every pair of different fingerprints within the radius among those that the query returns, once, a < b, in order';
CREATE FUNCTION simhash_join_of(a_query text, b_query text, radius integer DEFAULT 3) RETURNS SETOF simhash_pair
    AS 'MODULE_PATHNAME', 'simhash_join_of'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SUPPORT simhash_pairs_support;
COMMENT ON FUNCTION simhash_join_of(text, text, integer) IS
    'Every pair within the radius of a fingerprint that the one query returns and one that the other returns, once, in order';

-- ==== Scopes of bits (src/index/scope.hpp) ====

CREATE OPERATOR CLASS bit_scope_ops DEFAULT FOR TYPE bit USING simhash AS
    OPERATOR 2 = (bit, bit), FUNCTION 1 (bit, bit) hashvarlenaextended (internal, bigint);
COMMENT ON OPERATOR CLASS bit_scope_ops USING simhash IS 'scopes of bit';
COMMENT ON OPERATOR FAMILY bit_scope_ops USING simhash IS 'scopes of bit';
CREATE OPERATOR CLASS varbit_scope_ops DEFAULT FOR TYPE bit varying USING simhash AS
    OPERATOR 2 = (bit varying, bit varying), FUNCTION 1 (bit varying, bit varying) hashvarlenaextended (internal, bigint);
COMMENT ON OPERATOR CLASS varbit_scope_ops USING simhash IS 'scopes of bit varying';
COMMENT ON OPERATOR FAMILY varbit_scope_ops USING simhash IS 'scopes of bit varying';

-- ==== One bit of each of 64 minima (src/values/fingerprint/minhash.cpp) ====

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

-- ==== How well fingerprints find near-duplicates among documents of yours ====

-- All arguments, types and schemas are written out, so that nothing of another's in the extension's
-- schema fits better.
CREATE FUNCTION simhash_quality(documents text[], similar_from double precision DEFAULT 0.8,
        unlike_below double precision DEFAULT 0.5)
    RETURNS TABLE (form text, radius integer, similar_pairs bigint, similar_found bigint,
        neither_found bigint, strangers_found bigint, recall double precision, f1 double precision)
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
    -- Every document is read once, and its set and its fingerprints are made once.
    WITH document AS MATERIALIZED (
        SELECT number, simhash_shingles(body, 'words'::text, 3) AS shingles,
            ARRAY[minhash(body, 'words'::text, 3),
                simhash(body, 'words'::text, 1, 'balanced'::text, 'xxh3'::text),
                simhash(body, 'chars'::text, 3, 'balanced'::text, 'xxh3'::text),
                simhash(body, 'words'::text, 1, 'log'::text, 'xxh3'::text),
                simhash(body, 'words'::text, 3, 'binary'::text, 'xxh3'::text)] AS fingerprints
        FROM pg_catalog.unnest(documents) WITH ORDINALITY AS all_of_them (body, number)
        WHERE minhash(body, 'words'::text, 3) IS NOT NULL
    ), pair AS ( -- by comparing sets, of which most are told apart by their first shingles
        SELECT a.fingerprints AS of_a, b.fingerprints AS of_b,
            shingle_similar(a.shingles, b.shingles, similar_from) AS is_similar,
            NOT shingle_similar(a.shingles, b.shingles, unlike_below) AS is_unlike
        FROM document a JOIN document b ON a.number < b.number
        OFFSET 0
    ), counted AS (
        SELECT number, a <~> b AS distance, is_similar, is_unlike, count(*) AS pairs
        FROM pair, unnest(of_a, of_b) WITH ORDINALITY AS of_form (a, b, number)
        GROUP BY 1, 2, 3, 4
    ), form AS (
        SELECT name, number
        FROM pg_catalog.unnest(ARRAY['minhash(body)', 'simhash(body)', 'simhash(body, ''chars'', 3)',
            'simhash(body, ''words'', 1, ''log'')', 'simhash(body, ''words'', 3, ''binary'')'])
            WITH ORDINALITY AS of_form (name, number)
    ), within AS (
        SELECT form.name, form.number, radius,
            coalesce(sum(pairs) FILTER (WHERE is_similar), 0)::bigint AS similar_pairs,
            coalesce(sum(pairs) FILTER (WHERE is_similar AND distance <= radius), 0)::bigint AS similar_found,
            coalesce(sum(pairs) FILTER (WHERE NOT is_similar AND NOT is_unlike
                AND distance <= radius), 0)::bigint AS neither_found,
            coalesce(sum(pairs) FILTER (WHERE is_unlike AND distance <= radius), 0)::bigint AS strangers_found
        FROM form CROSS JOIN pg_catalog.generate_series(0, 12) AS radius LEFT JOIN counted USING (number)
        GROUP BY 1, 2, 3
    )
    SELECT name, within.radius, within.similar_pairs, within.similar_found, within.neither_found,
        within.strangers_found,
        within.similar_found::double precision / nullif(within.similar_pairs, 0)::double precision,
        2::double precision * within.similar_found::double precision
            / nullif(within.similar_pairs + within.similar_found + within.strangers_found,
                     0)::double precision
    FROM within
    ORDER BY number, within.radius;
END;
COMMENT ON FUNCTION simhash_quality(text[], double precision, double precision) IS
    'how well fingerprints of several forms find the near-duplicates among these documents, by radius, beside their exact similarity';
