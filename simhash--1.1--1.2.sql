\echo Use "ALTER EXTENSION simhash UPDATE" to load this file. \quit

-- ==== Near-duplicates of whole tables (src/sql/near_duplicate_tables.cpp) ====

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
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 SUPPORT near_duplicate_pairs_support;
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
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 SUPPORT near_duplicate_groups_support;
COMMENT ON FUNCTION near_duplicate_groups(text, double precision) IS
    'for every document that the query returns as (id, text), the first document of its group of near-duplicates';
CREATE FUNCTION near_duplicate_groups(query text, id_type anyelement, similarity double precision DEFAULT 0.8)
    RETURNS TABLE (id anyelement, original anyelement)
    AS 'MODULE_PATHNAME', 'simhash_near_duplicate_groups'
    LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 SUPPORT near_duplicate_groups_support;
COMMENT ON FUNCTION near_duplicate_groups(text, anyelement, double precision) IS
    'for every document that the query returns as (id, text), the first document of its group, with ids of any type';
