-- simhash 1.2 to 1.3. Each object here stands in simhash--1.3.sql, too; test/upgrade.sh compares the two ways.
\echo Use "ALTER EXTENSION simhash UPDATE" to load this file. \quit

-- ==== Passages ====

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

ALTER OPERATOR FAMILY passage_ops USING simhash ADD
    OPERATOR 5 &~~ (text, passage_query),
    FUNCTION 2 (text, passage_query) passage_query_hashes (passage_query),
    FUNCTION 4 (text, text) passage_options (internal);
COMMENT ON OPERATOR CLASS passage_ops USING simhash IS
    'passages of documents: 16 words in a row or more, or another number (words)';
COMMENT ON OPERATOR FAMILY passage_ops USING simhash IS
    'passages of documents: 16 words in a row or more, or another number (words)';
