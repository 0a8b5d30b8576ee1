-- simhash 1.2 to 1.3. Each object here stands in simhash--1.3.sql, too; test/upgrade.sh compares the two ways.
\echo Use "ALTER EXTENSION simhash UPDATE" to load this file. \quit

CREATE FUNCTION code_from_hex(digits text, bits integer) RETURNS bit
    AS 'MODULE_PATHNAME', 'simhash_code_from_hex'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION code_from_hex(text, integer) IS
    'code of so many bits from as many hexadecimal digits as these fill';

-- Operators of exclusion constraints that narrow no search (src/index/README.md, "Compared columns").
ALTER OPERATOR FAMILY simhash_ops USING simhash ADD OPERATOR 6 <> (bigint, bigint);
ALTER OPERATOR FAMILY text_ops USING simhash ADD OPERATOR 6 <> (text, text);
ALTER OPERATOR FAMILY bit_ops USING simhash ADD OPERATOR 6 <> (bit, bit);
ALTER OPERATOR FAMILY integer_scope_ops USING simhash ADD OPERATOR 6 <> (integer, integer);
ALTER OPERATOR FAMILY smallint_scope_ops USING simhash ADD OPERATOR 6 <> (smallint, smallint);
ALTER OPERATOR FAMILY name_scope_ops USING simhash ADD OPERATOR 6 <> (name, name);
ALTER OPERATOR FAMILY character_scope_ops USING simhash ADD OPERATOR 6 <> (character, character);
ALTER OPERATOR FAMILY char_scope_ops USING simhash ADD OPERATOR 6 <> ("char", "char");
ALTER OPERATOR FAMILY bytea_scope_ops USING simhash ADD OPERATOR 6 <> (bytea, bytea);
ALTER OPERATOR FAMILY boolean_scope_ops USING simhash ADD OPERATOR 6 <> (boolean, boolean);
ALTER OPERATOR FAMILY uuid_scope_ops USING simhash ADD OPERATOR 6 <> (uuid, uuid);
ALTER OPERATOR FAMILY numeric_scope_ops USING simhash ADD OPERATOR 6 <> (numeric, numeric);
ALTER OPERATOR FAMILY real_scope_ops USING simhash ADD OPERATOR 6 <> (real, real);
ALTER OPERATOR FAMILY double_scope_ops USING simhash ADD
    OPERATOR 6 <> (double precision, double precision);
ALTER OPERATOR FAMILY oid_scope_ops USING simhash ADD OPERATOR 6 <> (oid, oid);
ALTER OPERATOR FAMILY date_scope_ops USING simhash ADD OPERATOR 6 <> (date, date);
ALTER OPERATOR FAMILY time_scope_ops USING simhash ADD OPERATOR 6 <> (time, time);
ALTER OPERATOR FAMILY timetz_scope_ops USING simhash ADD OPERATOR 6 <> (timetz, timetz);
ALTER OPERATOR FAMILY timestamp_scope_ops USING simhash ADD OPERATOR 6 <> (timestamp, timestamp);
ALTER OPERATOR FAMILY timestamptz_scope_ops USING simhash ADD
    OPERATOR 6 <> (timestamptz, timestamptz);
ALTER OPERATOR FAMILY interval_scope_ops USING simhash ADD OPERATOR 6 <> (interval, interval);
ALTER OPERATOR FAMILY inet_scope_ops USING simhash ADD OPERATOR 6 <> (inet, inet);
ALTER OPERATOR FAMILY macaddr_scope_ops USING simhash ADD OPERATOR 6 <> (macaddr, macaddr);
ALTER OPERATOR FAMILY macaddr8_scope_ops USING simhash ADD OPERATOR 6 <> (macaddr8, macaddr8);
ALTER OPERATOR FAMILY pg_lsn_scope_ops USING simhash ADD OPERATOR 6 <> (pg_lsn, pg_lsn);
ALTER OPERATOR FAMILY jsonb_scope_ops USING simhash ADD OPERATOR 6 <> (jsonb, jsonb);
ALTER OPERATOR FAMILY enum_scope_ops USING simhash ADD OPERATOR 6 <> (anyenum, anyenum);
ALTER OPERATOR FAMILY array_scope_ops USING simhash ADD OPERATOR 6 <> (anyarray, anyarray);
ALTER OPERATOR FAMILY range_scope_ops USING simhash ADD
    OPERATOR 6 <> (anyrange, anyrange),
    OPERATOR 7 && (anyrange, anyrange);
ALTER OPERATOR FAMILY multirange_scope_ops USING simhash ADD
    OPERATOR 6 <> (anymultirange, anymultirange),
    OPERATOR 7 && (anymultirange, anymultirange);
ALTER OPERATOR FAMILY record_scope_ops USING simhash ADD OPERATOR 6 <> (record, record);
ALTER OPERATOR FAMILY varbit_scope_ops USING simhash ADD OPERATOR 6 <> (bit varying, bit varying);

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
