\echo Use "ALTER EXTENSION simhash UPDATE" to load this file. \quit

-- ==== Near-duplicate documents (src/values/text/near_duplicate.cpp, src/planner/documents.cpp) ====

CREATE FUNCTION near_duplicate_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_support'
    LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near_duplicate_support(internal) IS 'planner support of near_duplicate and =~~ of texts';

CREATE FUNCTION near_duplicate(a text, b text, similarity double precision DEFAULT 0.8) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_documents'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_duplicate_support;
COMMENT ON FUNCTION near_duplicate(text, text, double precision) IS
    'whether two documents are near-duplicates: by the distance of their fingerprints and the similarity of their shingles';

CREATE FUNCTION documents_alike(text, text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_documents_alike'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_duplicate_support;
COMMENT ON FUNCTION documents_alike(text, text) IS 'implementation of =~~ of texts';

CREATE OPERATOR =~~ (
    FUNCTION = documents_alike, LEFTARG = text, RIGHTARG = text, COMMUTATOR = =~~,
    RESTRICT = hamming_restrict, JOIN = hamming_join
);
COMMENT ON OPERATOR =~~ (text, text) IS 'near-duplicates: whether two documents have a similarity of at least .8';

CREATE FUNCTION document_in_ball(text, hamming_ball) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_document_in_ball'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION document_in_ball(text, hamming_ball) IS 'implementation of <@ of text';

CREATE OPERATOR <@ (
    FUNCTION = document_in_ball, LEFTARG = text, RIGHTARG = hamming_ball,
    RESTRICT = hamming_restrict, JOIN = hamming_join
);
COMMENT ON OPERATOR <@ (text, hamming_ball) IS 'whether the document''s fingerprint, by minhash(), is within the ball';

CREATE FUNCTION shingle_sets_alike(shingle_set, shingle_set) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_shingle_sets_alike'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION shingle_sets_alike(shingle_set, shingle_set) IS 'implementation of =~~ of sets of shingles';

CREATE OPERATOR =~~ (
    FUNCTION = shingle_sets_alike, LEFTARG = shingle_set, RIGHTARG = shingle_set, COMMUTATOR = =~~,
    RESTRICT = hamming_restrict, JOIN = hamming_join
);
COMMENT ON OPERATOR =~~ (shingle_set, shingle_set) IS 'whether two sets of shingles have a similarity of at least .8';

COMMENT ON FUNCTION hamming_restrict(internal, oid, internal, integer) IS
    'restriction selectivity of <@, @>, ~= and =~~';
COMMENT ON FUNCTION hamming_join(internal, oid, internal, smallint, internal) IS
    'join selectivity of <@, @>, ~= and =~~';

-- ==== Indexes on texts (src/index/lanes.hpp) ====

CREATE FUNCTION document_lanes(text) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_document_lanes'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION document_lanes(text) IS 'the lanes by which an index finds a text: its fingerprint by minhash(), or none';

-- In a first column the class is for documents, after it for scopes. It is a new one: a session that
-- has used text_scope_ops before this update does not look for new functions of it. No command takes
-- the default from a class. The operators are qualified, as in every expression that a script evaluates.
UPDATE pg_catalog.pg_opclass SET opcdefault = false
WHERE opcname OPERATOR(pg_catalog.=) 'text_scope_ops'::pg_catalog.name AND opcmethod OPERATOR(pg_catalog.=)
    (SELECT oid FROM pg_catalog.pg_am WHERE amname OPERATOR(pg_catalog.=) 'simhash'::pg_catalog.name);
CREATE OPERATOR CLASS text_ops DEFAULT FOR TYPE text USING simhash AS
    OPERATOR 1 <@ (text, hamming_ball),
    OPERATOR 2 = (text, text),
    OPERATOR 5 =~~ (text, text),
    FUNCTION 1 (text, text) hashtextextended (text, bigint),
    FUNCTION 2 (text, text) document_lanes (text);
COMMENT ON OPERATOR CLASS text_ops USING simhash IS 'documents, and scopes of text';
COMMENT ON OPERATOR FAMILY text_ops USING simhash IS 'documents, and scopes of text';

-- Of these columns nothing is stored: rows are rechecked.
CREATE OPERATOR CLASS shingle_set_ops DEFAULT FOR TYPE shingle_set USING simhash AS
    OPERATOR 5 =~~ (shingle_set, shingle_set);
COMMENT ON OPERATOR CLASS shingle_set_ops USING simhash IS 'sets of shingles, after a fingerprint';
COMMENT ON OPERATOR FAMILY shingle_set_ops USING simhash IS 'sets of shingles, after a fingerprint';

-- ==== Near-duplicates of whole tables (src/tables/near_duplicate_tables.cpp) ====

CREATE FUNCTION near_duplicate_pairs_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_pairs_support'
    LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near_duplicate_pairs_support(internal) IS
    'planner support of near_duplicate_pairs: how many rows';
CREATE FUNCTION near_duplicate_groups_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_groups_support'
    LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near_duplicate_groups_support(internal) IS
    'planner support of near_duplicate_groups: how many rows';

-- These run a query, which may be about anything. id_type gives the type of the ids, and nothing else. It has no default: where
-- a default is left out of a call in FROM, the server does not find out which type a polymorphic column has.
CREATE FUNCTION near_duplicate_pairs(query text, similarity double precision DEFAULT 0.8)
    RETURNS TABLE (id bigint, other bigint, similarity double precision)
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_pairs'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 SUPPORT near_duplicate_pairs_support;
COMMENT ON FUNCTION near_duplicate_pairs(text, double precision) IS
    'every pair of near-duplicates among the documents that the query returns as (id, text), once, with their exact similarity';
CREATE FUNCTION near_duplicate_pairs(query text, id_type anyelement, similarity double precision DEFAULT 0.8)
    RETURNS TABLE (id anyelement, other anyelement, similarity double precision)
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_pairs'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 SUPPORT near_duplicate_pairs_support;
COMMENT ON FUNCTION near_duplicate_pairs(text, anyelement, double precision) IS
    'every pair of near-duplicates among the documents that the query returns as (id, text), with ids of any type';
CREATE FUNCTION near_duplicate_groups(query text, similarity double precision DEFAULT 0.8)
    RETURNS TABLE (id bigint, original bigint)
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_groups'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 SUPPORT near_duplicate_groups_support;
COMMENT ON FUNCTION near_duplicate_groups(text, double precision) IS
    'for every document that the query returns as (id, text), the first document of its group of near-duplicates';
CREATE FUNCTION near_duplicate_groups(query text, id_type anyelement, similarity double precision DEFAULT 0.8)
    RETURNS TABLE (id anyelement, original anyelement)
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_groups'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 SUPPORT near_duplicate_groups_support;
COMMENT ON FUNCTION near_duplicate_groups(text, anyelement, double precision) IS
    'for every document that the query returns as (id, text), the first document of its group, with ids of any type';

-- ==== One bit of each of 64, 128 or 256 minima (src/values/fingerprint/minhash.cpp) ====

-- Not strict: an option that is null stands for its default.
CREATE FUNCTION minhash_code(document text, bits integer DEFAULT 128, features text DEFAULT 'words',
                             width integer DEFAULT 3)
    RETURNS bit
    AS 'MODULE_PATHNAME', 'simhash_minhash_code_document'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 SUPPORT simhash_text_support;
COMMENT ON FUNCTION minhash_code(text, integer, text, integer) IS
    'code of a document, by one bit of each of 64, 128 or 256 minima of its features; null where it has none';

CREATE FUNCTION minhash_code(features text[], bits integer DEFAULT 128) RETURNS bit
    AS 'MODULE_PATHNAME', 'simhash_minhash_code_features'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 SUPPORT simhash_text_support;
COMMENT ON FUNCTION minhash_code(text[], integer) IS
    'code of given features, by one bit of each of 64, 128 or 256 minima';

CREATE FUNCTION minhash_code(hashes bigint[], bits integer DEFAULT 128) RETURNS bit
    AS 'MODULE_PATHNAME', 'simhash_minhash_code_hashes'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash_code(bigint[], integer) IS
    'code of features that are hashed already, by one bit of each of 64, 128 or 256 minima';

CREATE FUNCTION minhash_code(document tsvector, bits integer DEFAULT 128) RETURNS bit
    AS 'MODULE_PATHNAME', 'simhash_minhash_code_tsvector'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash_code(tsvector, integer) IS
    'code of the lexemes, by one bit of each of 64, 128 or 256 minima';

-- ==== Wide codes (src/values/code/code.cpp, src/values/code/bit_ball.cpp, src/planner) ====

-- Bit strings of different lengths are an error, so none of these functions is leakproof. Those that return a boolean cost more than
-- a condition such as length(code) = 256, so that the server checks that first.
CREATE FUNCTION hamming(bit, bit) RETURNS integer
    AS 'MODULE_PATHNAME', 'simhash_code_hamming'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT hamming_support;
COMMENT ON FUNCTION hamming(bit, bit) IS
    'Hamming distance of two codes, bit strings of the same length: the number of differing bits';

CREATE OPERATOR <~~> (FUNCTION = hamming, LEFTARG = bit, RIGHTARG = bit, COMMUTATOR = <~~>);
COMMENT ON OPERATOR <~~> (bit, bit) IS
    'Hamming distance of two codes, bit strings of the same length: the number of differing bits';

CREATE FUNCTION hamming_within(code bit, query bit, radius bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_code_hamming_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3 SUPPORT hamming_within_support;
COMMENT ON FUNCTION hamming_within(bit, bit, bigint) IS
    'whether the Hamming distance of two codes is at most radius';

CREATE FUNCTION hamming_at(code bit, query bit, distance bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_code_hamming_at'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3 SUPPORT hamming_within_support;
COMMENT ON FUNCTION hamming_at(bit, bit, bigint) IS
    'whether the Hamming distance of two codes is exactly distance; the planner writes code <~~> query = distance so';

CREATE FUNCTION hamming_beyond(code bit, query bit, radius bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_code_hamming_beyond'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3 SUPPORT hamming_within_support;
COMMENT ON FUNCTION hamming_beyond(bit, bit, bigint) IS
    'whether the Hamming distance of two codes is more than radius; the planner writes code <~~> query > radius so';

CREATE FUNCTION hamming_radius_of_codes("limit" numeric, below boolean) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_code_hamming_radius'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_radius_of_codes(numeric, boolean) IS
    'greatest radius of codes of any length, -1 or more, up to a limit, or below it; the planner writes code <~~> query <= 3.5 with it';

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
    INPUT = bit_ball_in, OUTPUT = bit_ball_out, RECEIVE = bit_ball_recv, SEND = bit_ball_send,
    INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = extended
);
COMMENT ON TYPE bit_ball IS 'all codes within a radius of a center; written (center,radius)';

-- Not hamming_ball: of two functions of that name, the parser would not find that of hamming_ball($1, $2).
CREATE FUNCTION bit_ball(center bit, radius bigint) RETURNS bit_ball
    AS 'MODULE_PATHNAME', 'simhash_bit_ball_make'
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

CREATE FUNCTION bit_lanes(bit) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_code_lanes'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_lanes(bit) IS 'the lanes by which an index finds a code: its bits, scattered to lanes of 64';

-- Null where the type modifier, that of bit(n), gives no length.
CREATE FUNCTION bit_lane_layout(type_modifier integer) RETURNS integer[]
    AS 'MODULE_PATHNAME', 'simhash_code_lane_layout'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_lane_layout(integer) IS
    'what an index is to know of a column of bit(n): the number of words of a code, and the radius of =~~';

-- As with texts: in a first column the class is for codes, after it for scopes.
UPDATE pg_catalog.pg_opclass SET opcdefault = false
WHERE opcname OPERATOR(pg_catalog.=) 'bit_scope_ops'::pg_catalog.name AND opcmethod OPERATOR(pg_catalog.=)
    (SELECT oid FROM pg_catalog.pg_am WHERE amname OPERATOR(pg_catalog.=) 'simhash'::pg_catalog.name);
CREATE OPERATOR CLASS bit_ops DEFAULT FOR TYPE bit USING simhash AS
    OPERATOR 1 <@ (bit, bit_ball),
    OPERATOR 2 = (bit, bit),
    OPERATOR 4 <~~> (bit, bit) FOR ORDER BY pg_catalog.integer_ops,
    OPERATOR 5 =~~ (bit, bit),
    FUNCTION 1 (bit, bit) hashvarlenaextended (internal, bigint),
    FUNCTION 2 (bit, bit) bit_lanes (bit),
    FUNCTION 3 (bit, bit) bit_lane_layout (integer);
COMMENT ON OPERATOR CLASS bit_ops USING simhash IS 'codes, as many bits as a bit(n) has, and scopes of bit';
COMMENT ON OPERATOR FAMILY bit_ops USING simhash IS 'codes, as many bits as a bit(n) has, and scopes of bit';
-- ==== Wide codes: whole tables (src/tables/pairs.cpp, src/tables/clusters.cpp) ====

CREATE FUNCTION simhash_cluster(code bit) RETURNS bit
    AS 'MODULE_PATHNAME', 'simhash_bit_cluster'
    LANGUAGE C IMMUTABLE WINDOW PARALLEL SAFE;
COMMENT ON FUNCTION simhash_cluster(bit) IS
    'Window function: the smallest code of the row''s cluster, within the radius of =~~ of codes';
CREATE FUNCTION simhash_cluster(code bit, radius integer) RETURNS bit
    AS 'MODULE_PATHNAME', 'simhash_bit_cluster'
    LANGUAGE C IMMUTABLE WINDOW PARALLEL SAFE;
COMMENT ON FUNCTION simhash_cluster(bit, integer) IS
    'Window function: the smallest code of the row''s cluster; rows are in one cluster where a chain of rows links them, each within the radius of the next';

-- The type bit without quotes is bit(1).
CREATE TYPE simhash_bit_pair AS (a "bit", b "bit", distance integer);
COMMENT ON TYPE simhash_bit_pair IS 'two codes and their distance';

CREATE FUNCTION simhash_bit_pairs_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_bit_pairs_support'
    LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bit_pairs_support(internal) IS
    'planner support of functions that give pairs of codes: how many rows';

CREATE FUNCTION simhash_bit_pairs(codes bit[]) RETURNS SETOF simhash_bit_pair
    AS 'MODULE_PATHNAME', 'simhash_bit_pairs'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT simhash_bit_pairs_support;
COMMENT ON FUNCTION simhash_bit_pairs(bit[]) IS
    'Every pair of different codes within the radius of =~~ of codes, once, a < b, in order';
CREATE FUNCTION simhash_bit_pairs(codes bit[], radius integer) RETURNS SETOF simhash_bit_pair
    AS 'MODULE_PATHNAME', 'simhash_bit_pairs'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT simhash_bit_pairs_support;
COMMENT ON FUNCTION simhash_bit_pairs(bit[], integer) IS
    'Every pair of different codes within the radius, once, a < b, in order';

CREATE FUNCTION simhash_bit_join(a bit[], b bit[]) RETURNS SETOF simhash_bit_pair
    AS 'MODULE_PATHNAME', 'simhash_bit_join'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT simhash_bit_pairs_support;
COMMENT ON FUNCTION simhash_bit_join(bit[], bit[]) IS
    'Every pair within the radius of =~~ of codes of a code of one array and one of the other, once, in order';
CREATE FUNCTION simhash_bit_join(a bit[], b bit[], radius integer) RETURNS SETOF simhash_bit_pair
    AS 'MODULE_PATHNAME', 'simhash_bit_join'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT simhash_bit_pairs_support;
COMMENT ON FUNCTION simhash_bit_join(bit[], bit[], integer) IS
    'Every pair within the radius of a code of one array and one of the other, once, in order';

-- These run a query, which may be about anything.
CREATE FUNCTION simhash_bit_pairs_of(query text) RETURNS SETOF simhash_bit_pair
    AS 'MODULE_PATHNAME', 'simhash_bit_pairs_of'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SUPPORT simhash_bit_pairs_support;
COMMENT ON FUNCTION simhash_bit_pairs_of(text) IS
    'Every pair of different codes within the radius of =~~ of codes among those that the query returns, once, a < b, in order';
CREATE FUNCTION simhash_bit_pairs_of(query text, radius integer) RETURNS SETOF simhash_bit_pair
    AS 'MODULE_PATHNAME', 'simhash_bit_pairs_of'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SUPPORT simhash_bit_pairs_support;
COMMENT ON FUNCTION simhash_bit_pairs_of(text, integer) IS
    'Every pair of different codes within the radius among those that the query returns, once, a < b, in order';
CREATE FUNCTION simhash_bit_join_of(a_query text, b_query text) RETURNS SETOF simhash_bit_pair
    AS 'MODULE_PATHNAME', 'simhash_bit_join_of'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SUPPORT simhash_bit_pairs_support;
COMMENT ON FUNCTION simhash_bit_join_of(text, text) IS
    'Every pair within the radius of =~~ of codes of a code that the one query returns and one that the other returns, once, in order';
CREATE FUNCTION simhash_bit_join_of(a_query text, b_query text, radius integer) RETURNS SETOF simhash_bit_pair
    AS 'MODULE_PATHNAME', 'simhash_bit_join_of'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SUPPORT simhash_bit_pairs_support;
COMMENT ON FUNCTION simhash_bit_join_of(text, text, integer) IS
    'Every pair within the radius of a code that the one query returns and one that the other returns, once, in order';

-- No combine function, as with fingerprints.
CREATE FUNCTION simhash_bit_pairs_agg_transition(internal, bit) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_bit_pairs_agg_transition'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bit_pairs_agg_transition(internal, bit) IS 'transition of simhash_pairs_agg(bit)';
CREATE FUNCTION simhash_bit_pairs_agg_transition(internal, bit, integer) RETURNS internal
    AS 'MODULE_PATHNAME', 'simhash_bit_pairs_agg_transition'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bit_pairs_agg_transition(internal, bit, integer) IS
    'transition of simhash_pairs_agg(bit, integer)';
CREATE FUNCTION simhash_bit_pairs_agg_final(internal) RETURNS simhash_bit_pair[]
    AS 'MODULE_PATHNAME', 'simhash_bit_pairs_agg_final'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bit_pairs_agg_final(internal) IS 'final function of simhash_pairs_agg of codes';

CREATE AGGREGATE simhash_pairs_agg(code bit) (
    SFUNC = simhash_bit_pairs_agg_transition, STYPE = internal, SSPACE = 1024,
    FINALFUNC = simhash_bit_pairs_agg_final, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_pairs_agg(bit) IS
    'every pair of different codes of the rows within the radius of =~~ of codes, once, a < b, in order';
CREATE AGGREGATE simhash_pairs_agg(code bit, radius integer) (
    SFUNC = simhash_bit_pairs_agg_transition, STYPE = internal, SSPACE = 1024,
    FINALFUNC = simhash_bit_pairs_agg_final, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_pairs_agg(bit, integer) IS
    'every pair of different codes of the rows within the radius, once, a < b, in order';
