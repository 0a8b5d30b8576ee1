-- simhash 1.2 to 1.3. Each object here stands in simhash--1.3.sql, too; test/upgrade.sh compares the two ways.
\echo Use "ALTER EXTENSION simhash UPDATE" to load this file. \quit

-- ==== Whole tables ====

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
COMMENT ON FUNCTION passage_digest(text, bytea) IS 'what passage_pairs reads of each document';

CREATE FUNCTION passage_content(document text, arguments bytea) RETURNS bytea
    AS 'MODULE_PATHNAME', 'simhash_passage_content'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION passage_content(text, bytea) IS
    'what passage_pairs reads of the documents that it compares';
