\echo Use "ALTER EXTENSION simhash UPDATE" to load this file. \quit

-- ==== Pairs of more than memory holds, pairs between two sets (src/sql/pairs.cpp) ====

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
