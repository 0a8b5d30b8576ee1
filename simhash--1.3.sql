-- simhash 1.3: near-duplicate search. Sections as in docs/reference.md, and within a section first
-- what users call, with what it is made of, then what only the planner calls.
--
-- The extension is trusted: this script runs as a superuser, in a schema whose owner may be anyone.
-- So it only makes objects. An expression that it evaluated, as a loop would, could find a function
-- or an operator of that owner. All support functions and operators are named with their types, and
-- the one body in SQL (simhash_quality) with all arguments and casts, so that nothing fits better.
--
-- A function that has options is not STRICT: an option that is null stands for its default.
\echo Use "CREATE EXTENSION simhash" to load this file. \quit

-- ==== Distance ====

CREATE FUNCTION hamming(bigint, bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'simhash_hamming_bigint'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming(bigint, bigint) IS
    'Hamming distance of two fingerprints: the number of differing bits, 0..64';

CREATE OPERATOR <~> (FUNCTION = hamming, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = <~>);
COMMENT ON OPERATOR <~> (bigint, bigint) IS
    'Hamming distance of two fingerprints: the number of differing bits, 0..64';

-- Radii are bigint, so that no limit overflows and one signature takes smallint, integer, bigint
-- and untyped parameters: below 0 nothing matches, above 64 everything.
CREATE FUNCTION hamming_within(fp bigint, query bigint, radius bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_hamming_within_bigint'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_within(bigint, bigint, bigint) IS
    'whether the Hamming distance of two fingerprints is at most radius';

CREATE FUNCTION hamming_near(bigint, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_hamming_near'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_near(bigint, bigint) IS
    'near-duplicates: whether two fingerprints differ in at most 3 bits; implementation of ~=';

CREATE OPERATOR ~= (FUNCTION = hamming_near, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = ~=);
COMMENT ON OPERATOR ~= (bigint, bigint) IS
    'near-duplicates: whether two fingerprints differ in at most 3 bits';

-- An exclusion constraint has an operator and no radius, so there is an operator for each radius up
-- to 8, with as many bars as bits.
CREATE FUNCTION hamming_near_1(bigint, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_hamming_near_1'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_near_1(bigint, bigint) IS 'implementation of ~|=';

CREATE OPERATOR ~|= (
    FUNCTION = hamming_near_1, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = ~|=
);
COMMENT ON OPERATOR ~|= (bigint, bigint) IS 'whether two fingerprints differ in at most 1 bit';

CREATE FUNCTION hamming_near_2(bigint, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_hamming_near_2'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_near_2(bigint, bigint) IS 'implementation of ~||=';

CREATE OPERATOR ~||= (
    FUNCTION = hamming_near_2, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = ~||=
);
COMMENT ON OPERATOR ~||= (bigint, bigint) IS 'whether two fingerprints differ in at most 2 bits';

CREATE FUNCTION hamming_near_3(bigint, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_hamming_near_3'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_near_3(bigint, bigint) IS 'implementation of ~|||=';

CREATE OPERATOR ~|||= (
    FUNCTION = hamming_near_3, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = ~|||=
);
COMMENT ON OPERATOR ~|||= (bigint, bigint) IS 'whether two fingerprints differ in at most 3 bits';

CREATE FUNCTION hamming_near_4(bigint, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_hamming_near_4'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_near_4(bigint, bigint) IS 'implementation of ~||||=';

CREATE OPERATOR ~||||= (
    FUNCTION = hamming_near_4, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = ~||||=
);
COMMENT ON OPERATOR ~||||= (bigint, bigint) IS 'whether two fingerprints differ in at most 4 bits';

CREATE FUNCTION hamming_near_5(bigint, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_hamming_near_5'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_near_5(bigint, bigint) IS 'implementation of ~|||||=';

CREATE OPERATOR ~|||||= (
    FUNCTION = hamming_near_5, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = ~|||||=
);
COMMENT ON OPERATOR ~|||||= (bigint, bigint) IS 'whether two fingerprints differ in at most 5 bits';

CREATE FUNCTION hamming_near_6(bigint, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_hamming_near_6'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_near_6(bigint, bigint) IS 'implementation of ~||||||=';

CREATE OPERATOR ~||||||= (
    FUNCTION = hamming_near_6, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = ~||||||=
);
COMMENT ON OPERATOR ~||||||= (bigint, bigint) IS
    'whether two fingerprints differ in at most 6 bits';

CREATE FUNCTION hamming_near_7(bigint, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_hamming_near_7'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_near_7(bigint, bigint) IS 'implementation of ~|||||||=';

CREATE OPERATOR ~|||||||= (
    FUNCTION = hamming_near_7, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = ~|||||||=
);
COMMENT ON OPERATOR ~|||||||= (bigint, bigint) IS
    'whether two fingerprints differ in at most 7 bits';

CREATE FUNCTION hamming_near_8(bigint, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_hamming_near_8'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_near_8(bigint, bigint) IS 'implementation of ~||||||||=';

CREATE OPERATOR ~||||||||= (
    FUNCTION = hamming_near_8, LEFTARG = bigint, RIGHTARG = bigint, COMMUTATOR = ~||||||||=
);
COMMENT ON OPERATOR ~||||||||= (bigint, bigint) IS
    'whether two fingerprints differ in at most 8 bits';

-- ---- for the planner ----

CREATE FUNCTION hamming_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_hamming_support'
    LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_support(internal) IS 'planner support of hamming and <~>';

CREATE FUNCTION hamming_within_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_hamming_within_support'
    LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_within_support(internal) IS 'planner support of hamming_within';

CREATE FUNCTION hamming_restrict(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_hamming_restrict'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_restrict(internal, oid, internal, integer) IS
    'restriction selectivity of <@, @>, ~=, =~~ and &~~';

CREATE FUNCTION hamming_join(internal, oid, internal, smallint, internal) RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_hamming_join'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_join(internal, oid, internal, smallint, internal) IS
    'join selectivity of <@, @>, ~=, =~~ and &~~';

CREATE FUNCTION hamming_radius_below("limit" bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_hamming_radius_below'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_radius_below(bigint) IS
    'greatest radius less than a limit, without overflow; the planner writes fp <~> query < limit '
    'with it';

CREATE FUNCTION hamming_radius("limit" numeric, below boolean) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_hamming_radius'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_radius(numeric, boolean) IS
    'greatest radius, -1 or more, up to a limit, or below it; the planner writes '
    'fp <~> query <= 3.5 with it';

-- What uses these stands above.
ALTER FUNCTION hamming(bigint, bigint) SUPPORT hamming_support;
ALTER FUNCTION hamming_within(bigint, bigint, bigint) SUPPORT hamming_within_support;
ALTER OPERATOR ~= (bigint, bigint) SET (RESTRICT = hamming_restrict, JOIN = hamming_join);
ALTER OPERATOR ~|= (bigint, bigint) SET (RESTRICT = hamming_restrict, JOIN = hamming_join);
ALTER OPERATOR ~||= (bigint, bigint) SET (RESTRICT = hamming_restrict, JOIN = hamming_join);
ALTER OPERATOR ~|||= (bigint, bigint) SET (RESTRICT = hamming_restrict, JOIN = hamming_join);
ALTER OPERATOR ~||||= (bigint, bigint) SET (RESTRICT = hamming_restrict, JOIN = hamming_join);
ALTER OPERATOR ~|||||= (bigint, bigint) SET (RESTRICT = hamming_restrict, JOIN = hamming_join);
ALTER OPERATOR ~||||||= (bigint, bigint) SET (RESTRICT = hamming_restrict, JOIN = hamming_join);
ALTER OPERATOR ~|||||||= (bigint, bigint) SET (RESTRICT = hamming_restrict, JOIN = hamming_join);
ALTER OPERATOR ~||||||||= (bigint, bigint) SET (RESTRICT = hamming_restrict, JOIN = hamming_join);

-- ==== Balls ====

CREATE TYPE hamming_ball;

CREATE FUNCTION hamming_ball_in(cstring) RETURNS hamming_ball
    AS 'MODULE_PATHNAME', 'simhash_hamming_ball_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball_in(cstring) IS 'input of hamming_ball';

CREATE FUNCTION hamming_ball_out(hamming_ball) RETURNS cstring
    AS 'MODULE_PATHNAME', 'simhash_hamming_ball_out'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball_out(hamming_ball) IS 'output of hamming_ball';

CREATE FUNCTION hamming_ball_recv(internal) RETURNS hamming_ball
    AS 'MODULE_PATHNAME', 'simhash_hamming_ball_recv'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball_recv(internal) IS 'binary input of hamming_ball';

CREATE FUNCTION hamming_ball_send(hamming_ball) RETURNS bytea
    AS 'MODULE_PATHNAME', 'simhash_hamming_ball_send'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball_send(hamming_ball) IS 'binary output of hamming_ball';

CREATE TYPE hamming_ball (
    INPUT = hamming_ball_in, OUTPUT = hamming_ball_out,
    RECEIVE = hamming_ball_recv, SEND = hamming_ball_send,
    INTERNALLENGTH = 16, ALIGNMENT = double, STORAGE = plain
);
COMMENT ON TYPE hamming_ball IS
    'all fingerprints within a radius of a center; written (center,radius)';

CREATE FUNCTION hamming_ball(center bigint, radius bigint) RETURNS hamming_ball
    AS 'MODULE_PATHNAME', 'simhash_hamming_ball'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball(bigint, bigint) IS 'all fingerprints within radius of center';

CREATE FUNCTION hamming_ball_contained(bigint, hamming_ball) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_hamming_ball_contained'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball_contained(bigint, hamming_ball) IS 'implementation of <@';

CREATE FUNCTION hamming_ball_contains(hamming_ball, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_hamming_ball_contains'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball_contains(hamming_ball, bigint) IS 'implementation of @>';

CREATE OPERATOR <@ (
    FUNCTION = hamming_ball_contained, LEFTARG = bigint, RIGHTARG = hamming_ball, COMMUTATOR = @>,
    RESTRICT = hamming_restrict, JOIN = hamming_join
);
COMMENT ON OPERATOR <@ (bigint, hamming_ball) IS 'whether the fingerprint is within the ball';

CREATE OPERATOR @> (
    FUNCTION = hamming_ball_contains, LEFTARG = hamming_ball, RIGHTARG = bigint, COMMUTATOR = <@,
    RESTRICT = hamming_restrict, JOIN = hamming_join
);
COMMENT ON OPERATOR @> (hamming_ball, bigint) IS 'whether the ball has the fingerprint';

-- ==== Codes ====

-- Bit strings of different lengths are an error, so none of these functions is leakproof. Those
-- that return a boolean cost more than a condition such as length(code) = 256, so that the server
-- checks that first.
CREATE FUNCTION hamming(bit, bit) RETURNS integer
    AS 'MODULE_PATHNAME', 'simhash_hamming_bit'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT hamming_support;
COMMENT ON FUNCTION hamming(bit, bit) IS
    'Hamming distance of two codes, bit strings of the same length: the number of differing bits';

CREATE OPERATOR <~~> (FUNCTION = hamming, LEFTARG = bit, RIGHTARG = bit, COMMUTATOR = <~~>);
COMMENT ON OPERATOR <~~> (bit, bit) IS
    'Hamming distance of two codes, bit strings of the same length: the number of differing bits';

CREATE FUNCTION hamming_within(code bit, query bit, radius bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_hamming_within_bit'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3 SUPPORT hamming_within_support;
COMMENT ON FUNCTION hamming_within(bit, bit, bigint) IS
    'whether the Hamming distance of two codes is at most radius';

CREATE FUNCTION codes_alike(bit, bit) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_codes_alike'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3;
COMMENT ON FUNCTION codes_alike(bit, bit) IS 'implementation of =~~ of codes';

CREATE OPERATOR =~~ (
    FUNCTION = codes_alike, LEFTARG = bit, RIGHTARG = bit, COMMUTATOR = =~~,
    RESTRICT = hamming_restrict, JOIN = hamming_join
);
COMMENT ON OPERATOR =~~ (bit, bit) IS
    'whether two codes are near: within a radius that follows from their length, 31 for 256 bits';

CREATE TYPE bit_ball;

CREATE FUNCTION bit_ball_in(cstring) RETURNS bit_ball
    AS 'MODULE_PATHNAME', 'simhash_bit_ball_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_ball_in(cstring) IS 'input of bit_ball';

CREATE FUNCTION bit_ball_out(bit_ball) RETURNS cstring
    AS 'MODULE_PATHNAME', 'simhash_bit_ball_out'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_ball_out(bit_ball) IS 'output of bit_ball';

CREATE FUNCTION bit_ball_recv(internal) RETURNS bit_ball
    AS 'MODULE_PATHNAME', 'simhash_bit_ball_recv'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_ball_recv(internal) IS 'binary input of bit_ball';

CREATE FUNCTION bit_ball_send(bit_ball) RETURNS bytea
    AS 'MODULE_PATHNAME', 'simhash_bit_ball_send'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_ball_send(bit_ball) IS 'binary output of bit_ball';

CREATE TYPE bit_ball (
    INPUT = bit_ball_in, OUTPUT = bit_ball_out,
    RECEIVE = bit_ball_recv, SEND = bit_ball_send,
    INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = extended
);
COMMENT ON TYPE bit_ball IS 'all codes within a radius of a center; written (center,radius)';

-- Not hamming_ball: with two functions of that name, hamming_ball($1, $2) would be ambiguous.
CREATE FUNCTION bit_ball(center bit, radius bigint) RETURNS bit_ball
    AS 'MODULE_PATHNAME', 'simhash_bit_ball'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION bit_ball(bit, bigint) IS 'all codes within radius of center';

CREATE FUNCTION bit_ball_contained(bit, bit_ball) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_bit_ball_contained'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3;
COMMENT ON FUNCTION bit_ball_contained(bit, bit_ball) IS 'implementation of <@ of codes';

CREATE FUNCTION bit_ball_contains(bit_ball, bit) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_bit_ball_contains'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3;
COMMENT ON FUNCTION bit_ball_contains(bit_ball, bit) IS 'implementation of @> of codes';

CREATE OPERATOR <@ (
    FUNCTION = bit_ball_contained, LEFTARG = bit, RIGHTARG = bit_ball, COMMUTATOR = @>,
    RESTRICT = hamming_restrict, JOIN = hamming_join
);
COMMENT ON OPERATOR <@ (bit, bit_ball) IS 'whether the code is within the ball';

CREATE OPERATOR @> (
    FUNCTION = bit_ball_contains, LEFTARG = bit_ball, RIGHTARG = bit, COMMUTATOR = <@,
    RESTRICT = hamming_restrict, JOIN = hamming_join
);
COMMENT ON OPERATOR @> (bit_ball, bit) IS 'whether the ball has the code';

-- ==== Fingerprints ====

CREATE FUNCTION simhash(document text, features text DEFAULT 'words', width integer DEFAULT NULL,
                        weighting text DEFAULT 'balanced', hash text DEFAULT 'xxh3')
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_text'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash(text, text, integer, text, text) IS
    'fingerprint of a document; null where it has no feature';

-- Weights that are null are 1 for every feature.
CREATE FUNCTION simhash_of(features text[], weights float8[] DEFAULT NULL, hash text DEFAULT 'xxh3')
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_of_text_array'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash_of(text[], float8[], text) IS
    'fingerprint of given features with given weights';

CREATE FUNCTION simhash_of(hashes bigint[], weights float8[] DEFAULT NULL) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_of_bigint_array'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash_of(bigint[], float8[]) IS
    'fingerprint of features that are hashed already, with given weights';

CREATE FUNCTION simhash(document tsvector) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_tsvector'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash(tsvector) IS
    'fingerprint of the lexemes, each weighted by its number of positions';

CREATE FUNCTION simhash_agg_transition(internal, text) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_agg_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_transition(internal, text, float8) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_agg_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_serialize(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'simhash_agg_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_agg_deserialize(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_agg_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_agg_final(internal) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_transition(internal, text) IS 'implementation of simhash_agg(text)';
COMMENT ON FUNCTION simhash_agg_transition(internal, text, float8) IS
    'implementation of simhash_agg(text, float8)';
COMMENT ON FUNCTION simhash_agg_combine(internal, internal) IS 'implementation of simhash_agg';
COMMENT ON FUNCTION simhash_agg_serialize(internal) IS 'implementation of simhash_agg';
COMMENT ON FUNCTION simhash_agg_deserialize(bytea, internal) IS 'implementation of simhash_agg';
COMMENT ON FUNCTION simhash_agg_final(internal) IS 'implementation of simhash_agg';

CREATE AGGREGATE simhash_agg(feature text) (
    SFUNC = simhash_agg_transition, STYPE = internal, SSPACE = 1104,
    FINALFUNC = simhash_agg_final, COMBINEFUNC = simhash_agg_combine,
    SERIALFUNC = simhash_agg_serialize, DESERIALFUNC = simhash_agg_deserialize,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_agg(text) IS
    'fingerprint of the features in the rows, each of weight 1';

CREATE AGGREGATE simhash_agg(feature text, weight float8) (
    SFUNC = simhash_agg_transition, STYPE = internal, SSPACE = 1104,
    FINALFUNC = simhash_agg_final, COMBINEFUNC = simhash_agg_combine,
    SERIALFUNC = simhash_agg_serialize, DESERIALFUNC = simhash_agg_deserialize,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_agg(text, float8) IS
    'fingerprint of the features in the rows, with weights';

-- ---- for the planner ----

CREATE FUNCTION simhash_text_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_text_support'
    LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_text_support(internal) IS
    'planner support of functions of texts, which look at no collation';

ALTER FUNCTION simhash(text, text, integer, text, text) SUPPORT simhash_text_support;
ALTER FUNCTION simhash_of(text[], float8[], text) SUPPORT simhash_text_support;

-- ==== Minhash ====

CREATE FUNCTION minhash(document text, features text DEFAULT 'words', width integer DEFAULT 3)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_minhash_text'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 SUPPORT simhash_text_support;
COMMENT ON FUNCTION minhash(text, text, integer) IS
    'fingerprint of a document, by one bit of each of 64 minima of its features; null where it '
    'has none';

CREATE FUNCTION minhash_of(features text[]) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_minhash_of_text_array'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 SUPPORT simhash_text_support;
COMMENT ON FUNCTION minhash_of(text[]) IS
    'fingerprint of given features, by one bit of each of 64 minima';

CREATE FUNCTION minhash_of(hashes bigint[]) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_minhash_of_bigint_array'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash_of(bigint[]) IS
    'fingerprint of features that are hashed already, by one bit of each of 64 minima';

CREATE FUNCTION minhash(document tsvector) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_minhash_tsvector'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash(tsvector) IS
    'fingerprint of the lexemes, by one bit of each of 64 minima';

CREATE FUNCTION minhash_code(document text, bits integer DEFAULT 128, features text DEFAULT 'words',
                             width integer DEFAULT 3)
    RETURNS bit
    AS 'MODULE_PATHNAME', 'simhash_minhash_code_text'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 SUPPORT simhash_text_support;
COMMENT ON FUNCTION minhash_code(text, integer, text, integer) IS
    'code of a document, by one bit of each of 64, 128 or 256 minima of its features; null where '
    'it has none';

CREATE FUNCTION minhash_code_of(features text[], bits integer DEFAULT 128) RETURNS bit
    AS 'MODULE_PATHNAME', 'simhash_minhash_code_of_text_array'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 SUPPORT simhash_text_support;
COMMENT ON FUNCTION minhash_code_of(text[], integer) IS
    'code of given features, by one bit of each of 64, 128 or 256 minima';

CREATE FUNCTION minhash_code_of(hashes bigint[], bits integer DEFAULT 128) RETURNS bit
    AS 'MODULE_PATHNAME', 'simhash_minhash_code_of_bigint_array'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash_code_of(bigint[], integer) IS
    'code of features that are hashed already, by one bit of each of 64, 128 or 256 minima';

CREATE FUNCTION minhash_code(document tsvector, bits integer DEFAULT 128) RETURNS bit
    AS 'MODULE_PATHNAME', 'simhash_minhash_code_tsvector'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash_code(tsvector, integer) IS
    'code of the lexemes, by one bit of each of 64, 128 or 256 minima';

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
CREATE FUNCTION minhash_radius(similarity double precision, recall double precision DEFAULT 0.88)
    RETURNS integer
    AS 'MODULE_PATHNAME', 'simhash_minhash_radius'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_radius(double precision, double precision) IS
    'the least radius within which this share of the pairs of documents of this similarity lies, '
    'by minhash()';

CREATE FUNCTION minhash_similarity(distance integer, confidence double precision DEFAULT 0.95,
                                   OUT similarity double precision, OUT low double precision,
                                   OUT high double precision)
    RETURNS record
    AS 'MODULE_PATHNAME', 'simhash_minhash_similarity'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_similarity(integer, double precision) IS
    'the similarity that a distance of two fingerprints by minhash() tells, with its bounds';

-- ==== Features and hashes ====

CREATE FUNCTION simhash_features(document text, features text DEFAULT 'words',
        width integer DEFAULT NULL, OUT feature text, OUT frequency integer)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'simhash_features'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 ROWS 500;
COMMENT ON FUNCTION simhash_features(text, text, integer) IS
    'the distinct features that simhash() finds in a document, and how often each occurs';

CREATE FUNCTION simhash_hash(feature text, hash text DEFAULT 'xxh3') RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_hash'
    LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT simhash_text_support;
COMMENT ON FUNCTION simhash_hash(text, text) IS 'hash of one feature, as simhash() takes it';

-- ==== Similarity ====

CREATE FUNCTION near_duplicate(a text, b text, similarity double precision DEFAULT 0.8)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION near_duplicate(text, text, double precision) IS
    'whether two documents are near-duplicates: by the distance of their fingerprints and the '
    'similarity of their shingles';

CREATE FUNCTION documents_alike(text, text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_documents_alike'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION documents_alike(text, text) IS 'implementation of =~~ of texts';

CREATE OPERATOR =~~ (
    FUNCTION = documents_alike, LEFTARG = text, RIGHTARG = text, COMMUTATOR = =~~,
    RESTRICT = hamming_restrict, JOIN = hamming_join
);
COMMENT ON OPERATOR =~~ (text, text) IS
    'near-duplicates: whether two documents have a similarity of at least .8';

CREATE FUNCTION shingle_similarity(a text, b text, features text DEFAULT 'words',
        width integer DEFAULT 3)
    RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_shingle_similarity_text'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5000 SUPPORT simhash_text_support;
COMMENT ON FUNCTION shingle_similarity(text, text, text, integer) IS
    'Jaccard similarity of two documents'' shingle sets, 0 to 1; null where neither has a feature';

CREATE FUNCTION shingle_containment(a text, b text, features text DEFAULT 'words',
        width integer DEFAULT 3)
    RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_shingle_containment'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5000 SUPPORT simhash_text_support;
COMMENT ON FUNCTION shingle_containment(text, text, text, integer) IS
    'the share of the first document''s shingles that the second has, 0 to 1; null where the first '
    'has none';

CREATE TYPE shingle_set;

CREATE FUNCTION shingle_set_in(cstring) RETURNS shingle_set
    AS 'MODULE_PATHNAME', 'simhash_shingle_set_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_set_in(cstring) IS 'input of shingle_set';

CREATE FUNCTION shingle_set_out(shingle_set) RETURNS cstring
    AS 'MODULE_PATHNAME', 'simhash_shingle_set_out'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_set_out(shingle_set) IS 'output of shingle_set';

CREATE FUNCTION shingle_set_recv(internal) RETURNS shingle_set
    AS 'MODULE_PATHNAME', 'simhash_shingle_set_recv'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_set_recv(internal) IS 'binary input of shingle_set';

CREATE FUNCTION shingle_set_send(shingle_set) RETURNS bytea
    AS 'MODULE_PATHNAME', 'simhash_shingle_set_send'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_set_send(shingle_set) IS 'binary output of shingle_set';

-- Hashes cannot be compressed.
CREATE TYPE shingle_set (
    INPUT = shingle_set_in, OUTPUT = shingle_set_out,
    RECEIVE = shingle_set_recv, SEND = shingle_set_send,
    INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = external
);
COMMENT ON TYPE shingle_set IS
    'the set of a document''s shingles, as hashes; made by simhash_shingles(document)';

CREATE FUNCTION simhash_shingles(document text, features text DEFAULT 'words',
        width integer DEFAULT 3)
    RETURNS shingle_set
    AS 'MODULE_PATHNAME', 'simhash_shingles'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5000 SUPPORT simhash_text_support;
COMMENT ON FUNCTION simhash_shingles(text, text, integer) IS 'the set of a document''s shingles';

CREATE FUNCTION simhash_shingles_of(features text[]) RETURNS shingle_set
    AS 'MODULE_PATHNAME', 'simhash_shingles_of_text_array'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_shingles_of(text[]) IS 'the set of features of your own';

CREATE FUNCTION simhash_shingles_of(hashes bigint[]) RETURNS shingle_set
    AS 'MODULE_PATHNAME', 'simhash_shingles_of_bigint_array'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_shingles_of(bigint[]) IS
    'the set of features of your own, of which these are the hashes';

CREATE FUNCTION shingle_similarity(a shingle_set, b shingle_set) RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_shingle_similarity_shingle_set'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION shingle_similarity(shingle_set, shingle_set) IS
    'Jaccard similarity of two sets of shingles, 0 to 1; null where both are empty';

-- ---- for the planner ----

CREATE FUNCTION near_duplicate_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_support'
    LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near_duplicate_support(internal) IS
    'planner support of near_duplicate and =~~ of texts, shares_passage and &~~';

ALTER FUNCTION near_duplicate(text, text, double precision) SUPPORT near_duplicate_support;
ALTER FUNCTION documents_alike(text, text) SUPPORT near_duplicate_support;

-- ==== Passages ====

CREATE FUNCTION passage_shared(text, text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_passage_shared'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_duplicate_support;
COMMENT ON FUNCTION passage_shared(text, text) IS 'implementation of &~~ of texts';

CREATE OPERATOR &~~ (
    FUNCTION = passage_shared, LEFTARG = text, RIGHTARG = text, COMMUTATOR = &~~,
    RESTRICT = hamming_restrict, JOIN = hamming_join
);
COMMENT ON OPERATOR &~~ (text, text) IS
    'passages: whether two texts have 16 words in a row in common';

CREATE FUNCTION shares_passage(a text, b text, words integer DEFAULT 16) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_shares_passage'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_duplicate_support;
COMMENT ON FUNCTION shares_passage(text, text, integer) IS
    'whether two texts have a passage in common: so many words in a row, or more';

CREATE FUNCTION common_passages(a text, b text, words integer DEFAULT 16)
    RETURNS TABLE (a_start integer, a_length integer, b_start integer, b_length integer,
                   words integer, passage text)
    AS 'MODULE_PATHNAME', 'simhash_common_passages'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 5;
COMMENT ON FUNCTION common_passages(text, text, integer) IS
    'the passages that two texts have in common, by greedy string tiling, in the order of the first '
    'text';

CREATE FUNCTION repeated_passages(body text, words integer DEFAULT 16)
    RETURNS TABLE (start integer, length integer, first_start integer, first_length integer,
                   words integer, passage text)
    AS 'MODULE_PATHNAME', 'simhash_repeated_passages'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 5;
COMMENT ON FUNCTION repeated_passages(text, integer) IS
    'the passages of a text that stand in it before, and where they stand first';

CREATE FUNCTION without_passages(body text, passages text[], words integer DEFAULT 16)
    RETURNS text
    AS 'MODULE_PATHNAME', 'simhash_without_passages'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION without_passages(text, text[], integer) IS
    'the text without its runs of so many words that one of the passages has; a shorter passage is '
    'cut out as a whole';

CREATE FUNCTION passage_headline(a text, b text, words integer DEFAULT 16, options text DEFAULT '')
    RETURNS text
    AS 'MODULE_PATHNAME', 'simhash_passage_headline'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION passage_headline(text, text, integer, text) IS
    'the first text with its runs of so many words that the second has marked, as by ts_headline';

CREATE FUNCTION shared_passages_agg_transition(internal, text) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_shared_passages_agg_transition'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION shared_passages_agg_transition(internal, text) IS
    'transition of shared_passages_agg(text)';

CREATE FUNCTION shared_passages_agg_transition(internal, text, integer) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_shared_passages_agg_transition'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION shared_passages_agg_transition(internal, text, integer) IS
    'transition of shared_passages_agg(text, integer)';

CREATE FUNCTION shared_passages_agg_transition(internal, text, integer, integer, integer)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_shared_passages_agg_transition'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION shared_passages_agg_transition(internal, text, integer, integer, integer) IS
    'transition of shared_passages_agg(text, integer, integer, integer)';

CREATE FUNCTION shared_passages_agg_final(internal) RETURNS text[]
    AS 'MODULE_PATHNAME', 'simhash_shared_passages_agg_final'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shared_passages_agg_final(internal) IS
    'final function of shared_passages_agg';

CREATE AGGREGATE shared_passages_agg(body text) (
    SFUNC = shared_passages_agg_transition, STYPE = internal, SSPACE = 32768,
    FINALFUNC = shared_passages_agg_final, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE);
COMMENT ON AGGREGATE shared_passages_agg(text) IS
    'passages of 16 words or more that at least 2 of the texts have, each once';

CREATE AGGREGATE shared_passages_agg(body text, least_documents integer) (
    SFUNC = shared_passages_agg_transition, STYPE = internal, SSPACE = 32768,
    FINALFUNC = shared_passages_agg_final, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE);
COMMENT ON AGGREGATE shared_passages_agg(text, integer) IS
    'passages of 16 words or more that at least so many of the texts have, each once';

CREATE AGGREGATE shared_passages_agg(body text, least_documents integer, most_documents integer,
        words integer) (
    SFUNC = shared_passages_agg_transition, STYPE = internal, SSPACE = 32768,
    FINALFUNC = shared_passages_agg_final, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE);
COMMENT ON AGGREGATE shared_passages_agg(text, integer, integer, integer) IS
    'passages of so many words or more that at least and at most so many of the texts have, each '
    'once';

CREATE FUNCTION passage_hashes(document text) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_passage_hashes'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT simhash_text_support;
COMMENT ON FUNCTION passage_hashes(text) IS
    'hashes of few of a document''s runs of 8 words: two documents with 16 words in a row in common '
    'have one of them in common';

CREATE FUNCTION passage_hashes(document text, words integer) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_passage_hashes'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT simhash_text_support;
COMMENT ON FUNCTION passage_hashes(text, integer) IS
    'hashes of few of a document''s runs of words: two documents with so many words in a row in '
    'common have one of them in common';

CREATE TYPE passage_query AS (document text, words integer);
COMMENT ON TYPE passage_query IS
    'what is searched for by &~~: the words of a document, and how many in a row are a passage';

CREATE FUNCTION passage_query(document text, words integer) RETURNS passage_query
    AS 'MODULE_PATHNAME', 'simhash_passage_query'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION passage_query(text, integer) IS
    'a query for documents that share a passage of so many words, or more';

CREATE FUNCTION passage_query_shared(text, passage_query) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_passage_query_shared'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION passage_query_shared(text, passage_query) IS
    'implementation of &~~ of a text and a query';

CREATE OPERATOR &~~ (
    FUNCTION = passage_query_shared, LEFTARG = text, RIGHTARG = passage_query,
    RESTRICT = hamming_restrict, JOIN = hamming_join
);
COMMENT ON OPERATOR &~~ (text, passage_query) IS
    'passages: whether a text shares one with the query''s document, of as many words as it says';

-- ==== Conversions ====

CREATE FUNCTION simhash_to_hex(fp bigint) RETURNS text
    AS 'MODULE_PATHNAME', 'simhash_to_hex'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_to_hex(bigint) IS 'fingerprint as 16 hexadecimal digits';

CREATE FUNCTION simhash_from_hex(digits text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_from_hex'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT simhash_text_support;
COMMENT ON FUNCTION simhash_from_hex(text) IS
    'fingerprint from 1 to 16 hexadecimal digits, with or without 0x before them';

CREATE FUNCTION code_from_hex(digits text) RETURNS bit
    AS 'MODULE_PATHNAME', 'simhash_code_from_hex'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT simhash_text_support;
COMMENT ON FUNCTION code_from_hex(text) IS 'code from hexadecimal digits, 4 bits of each';

CREATE FUNCTION code_from_hex(digits text, bits integer) RETURNS bit
    AS 'MODULE_PATHNAME', 'simhash_code_from_hex'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION code_from_hex(text, integer) IS
    'code of so many bits from as many hexadecimal digits as these fill';

CREATE FUNCTION simhash_to_unsigned(fp bigint) RETURNS numeric
    AS 'MODULE_PATHNAME', 'simhash_to_unsigned'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_to_unsigned(bigint) IS 'fingerprint as a number from 0 to 2^64 - 1';

CREATE FUNCTION simhash_from_unsigned(number numeric) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_from_unsigned'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_from_unsigned(numeric) IS
    'fingerprint from a number from 0 to 2^64 - 1';

-- ==== The index ====

CREATE FUNCTION simhash_handler(internal) RETURNS index_am_handler
    AS 'MODULE_PATHNAME', 'simhash_handler'
    LANGUAGE C;
COMMENT ON FUNCTION simhash_handler(internal) IS 'handler of the index access method simhash';

CREATE ACCESS METHOD simhash TYPE INDEX HANDLER simhash_handler;
COMMENT ON ACCESS METHOD simhash IS
    'exact search within a Hamming distance; options: radius, tables, fillfactor';

CREATE OPERATOR CLASS simhash_ops DEFAULT FOR TYPE bigint USING simhash AS
    OPERATOR 1 <@ (bigint, hamming_ball),
    OPERATOR 2 = (bigint, bigint),
    OPERATOR 2 = (bigint, integer),
    OPERATOR 2 = (bigint, smallint),
    OPERATOR 3 ~= (bigint, bigint),
    OPERATOR 4 <~> (bigint, bigint) FOR ORDER BY pg_catalog.integer_ops,
    OPERATOR 101 ~|= (bigint, bigint),
    OPERATOR 102 ~||= (bigint, bigint),
    OPERATOR 103 ~|||= (bigint, bigint),
    OPERATOR 104 ~||||= (bigint, bigint),
    OPERATOR 105 ~|||||= (bigint, bigint),
    OPERATOR 106 ~||||||= (bigint, bigint),
    OPERATOR 107 ~|||||||= (bigint, bigint),
    OPERATOR 108 ~||||||||= (bigint, bigint),
    OPERATOR 6 <> (bigint, bigint),
    FUNCTION 1 hashint8extended (bigint, bigint),
    FUNCTION 1 (integer, integer) hashint4extended (integer, bigint),
    FUNCTION 1 (smallint, smallint) hashint2extended (smallint, bigint);
COMMENT ON OPERATOR CLASS simhash_ops USING simhash IS
    'fingerprints, 64 bits in a bigint, and scopes of bigint';
COMMENT ON OPERATOR FAMILY simhash_ops USING simhash IS
    'fingerprints, 64 bits in a bigint, and scopes of bigint';

CREATE FUNCTION document_in_ball(text, bit_ball) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_document_in_ball'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION document_in_ball(text, bit_ball) IS 'implementation of <@~~';

-- Not <@, where a literal without a type would be taken for a text, and not for a code.
CREATE OPERATOR <@~~ (
    FUNCTION = document_in_ball, LEFTARG = text, RIGHTARG = bit_ball,
    RESTRICT = hamming_restrict, JOIN = hamming_join
);
COMMENT ON OPERATOR <@~~ (text, bit_ball) IS
    'whether a half of the document''s minhash_code() is within the radius of that of the center';

CREATE FUNCTION document_lanes(text) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_document_lanes'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION document_lanes(text) IS
    'the lanes by which an index finds a text: the halves of minhash_code(), or none';

CREATE FUNCTION document_lane_layout(type_modifier integer) RETURNS integer[]
    AS 'MODULE_PATHNAME', 'simhash_document_lane_layout'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION document_lane_layout(integer) IS
    'what an index is to know of a column of text: the number of lanes, the radius of =~~, and that '
    'one lane within a radius is enough';

CREATE OPERATOR CLASS text_ops DEFAULT FOR TYPE text USING simhash AS
    OPERATOR 1 <@~~ (text, bit_ball),
    OPERATOR 2 = (text, text),
    OPERATOR 5 =~~ (text, text),
    OPERATOR 6 <> (text, text),
    FUNCTION 1 (text, text) hashtextextended (text, bigint),
    FUNCTION 2 (text, text) document_lanes (text),
    FUNCTION 3 (text, text) document_lane_layout (integer);
COMMENT ON OPERATOR CLASS text_ops USING simhash IS 'documents, and scopes of text';
COMMENT ON OPERATOR FAMILY text_ops USING simhash IS 'documents, and scopes of text';

CREATE FUNCTION passage_lane_layout(type_modifier integer) RETURNS integer[]
    AS 'MODULE_PATHNAME', 'simhash_passage_lane_layout'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION passage_lane_layout(integer) IS
    'what an index is to know of a column of text whose passages are searched: that a text has any '
    'number of hashes, and that one in common is enough';

CREATE FUNCTION passage_query_hashes(query passage_query) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_passage_query_hashes'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION passage_query_hashes(passage_query) IS
    'the hashes by which an index on passages finds what a query searches for; null if it has '
    'fewer words than the index is made for';

CREATE FUNCTION passage_options(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'simhash_passage_options'
    LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION passage_options(internal) IS 'the options of passage_ops: words';

CREATE OPERATOR CLASS passage_ops FOR TYPE text USING simhash AS
    OPERATOR 2 = (text, text),
    OPERATOR 5 &~~ (text, text),
    OPERATOR 5 &~~ (text, passage_query),
    FUNCTION 1 (text, text) hashtextextended (text, bigint),
    FUNCTION 2 (text, text) passage_hashes (text),
    FUNCTION 2 (text, passage_query) passage_query_hashes (passage_query),
    FUNCTION 3 (text, text) passage_lane_layout (integer),
    FUNCTION 4 (text, text) passage_options (internal);
COMMENT ON OPERATOR CLASS passage_ops USING simhash IS
    'passages of documents: 16 words in a row or more, or another number (words)';
COMMENT ON OPERATOR FAMILY passage_ops USING simhash IS
    'passages of documents: 16 words in a row or more, or another number (words)';

CREATE FUNCTION bit_lanes(code bit, type_modifier integer DEFAULT -1) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_bit_lanes'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_lanes(bit, integer) IS
    'the lanes by which an index finds a code: its bits, scattered to lanes of 64; null where the '
    'type modifier is another length';

-- Null where the type modifier, that of bit(n), gives no length.
CREATE FUNCTION bit_lane_layout(type_modifier integer) RETURNS integer[]
    AS 'MODULE_PATHNAME', 'simhash_bit_lane_layout'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_lane_layout(integer) IS
    'what an index is to know of a column of bit(n): the number of lanes of a code, the radius of '
    '=~~, that distances of lanes add up (0), and the number of bits';

CREATE OPERATOR CLASS bit_ops DEFAULT FOR TYPE bit USING simhash AS
    OPERATOR 1 <@ (bit, bit_ball),
    OPERATOR 2 = (bit, bit),
    OPERATOR 4 <~~> (bit, bit) FOR ORDER BY pg_catalog.integer_ops,
    OPERATOR 5 =~~ (bit, bit),
    OPERATOR 6 <> (bit, bit),
    FUNCTION 1 (bit, bit) hashvarlenaextended (internal, bigint),
    FUNCTION 2 (bit, bit) bit_lanes (bit, integer),
    FUNCTION 3 (bit, bit) bit_lane_layout (integer);
COMMENT ON OPERATOR CLASS bit_ops USING simhash IS
    'codes, as many bits as a bit(n) has, and scopes of bit';
COMMENT ON OPERATOR FAMILY bit_ops USING simhash IS
    'codes, as many bits as a bit(n) has, and scopes of bit';

-- Scopes, the columns after the first (src/index/scope.hpp): equality of each type, and the
-- extended hash function that goes with it. Operators 6 and 7 are for exclusion constraints, and
-- narrow no search (src/index/README.md, "Compared columns").
CREATE OPERATOR CLASS integer_scope_ops DEFAULT FOR TYPE integer USING simhash AS
    OPERATOR 2 = (integer, integer),
    OPERATOR 2 = (integer, bigint),
    OPERATOR 2 = (integer, smallint),
    OPERATOR 6 <> (integer, integer),
    FUNCTION 1 hashint4extended (integer, bigint),
    FUNCTION 1 (bigint, bigint) hashint8extended (bigint, bigint),
    FUNCTION 1 (smallint, smallint) hashint2extended (smallint, bigint);

CREATE OPERATOR CLASS smallint_scope_ops DEFAULT FOR TYPE smallint USING simhash AS
    OPERATOR 2 = (smallint, smallint),
    OPERATOR 2 = (smallint, bigint),
    OPERATOR 2 = (smallint, integer),
    OPERATOR 6 <> (smallint, smallint),
    FUNCTION 1 hashint2extended (smallint, bigint),
    FUNCTION 1 (bigint, bigint) hashint8extended (bigint, bigint),
    FUNCTION 1 (integer, integer) hashint4extended (integer, bigint);
COMMENT ON OPERATOR CLASS integer_scope_ops USING simhash IS 'scopes of integer';
COMMENT ON OPERATOR FAMILY integer_scope_ops USING simhash IS 'scopes of integer';
COMMENT ON OPERATOR CLASS smallint_scope_ops USING simhash IS 'scopes of smallint';
COMMENT ON OPERATOR FAMILY smallint_scope_ops USING simhash IS 'scopes of smallint';

CREATE OPERATOR CLASS name_scope_ops DEFAULT FOR TYPE name USING simhash AS
    OPERATOR 2 = (name, name), OPERATOR 6 <> (name, name),
    FUNCTION 1 (name, name) hashnameextended (name, bigint);
COMMENT ON OPERATOR CLASS name_scope_ops USING simhash IS 'scopes of name';
COMMENT ON OPERATOR FAMILY name_scope_ops USING simhash IS 'scopes of name';

CREATE OPERATOR CLASS character_scope_ops DEFAULT FOR TYPE character USING simhash AS
    OPERATOR 2 = (character, character), OPERATOR 6 <> (character, character),
    FUNCTION 1 (character, character) hashbpcharextended (character, bigint);
COMMENT ON OPERATOR CLASS character_scope_ops USING simhash IS 'scopes of character';
COMMENT ON OPERATOR FAMILY character_scope_ops USING simhash IS 'scopes of character';

CREATE OPERATOR CLASS char_scope_ops DEFAULT FOR TYPE "char" USING simhash AS
    OPERATOR 2 = ("char", "char"), OPERATOR 6 <> ("char", "char"),
    FUNCTION 1 ("char", "char") hashcharextended ("char", bigint);
COMMENT ON OPERATOR CLASS char_scope_ops USING simhash IS 'scopes of "char"';
COMMENT ON OPERATOR FAMILY char_scope_ops USING simhash IS 'scopes of "char"';

CREATE OPERATOR CLASS bytea_scope_ops DEFAULT FOR TYPE bytea USING simhash AS
    OPERATOR 2 = (bytea, bytea), OPERATOR 6 <> (bytea, bytea),
    FUNCTION 1 (bytea, bytea) hashvarlenaextended (internal, bigint);
COMMENT ON OPERATOR CLASS bytea_scope_ops USING simhash IS 'scopes of bytea';
COMMENT ON OPERATOR FAMILY bytea_scope_ops USING simhash IS 'scopes of bytea';

CREATE OPERATOR CLASS boolean_scope_ops DEFAULT FOR TYPE boolean USING simhash AS
    OPERATOR 2 = (boolean, boolean), OPERATOR 6 <> (boolean, boolean),
    FUNCTION 1 (boolean, boolean) hashcharextended ("char", bigint);
COMMENT ON OPERATOR CLASS boolean_scope_ops USING simhash IS 'scopes of boolean';
COMMENT ON OPERATOR FAMILY boolean_scope_ops USING simhash IS 'scopes of boolean';

CREATE OPERATOR CLASS uuid_scope_ops DEFAULT FOR TYPE uuid USING simhash AS
    OPERATOR 2 = (uuid, uuid), OPERATOR 6 <> (uuid, uuid),
    FUNCTION 1 (uuid, uuid) uuid_hash_extended (uuid, bigint);
COMMENT ON OPERATOR CLASS uuid_scope_ops USING simhash IS 'scopes of uuid';
COMMENT ON OPERATOR FAMILY uuid_scope_ops USING simhash IS 'scopes of uuid';

CREATE OPERATOR CLASS numeric_scope_ops DEFAULT FOR TYPE numeric USING simhash AS
    OPERATOR 2 = (numeric, numeric), OPERATOR 6 <> (numeric, numeric),
    FUNCTION 1 (numeric, numeric) hash_numeric_extended (numeric, bigint);
COMMENT ON OPERATOR CLASS numeric_scope_ops USING simhash IS 'scopes of numeric';
COMMENT ON OPERATOR FAMILY numeric_scope_ops USING simhash IS 'scopes of numeric';

CREATE OPERATOR CLASS real_scope_ops DEFAULT FOR TYPE real USING simhash AS
    OPERATOR 2 = (real, real), OPERATOR 6 <> (real, real),
    FUNCTION 1 (real, real) hashfloat4extended (real, bigint);
COMMENT ON OPERATOR CLASS real_scope_ops USING simhash IS 'scopes of real';
COMMENT ON OPERATOR FAMILY real_scope_ops USING simhash IS 'scopes of real';

CREATE OPERATOR CLASS double_scope_ops DEFAULT FOR TYPE double precision USING simhash AS
    OPERATOR 2 = (double precision, double precision),
    OPERATOR 6 <> (double precision, double precision),
    FUNCTION 1 (double precision, double precision) hashfloat8extended (double precision, bigint);
COMMENT ON OPERATOR CLASS double_scope_ops USING simhash IS 'scopes of double precision';
COMMENT ON OPERATOR FAMILY double_scope_ops USING simhash IS 'scopes of double precision';

CREATE OPERATOR CLASS oid_scope_ops DEFAULT FOR TYPE oid USING simhash AS
    OPERATOR 2 = (oid, oid), OPERATOR 6 <> (oid, oid),
    FUNCTION 1 (oid, oid) hashoidextended (oid, bigint);
COMMENT ON OPERATOR CLASS oid_scope_ops USING simhash IS 'scopes of oid';
COMMENT ON OPERATOR FAMILY oid_scope_ops USING simhash IS 'scopes of oid';

CREATE OPERATOR CLASS date_scope_ops DEFAULT FOR TYPE date USING simhash AS
    OPERATOR 2 = (date, date), OPERATOR 6 <> (date, date),
    FUNCTION 1 (date, date) hashint4extended (integer, bigint);
COMMENT ON OPERATOR CLASS date_scope_ops USING simhash IS 'scopes of date';
COMMENT ON OPERATOR FAMILY date_scope_ops USING simhash IS 'scopes of date';

CREATE OPERATOR CLASS time_scope_ops DEFAULT FOR TYPE time USING simhash AS
    OPERATOR 2 = (time, time), OPERATOR 6 <> (time, time),
    FUNCTION 1 (time, time) time_hash_extended (time, bigint);
COMMENT ON OPERATOR CLASS time_scope_ops USING simhash IS 'scopes of time';
COMMENT ON OPERATOR FAMILY time_scope_ops USING simhash IS 'scopes of time';

CREATE OPERATOR CLASS timetz_scope_ops DEFAULT FOR TYPE timetz USING simhash AS
    OPERATOR 2 = (timetz, timetz), OPERATOR 6 <> (timetz, timetz),
    FUNCTION 1 (timetz, timetz) timetz_hash_extended (timetz, bigint);
COMMENT ON OPERATOR CLASS timetz_scope_ops USING simhash IS 'scopes of timetz';
COMMENT ON OPERATOR FAMILY timetz_scope_ops USING simhash IS 'scopes of timetz';

CREATE OPERATOR CLASS timestamp_scope_ops DEFAULT FOR TYPE timestamp USING simhash AS
    OPERATOR 2 = (timestamp, timestamp), OPERATOR 6 <> (timestamp, timestamp),
    FUNCTION 1 (timestamp, timestamp) timestamp_hash_extended (timestamp, bigint);
COMMENT ON OPERATOR CLASS timestamp_scope_ops USING simhash IS 'scopes of timestamp';
COMMENT ON OPERATOR FAMILY timestamp_scope_ops USING simhash IS 'scopes of timestamp';

CREATE OPERATOR CLASS timestamptz_scope_ops DEFAULT FOR TYPE timestamptz USING simhash AS
    OPERATOR 2 = (timestamptz, timestamptz), OPERATOR 6 <> (timestamptz, timestamptz),
    FUNCTION 1 (timestamptz, timestamptz) timestamp_hash_extended (timestamp, bigint);
COMMENT ON OPERATOR CLASS timestamptz_scope_ops USING simhash IS 'scopes of timestamptz';
COMMENT ON OPERATOR FAMILY timestamptz_scope_ops USING simhash IS 'scopes of timestamptz';

CREATE OPERATOR CLASS interval_scope_ops DEFAULT FOR TYPE interval USING simhash AS
    OPERATOR 2 = (interval, interval), OPERATOR 6 <> (interval, interval),
    FUNCTION 1 (interval, interval) interval_hash_extended (interval, bigint);
COMMENT ON OPERATOR CLASS interval_scope_ops USING simhash IS 'scopes of interval';
COMMENT ON OPERATOR FAMILY interval_scope_ops USING simhash IS 'scopes of interval';

CREATE OPERATOR CLASS inet_scope_ops DEFAULT FOR TYPE inet USING simhash AS
    OPERATOR 2 = (inet, inet), OPERATOR 6 <> (inet, inet),
    FUNCTION 1 (inet, inet) hashinetextended (inet, bigint);
COMMENT ON OPERATOR CLASS inet_scope_ops USING simhash IS 'scopes of inet';
COMMENT ON OPERATOR FAMILY inet_scope_ops USING simhash IS 'scopes of inet';

CREATE OPERATOR CLASS macaddr_scope_ops DEFAULT FOR TYPE macaddr USING simhash AS
    OPERATOR 2 = (macaddr, macaddr), OPERATOR 6 <> (macaddr, macaddr),
    FUNCTION 1 (macaddr, macaddr) hashmacaddrextended (macaddr, bigint);
COMMENT ON OPERATOR CLASS macaddr_scope_ops USING simhash IS 'scopes of macaddr';
COMMENT ON OPERATOR FAMILY macaddr_scope_ops USING simhash IS 'scopes of macaddr';

CREATE OPERATOR CLASS macaddr8_scope_ops DEFAULT FOR TYPE macaddr8 USING simhash AS
    OPERATOR 2 = (macaddr8, macaddr8), OPERATOR 6 <> (macaddr8, macaddr8),
    FUNCTION 1 (macaddr8, macaddr8) hashmacaddr8extended (macaddr8, bigint);
COMMENT ON OPERATOR CLASS macaddr8_scope_ops USING simhash IS 'scopes of macaddr8';
COMMENT ON OPERATOR FAMILY macaddr8_scope_ops USING simhash IS 'scopes of macaddr8';

CREATE OPERATOR CLASS pg_lsn_scope_ops DEFAULT FOR TYPE pg_lsn USING simhash AS
    OPERATOR 2 = (pg_lsn, pg_lsn), OPERATOR 6 <> (pg_lsn, pg_lsn),
    FUNCTION 1 (pg_lsn, pg_lsn) pg_lsn_hash_extended (pg_lsn, bigint);
COMMENT ON OPERATOR CLASS pg_lsn_scope_ops USING simhash IS 'scopes of pg_lsn';
COMMENT ON OPERATOR FAMILY pg_lsn_scope_ops USING simhash IS 'scopes of pg_lsn';

CREATE OPERATOR CLASS jsonb_scope_ops DEFAULT FOR TYPE jsonb USING simhash AS
    OPERATOR 2 = (jsonb, jsonb), OPERATOR 6 <> (jsonb, jsonb),
    FUNCTION 1 (jsonb, jsonb) jsonb_hash_extended (jsonb, bigint);
COMMENT ON OPERATOR CLASS jsonb_scope_ops USING simhash IS 'scopes of jsonb';
COMMENT ON OPERATOR FAMILY jsonb_scope_ops USING simhash IS 'scopes of jsonb';

CREATE OPERATOR CLASS enum_scope_ops DEFAULT FOR TYPE anyenum USING simhash AS
    OPERATOR 2 = (anyenum, anyenum), OPERATOR 6 <> (anyenum, anyenum),
    FUNCTION 1 (anyenum, anyenum) hashenumextended (anyenum, bigint);
COMMENT ON OPERATOR CLASS enum_scope_ops USING simhash IS 'scopes of anyenum';
COMMENT ON OPERATOR FAMILY enum_scope_ops USING simhash IS 'scopes of anyenum';

CREATE OPERATOR CLASS array_scope_ops DEFAULT FOR TYPE anyarray USING simhash AS
    OPERATOR 2 = (anyarray, anyarray), OPERATOR 6 <> (anyarray, anyarray),
    FUNCTION 1 (anyarray, anyarray) hash_array_extended (anyarray, bigint);
COMMENT ON OPERATOR CLASS array_scope_ops USING simhash IS 'scopes of anyarray';
COMMENT ON OPERATOR FAMILY array_scope_ops USING simhash IS 'scopes of anyarray';

CREATE OPERATOR CLASS range_scope_ops DEFAULT FOR TYPE anyrange USING simhash AS
    OPERATOR 2 = (anyrange, anyrange), OPERATOR 6 <> (anyrange, anyrange),
    OPERATOR 7 && (anyrange, anyrange),
    FUNCTION 1 (anyrange, anyrange) hash_range_extended (anyrange, bigint);
COMMENT ON OPERATOR CLASS range_scope_ops USING simhash IS 'scopes of anyrange';
COMMENT ON OPERATOR FAMILY range_scope_ops USING simhash IS 'scopes of anyrange';

CREATE OPERATOR CLASS multirange_scope_ops DEFAULT FOR TYPE anymultirange USING simhash AS
    OPERATOR 2 = (anymultirange, anymultirange), OPERATOR 6 <> (anymultirange, anymultirange),
    OPERATOR 7 && (anymultirange, anymultirange),
    FUNCTION 1 (anymultirange, anymultirange) hash_multirange_extended (anymultirange, bigint);
COMMENT ON OPERATOR CLASS multirange_scope_ops USING simhash IS 'scopes of anymultirange';
COMMENT ON OPERATOR FAMILY multirange_scope_ops USING simhash IS 'scopes of anymultirange';

CREATE OPERATOR CLASS record_scope_ops DEFAULT FOR TYPE record USING simhash AS
    OPERATOR 2 = (record, record), OPERATOR 6 <> (record, record),
    FUNCTION 1 (record, record) hash_record_extended (record, bigint);
COMMENT ON OPERATOR CLASS record_scope_ops USING simhash IS 'scopes of record';
COMMENT ON OPERATOR FAMILY record_scope_ops USING simhash IS 'scopes of record';

CREATE OPERATOR CLASS varbit_scope_ops DEFAULT FOR TYPE bit varying USING simhash AS
    OPERATOR 2 = (bit varying, bit varying), OPERATOR 6 <> (bit varying, bit varying),
    FUNCTION 1 (bit varying, bit varying) hashvarlenaextended (internal, bigint);
COMMENT ON OPERATOR CLASS varbit_scope_ops USING simhash IS 'scopes of bit varying';
COMMENT ON OPERATOR FAMILY varbit_scope_ops USING simhash IS 'scopes of bit varying';

-- Types for which CREATE INDEX says what to write instead (src/index/first_column.cpp). Without a
-- class, the server's error would say only that there is none.
CREATE OPERATOR CLASS json_ops DEFAULT FOR TYPE json USING simhash AS STORAGE json;
COMMENT ON OPERATOR CLASS json_ops USING simhash IS 'refused, with a hint';
COMMENT ON OPERATOR FAMILY json_ops USING simhash IS 'refused, with a hint';

CREATE OPERATOR CLASS tsvector_ops DEFAULT FOR TYPE tsvector USING simhash AS STORAGE tsvector;
COMMENT ON OPERATOR CLASS tsvector_ops USING simhash IS 'refused, with a hint';
COMMENT ON OPERATOR FAMILY tsvector_ops USING simhash IS 'refused, with a hint';

CREATE OPERATOR CLASS xml_ops DEFAULT FOR TYPE xml USING simhash AS STORAGE xml;
COMMENT ON OPERATOR CLASS xml_ops USING simhash IS 'refused, with a hint';
COMMENT ON OPERATOR FAMILY xml_ops USING simhash IS 'refused, with a hint';

-- ==== Whole tables ====

-- These run a query, which may be about anything, so they are volatile and parallel unsafe. id_type
-- gives the type of the ids, and nothing else. The form that has it has no defaults: no call fits
-- both forms, and where a default is left out of a call in FROM, the server does not find out which
-- type a polymorphic column has. ROWS and COST stand for a table of a hundred thousand rows.
CREATE FUNCTION near_duplicate_pairs(query text, similarity double precision DEFAULT 0.8)
    RETURNS TABLE (id bigint, other bigint, similarity double precision)
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_pairs'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION near_duplicate_pairs(text, double precision) IS
    'every pair of near-duplicates among the documents that the query returns as (id, text), once, '
    'with their exact similarity';

CREATE FUNCTION near_duplicate_pairs(query text, similarity double precision, id_type anyelement)
    RETURNS TABLE (id anyelement, other anyelement, similarity double precision)
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_pairs'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION near_duplicate_pairs(text, double precision, anyelement) IS
    'every pair of near-duplicates among the documents that the query returns as (id, text), with '
    'ids of any type';

CREATE FUNCTION near_duplicate_groups(query text, similarity double precision DEFAULT 0.8,
        chains boolean DEFAULT false)
    RETURNS TABLE (id bigint, original bigint, similarity double precision)
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_groups'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION near_duplicate_groups(text, double precision, boolean) IS
    'for every document that the query returns as (id, text), the first original of which it is a '
    'near-duplicate, with their similarity, or itself';

CREATE FUNCTION near_duplicate_groups(query text, similarity double precision, chains boolean,
        id_type anyelement)
    RETURNS TABLE (id anyelement, original anyelement, similarity double precision)
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_groups'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION near_duplicate_groups(text, double precision, boolean, anyelement) IS
    'for every document that the query returns as (id, text), its original, with ids of any type';

CREATE FUNCTION near_duplicate_join(a_query text, b_query text,
        similarity double precision DEFAULT 0.8)
    RETURNS TABLE (id bigint, other bigint, similarity double precision)
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_join'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION near_duplicate_join(text, text, double precision) IS
    'every pair of near-duplicates of which the one query returns one, as (id, text), and the other '
    'query the other, with their exact similarity';

CREATE FUNCTION near_duplicate_join(a_query text, b_query text, similarity double precision,
        id_type anyelement)
    RETURNS TABLE (id anyelement, other anyelement, similarity double precision)
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_join'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION near_duplicate_join(text, text, double precision, anyelement) IS
    'every pair of near-duplicates of which the one query returns one, and the other query the '
    'other, with ids of any type';

CREATE FUNCTION passage_pairs(query text, words integer DEFAULT 16,
        most_documents integer DEFAULT 1000)
    RETURNS TABLE (id bigint, other bigint, words integer)
    AS 'MODULE_PATHNAME', 'simhash_passage_pairs'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION passage_pairs(text, integer, integer) IS
    'every pair of documents that the query returns as (id, text) with so many words in a row in '
    'common, once, with the length of the longest run; what more documents have pairs none';

CREATE FUNCTION passage_pairs(query text, words integer, most_documents integer,
        id_type anyelement)
    RETURNS TABLE (id anyelement, other anyelement, words integer)
    AS 'MODULE_PATHNAME', 'simhash_passage_pairs'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION passage_pairs(text, integer, integer, anyelement) IS
    'every pair of documents that the query returns as (id, text) with so many words in a row in '
    'common, with ids of any type';

CREATE FUNCTION passage_join(a_query text, b_query text, words integer DEFAULT 16,
        most_documents integer DEFAULT 1000)
    RETURNS TABLE (id bigint, other bigint, words integer)
    AS 'MODULE_PATHNAME', 'simhash_passage_join'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION passage_join(text, text, integer, integer) IS
    'every pair of documents with so many words in a row in common of which the one query '
    'returns one, as (id, text), and the other query the other, with the length of the longest '
    'run; what more documents have pairs none';

CREATE FUNCTION passage_join(a_query text, b_query text, words integer, most_documents integer,
        id_type anyelement)
    RETURNS TABLE (id anyelement, other anyelement, words integer)
    AS 'MODULE_PATHNAME', 'simhash_passage_join'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION passage_join(text, text, integer, integer, anyelement) IS
    'every pair of documents with so many words in a row in common of which the one query '
    'returns one, and the other query the other, with ids of any type';

CREATE FUNCTION passage_groups(query text, words integer DEFAULT 16,
        most_documents integer DEFAULT 1000, chains boolean DEFAULT false)
    RETURNS TABLE (id bigint, original bigint, words integer)
    AS 'MODULE_PATHNAME', 'simhash_passage_groups'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION passage_groups(text, integer, integer, boolean) IS
    'for every document that the query returns as (id, text), the first original with so many '
    'words in a row in common, with the length of the longest run, or itself; what more '
    'documents have groups none';

CREATE FUNCTION passage_groups(query text, words integer, most_documents integer, chains boolean,
        id_type anyelement)
    RETURNS TABLE (id anyelement, original anyelement, words integer)
    AS 'MODULE_PATHNAME', 'simhash_passage_groups'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION passage_groups(text, integer, integer, boolean, anyelement) IS
    'for every document that the query returns as (id, text), its original, with ids of any '
    'type';

CREATE FUNCTION containment_pairs(query text, containment double precision DEFAULT 0.8,
        most_documents integer DEFAULT 1000)
    RETURNS TABLE (id bigint, other bigint, containment double precision)
    AS 'MODULE_PATHNAME', 'simhash_containment_pairs'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION containment_pairs(text, double precision, integer) IS
    'pairs of documents that the query returns as (id, text) of which the other has so much of '
    'the shingles of the first; finds nearly all';

CREATE FUNCTION containment_pairs(query text, containment double precision, most_documents integer,
        id_type anyelement)
    RETURNS TABLE (id anyelement, other anyelement, containment double precision)
    AS 'MODULE_PATHNAME', 'simhash_containment_pairs'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION containment_pairs(text, double precision, integer, anyelement) IS
    'pairs of documents that the query returns as (id, text) of which the other has so much of '
    'the shingles of the first, with ids of any type';

CREATE FUNCTION simhash_pairs(query text, radius integer)
    RETURNS TABLE (id bigint, other bigint, distance integer)
    AS 'MODULE_PATHNAME', 'simhash_pairs'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simhash_pairs(text, integer) IS
    'every pair of rows within the radius among those that the query returns as (id, fingerprint) '
    'or (id, code), once, with their distance';

CREATE FUNCTION simhash_pairs(query text, radius integer, id_type anyelement)
    RETURNS TABLE (id anyelement, other anyelement, distance integer)
    AS 'MODULE_PATHNAME', 'simhash_pairs'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simhash_pairs(text, integer, anyelement) IS
    'every pair of rows within the radius among those that the query returns as (id, fingerprint) '
    'or (id, code), with ids of any type';

CREATE FUNCTION simhash_groups(query text, radius integer, chains boolean DEFAULT false)
    RETURNS TABLE (id bigint, original bigint, distance integer)
    AS 'MODULE_PATHNAME', 'simhash_groups'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simhash_groups(text, integer, boolean) IS
    'for every row that the query returns as (id, fingerprint) or (id, code), the first original '
    'within the radius, with their distance, or itself';

CREATE FUNCTION simhash_groups(query text, radius integer, chains boolean, id_type anyelement)
    RETURNS TABLE (id anyelement, original anyelement, distance integer)
    AS 'MODULE_PATHNAME', 'simhash_groups'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simhash_groups(text, integer, boolean, anyelement) IS
    'for every row that the query returns as (id, fingerprint) or (id, code), its original, with '
    'ids of any type';

CREATE FUNCTION simhash_join(a_query text, b_query text, radius integer)
    RETURNS TABLE (id bigint, other bigint, distance integer)
    AS 'MODULE_PATHNAME', 'simhash_join'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simhash_join(text, text, integer) IS
    'every pair within the radius of a row that the one query returns, as (id, fingerprint) or '
    '(id, code), and one that the other returns, with their distance';

CREATE FUNCTION simhash_join(a_query text, b_query text, radius integer, id_type anyelement)
    RETURNS TABLE (id anyelement, other anyelement, distance integer)
    AS 'MODULE_PATHNAME', 'simhash_join'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simhash_join(text, text, integer, anyelement) IS
    'every pair within the radius of a row that the one query returns, and one that the other '
    'returns, with ids of any type';

CREATE FUNCTION simhash_cluster(fp bigint, radius integer DEFAULT 3) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_cluster'
    LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_cluster(bigint, integer) IS
    'Window function: the smallest fingerprint of the row''s cluster; rows are in one cluster '
    'where a chain of rows links them, each within the radius of the next';

CREATE TYPE simhash_pair AS (a bigint, b bigint, distance integer);
COMMENT ON TYPE simhash_pair IS 'two fingerprints and their distance';

-- No combine function: pairs are between all rows of a group, so a part of them is not a partial
-- result.
CREATE FUNCTION simhash_pairs_agg_transition(internal, bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_pairs_agg_transition'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_pairs_agg_transition(internal, bigint) IS
    'transition of simhash_pairs_agg(bigint)';

CREATE FUNCTION simhash_pairs_agg_transition(internal, bigint, integer) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_pairs_agg_transition'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_pairs_agg_transition(internal, bigint, integer) IS
    'transition of simhash_pairs_agg(bigint, integer)';

CREATE FUNCTION simhash_pairs_agg_final(internal) RETURNS simhash_pair[]
    AS 'MODULE_PATHNAME', 'simhash_pairs_agg_final'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_pairs_agg_final(internal) IS 'final function of simhash_pairs_agg';

CREATE AGGREGATE simhash_pairs_agg(fp bigint) (
    SFUNC = simhash_pairs_agg_transition, STYPE = internal, SSPACE = 512,
    FINALFUNC = simhash_pairs_agg_final, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_pairs_agg(bigint) IS
    'every pair of different fingerprints of the rows within 3 bits, once, a < b, in order';

CREATE AGGREGATE simhash_pairs_agg(fp bigint, radius integer) (
    SFUNC = simhash_pairs_agg_transition, STYPE = internal, SSPACE = 512,
    FINALFUNC = simhash_pairs_agg_final, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_pairs_agg(bigint, integer) IS
    'every pair of different fingerprints of the rows within the radius, once, a < b, in order';

CREATE FUNCTION simhash_blocks(fp bigint, radius integer DEFAULT 3,
        OUT block integer, OUT bits bigint)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'simhash_blocks'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 4;
COMMENT ON FUNCTION simhash_blocks(bigint, integer) IS
    'The fingerprint''s bits in each of radius + 1 blocks; fingerprints within the radius agree '
    'in one of them at least';

-- The two passes over a query (src/whole_tables/row_query.hpp). The server calls them where its plan
-- has the query's second column, so its workers do.
CREATE FUNCTION document_digest(document text, arguments bytea) RETURNS bytea
    AS 'MODULE_PATHNAME', 'simhash_document_digest_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION document_digest(text, bytea) IS
    'what near_duplicate_pairs and its like read of each document';

CREATE FUNCTION document_digest(document shingle_set, arguments bytea) RETURNS bytea
    AS 'MODULE_PATHNAME', 'simhash_document_digest_shingle_set'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION document_digest(shingle_set, bytea) IS
    'what near_duplicate_pairs and its like read of each set of shingles';

CREATE FUNCTION document_content(document text, arguments bytea) RETURNS bytea
    AS 'MODULE_PATHNAME', 'simhash_document_content_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION document_content(text, bytea) IS
    'what near_duplicate_pairs and its like read of the documents that they compare';

CREATE FUNCTION document_content(document shingle_set, arguments bytea) RETURNS bytea
    AS 'MODULE_PATHNAME', 'simhash_document_content_shingle_set'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION document_content(shingle_set, bytea) IS
    'what near_duplicate_pairs and its like read of the sets of shingles that they compare';

CREATE FUNCTION passage_digest(document text, arguments bytea) RETURNS bytea
    AS 'MODULE_PATHNAME', 'simhash_passage_digest'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION passage_digest(text, bytea) IS
    'what passage_pairs and its like read of each document';

CREATE FUNCTION passage_content(document text, arguments bytea) RETURNS bytea
    AS 'MODULE_PATHNAME', 'simhash_passage_content'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION passage_content(text, bytea) IS
    'what passage_pairs and its like read of the documents that they compare';

CREATE FUNCTION containment_digest(document text, arguments bytea) RETURNS bytea
    AS 'MODULE_PATHNAME', 'simhash_containment_digest'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION containment_digest(text, bytea) IS
    'what containment_pairs reads of each document';

-- ==== Inspection ====

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
    ), pair AS (
        SELECT a.fingerprints AS of_a, b.fingerprints AS of_b,
            shingle_similarity(a.shingles, b.shingles) AS similarity
        FROM document a JOIN document b ON a.number < b.number
        OFFSET 0
    ), counted AS (
        SELECT number, a <~> b AS distance, similarity >= similar_from AS is_similar,
            similarity < unlike_below AS is_unlike, count(*) AS pairs
        FROM pair, unnest(of_a, of_b) WITH ORDINALITY AS of_form (a, b, number)
        GROUP BY 1, 2, 3, 4
    ), form AS (
        SELECT name, number
        FROM pg_catalog.unnest(ARRAY['minhash(body)', 'simhash(body)',
            'simhash(body, ''chars'', 3)', 'simhash(body, ''words'', 1, ''log'')',
            'simhash(body, ''words'', 3, ''binary'')'])
            WITH ORDINALITY AS of_form (name, number)
    ), within AS (
        SELECT form.name, form.number, radius,
            coalesce(sum(pairs) FILTER (WHERE is_similar), 0)::bigint AS similar_pairs,
            coalesce(sum(pairs) FILTER (WHERE is_similar
                AND distance <= radius), 0)::bigint AS similar_found,
            coalesce(sum(pairs) FILTER (WHERE NOT is_similar AND NOT is_unlike
                AND distance <= radius), 0)::bigint AS neither_found,
            coalesce(sum(pairs) FILTER (WHERE is_unlike
                AND distance <= radius), 0)::bigint AS strangers_found
        FROM form CROSS JOIN pg_catalog.generate_series(0, 12) AS radius
            LEFT JOIN counted USING (number)
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
    'how well fingerprints of several forms find the near-duplicates among these documents, by '
    'radius, beside their exact similarity';

CREATE FUNCTION simhash_index_check(index regclass, heapallindexed boolean DEFAULT false,
        OUT rows bigint, OUT fingerprints bigint, OUT orphans bigint, OUT pages bigint,
        OUT free_pages bigint)
    AS 'MODULE_PATHNAME', 'simhash_index_check'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION simhash_index_check(regclass, boolean) IS
    'proves the invariants of a simhash index, with heapallindexed also that it has every row; '
    'blocks writers meanwhile';

CREATE FUNCTION simhash_index_info(index regclass,
        OUT contents text, OUT tree integer, OUT level integer, OUT radius integer,
        OUT prefix_bits integer, OUT prefix_mask text, OUT pages bigint, OUT bytes bigint,
        OUT entries bigint, OUT fingerprints bigint, OUT tail_entries bigint,
        OUT fill double precision, OUT bytes_per_entry double precision)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'simhash_index_info'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 12;
COMMENT ON FUNCTION simhash_index_info(regclass) IS
    'what a simhash index holds, by tree and level, and as a whole';
