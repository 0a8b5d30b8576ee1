-- simhash 1.2 to 1.3. Each object here stands in simhash--1.3.sql, too; test/upgrade.sh compares the two ways.
\echo Use "ALTER EXTENSION simhash UPDATE" to load this file. \quit

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
