-- What SQLsmith is let loose on: an ordinary user, smith, who owns tables with simhash indexes of
-- all kinds, and functions and operators that lead to ours. To be run by a superuser in a new
-- database.
--
-- SQLsmith knows nothing of fingerprints. It compares columns by any operator that returns a
-- boolean, calls functions, mostly those without parameters, has no constants but integers up to
-- 100, and writes no ORDER BY. So there are here
--   - an operator for each condition on a distance: an SQL function that the planner inlines,
--   - columns of kinds of types that many operators take, so that it finds an operand,
--   - functions without parameters for fingerprints, radii, balls and documents,
--   - functions and views that order by distance,
--   - a view that stands before pg_proc in the search path: of the server's functions, of which
--     there are thousands, SQLsmith sees only some, and none that does anything but answer.
\set ON_ERROR_STOP on
SET client_min_messages = warning;

CREATE EXTENSION simhash;
CREATE ROLE smith LOGIN;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
CREATE SCHEMA smith AUTHORIZATION smith;
SET ROLE smith;
SET search_path = smith, public;

-- ==== Tables ====

CREATE TYPE mood AS ENUM ('dull', 'plain', 'bright');

-- A document of 5 to 40 words. Every fourth is like the one before but for a word at its end, every
-- tenth has none.
CREATE FUNCTION document(number integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(CASE WHEN hashint4extended(d.id * 100 + i, 1) % 3 = 0 THEN 'the '
            ELSE substr(md5((d.id * 100 + i)::text), 1, 3 + i % 5) || ' ' END, '' ORDER BY i)
        || CASE WHEN number % 4 = 3 THEN 'again' ELSE '' END
    FROM (SELECT CASE WHEN number % 4 = 3 THEN number - 1 ELSE number END AS id) d,
        generate_series(1, 5 + d.id % 36) i
    WHERE number % 10 <> 9
$$;
-- Duplicates, near-duplicates, nulls, a fingerprint that many rows share, and others.
CREATE FUNCTION some_fp(number integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN number % 13 = 0 THEN NULL
        WHEN number % 10 = 0 THEN 4711
        WHEN number % 10 = 1 THEN 4711 # (1::bigint << (number % 64))
        WHEN number % 10 = 2 THEN hashint8extended(number - 1, 7)
        WHEN number % 10 IN (3, 4)
        THEN hashint8extended(number / 20, 7) # (1::bigint << (number % 64))
        ELSE hashint8extended(number, 7)
    END
$$;

CREATE TABLE source (id integer PRIMARY KEY, name text UNIQUE, fp bigint);
INSERT INTO source SELECT i, 'source ' || i, some_fp(i) FROM generate_series(1, 40) i;
CREATE INDEX source_fp ON source USING simhash (fp);

CREATE TABLE docs (
    id integer PRIMARY KEY,
    source integer REFERENCES source,
    body text,
    fp bigint,
    mood mood DEFAULT 'plain',
    seen timestamptz DEFAULT now(),
    ids int4range,
    gaps int4multirange);
INSERT INTO docs
    SELECT i, 1 + i % 40, document(i), some_fp(i), (enum_range(NULL::mood))[1 + i % 3],
        '2026-01-01'::timestamptz + i * interval '1 hour', int4range(i, i + i % 9),
        int4multirange(int4range(i, i + 2), int4range(i + 5, i + 7))
    FROM generate_series(1, 2500) i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_fp_wide ON docs USING simhash (fp) WITH (radius = 8, fillfactor = 70);
CREATE INDEX docs_bright ON docs USING simhash (fp) WHERE mood = 'bright';
CREATE INDEX docs_far_from_zero ON docs USING simhash (fp) WHERE fp <~> 0 > 20;
CREATE INDEX docs_body ON docs USING simhash (simhash(body)) WITH (radius = 5);
CREATE INDEX docs_flipped ON docs USING simhash ((~fp));
-- Rows that SQLsmith adds have mostly no fingerprint: give every second one.
CREATE FUNCTION fill_fp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.fp IS NULL AND NEW.id % 2 = 0 THEN
        NEW.fp := coalesce(simhash(NEW.body), hashint4extended(NEW.id, 3));
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fill_fp BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION fill_fp();

CREATE TABLE texts (
    id integer PRIMARY KEY,
    body text,
    words tsvector,
    tags text[],
    ids int4range,
    gaps int4multirange,
    fp bigint GENERATED ALWAYS AS (simhash(body)) STORED);
INSERT INTO texts
    SELECT i, document(i), to_tsvector('simple', document(i)), ARRAY['even', i::text],
        int4range(i, i + 3), int4multirange(int4range(i, i + 2))
    FROM generate_series(1, 600) i;
CREATE INDEX texts_fp ON texts USING simhash (fp);
CREATE INDEX texts_body ON texts USING simhash (body);
CREATE INDEX texts_passages ON texts USING simhash (body passage_ops);
CREATE TABLE distinct_texts (id integer, body text, shingles shingle_set GENERATED ALWAYS AS (simhash_shingles(body)) STORED,
    EXCLUDE USING simhash (body WITH =~~));
INSERT INTO distinct_texts SELECT i, document(i) FROM generate_series(1, 600) i ON CONFLICT DO NOTHING;

CREATE TABLE distinct_docs (
    id integer,
    fp bigint,
    kind smallint,
    ids int4range,
    gaps int4multirange,
    EXCLUDE USING simhash (fp WITH ~=));
INSERT INTO distinct_docs
    SELECT i, hashint8extended(i, 11), i % 5, int4range(i, i + 3),
        int4multirange(int4range(i, i + 2))
    FROM generate_series(1, 800) i;
CREATE TABLE distinct_few (
    id integer UNIQUE,
    fp bigint,
    kind smallint,
    EXCLUDE USING simhash (fp WITH ~|||||=) WHERE (kind = 1) DEFERRABLE INITIALLY DEFERRED,
    CHECK (fp <~> 0 <= 64));
INSERT INTO distinct_few SELECT i, hashint8extended(i, 12), i % 5 FROM generate_series(1, 300) i;

CREATE TABLE parts (
    id integer PRIMARY KEY,
    fp bigint,
    body text,
    ids int4range,
    gaps int4multirange) PARTITION BY RANGE (id);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (500);
CREATE TABLE parts_middle PARTITION OF parts FOR VALUES FROM (500) TO (1000);
CREATE TABLE parts_rest PARTITION OF parts DEFAULT;
CREATE INDEX parts_fp ON parts USING simhash (fp);
INSERT INTO parts
    SELECT i, some_fp(i), document(i), int4range(i, i + 3), int4multirange(int4range(i, i + 2))
    FROM generate_series(1, 1500) i;

CREATE UNLOGGED TABLE scratch (fp bigint, other_fp bigint, fps bigint[]);
CREATE INDEX scratch_fp ON scratch USING simhash (fp) WITH (radius = 1);
CREATE INDEX scratch_other_fp ON scratch USING simhash (other_fp) WITH (radius = 16);
INSERT INTO scratch SELECT some_fp(i), some_fp(i + 3), ARRAY[some_fp(i + 1), some_fp(i + 2), 4711]
    FROM generate_series(1, 500) i;
CREATE TABLE empty (id integer PRIMARY KEY, fp bigint);
CREATE INDEX empty_fp ON empty USING simhash (fp);
-- Codes: SQLsmith compares any two, so all are of one length.
CREATE FUNCTION some_code(number integer) RETURNS bit LANGUAGE sql IMMUTABLE AS $$
    SELECT (some_fp(number)::bit(64) || hashint8extended(number / 2, 1)::bit(64)
        || hashint8extended(number / 2, 2)::bit(64))::bit(192)
$$;
CREATE TABLE pictures (
    id integer PRIMARY KEY,
    code bit(192),
    kind smallint,
    ids int4range,
    ball bit_ball);
INSERT INTO pictures
    SELECT i, some_code(i), i % 4, int4range(i, i + 3), bit_ball(some_code(i + 1), i % 200 - 3)
    FROM generate_series(1, 1500) i;
CREATE INDEX pictures_code ON pictures USING simhash (code);
CREATE INDEX pictures_scoped ON pictures USING simhash (code, kind) WITH (radius = 60);
CREATE INDEX pictures_far ON pictures USING simhash (code) WHERE code <~~> some_code(10) > 40;
CREATE TABLE distinct_pictures (id integer, code bit(192), EXCLUDE USING simhash (code WITH =~~));
INSERT INTO distinct_pictures SELECT i, some_code(i) FROM generate_series(1, 400) i
    ON CONFLICT DO NOTHING;
CREATE TABLE balls (id integer PRIMARY KEY, ball hamming_ball);
INSERT INTO balls SELECT i, hamming_ball(some_fp(i), i % 70 - 3) FROM generate_series(1, 100) i;

-- ==== Fingerprints, radii, balls and documents without parameters ====

DO $$
DECLARE
    made record;
BEGIN
    FOR made IN
        SELECT * FROM (VALUES
            ('fp_hot', 'bigint', 'IMMUTABLE', '4711'),
            ('fp_near_hot', 'bigint', 'IMMUTABLE', '4711 # 7'),
            ('fp_zero', 'bigint', 'IMMUTABLE', '0'),
            ('fp_ones', 'bigint', 'IMMUTABLE', '-1'),
            ('fp_sign', 'bigint', 'IMMUTABLE', '-9223372036854775808'),
            ('fp_low', 'bigint', 'IMMUTABLE', '4294967295'),
            ('fp_of_text', 'bigint', 'IMMUTABLE', 'simhash(document(8))'),
            ('fp_known', 'bigint', 'STABLE', 'SELECT fp FROM docs WHERE id = 25'),
            ('fp_drawn', 'bigint', 'VOLATILE',
                'SELECT fp FROM docs WHERE id = 1 + floor(2500 * random())'),
            ('ball_hot', 'hamming_ball', 'IMMUTABLE', 'hamming_ball(4711, 3)'),
            ('ball_point', 'hamming_ball', 'IMMUTABLE', 'hamming_ball(0, 0)'),
            ('ball_all', 'hamming_ball', 'IMMUTABLE', 'hamming_ball(0, 64)'),
            ('ball_none', 'hamming_ball', 'IMMUTABLE', 'hamming_ball(4711, -1)'),
            ('code_hot', 'bit', 'IMMUTABLE', 'SELECT some_code(10)'),
            ('code_known', 'bit', 'STABLE', 'SELECT code FROM pictures WHERE id = 25'),
            ('code_drawn', 'bit', 'VOLATILE',
                'SELECT code FROM pictures WHERE id = 1 + floor(1500 * random())'),
            ('bit_ball_hot', 'bit_ball', 'IMMUTABLE', 'bit_ball(some_code(10), 24)'),
            ('bit_ball_all', 'bit_ball', 'IMMUTABLE', 'bit_ball(some_code(11), 192)'),
            ('bit_ball_none', 'bit_ball', 'IMMUTABLE', 'bit_ball(some_code(11), -1)'),
            ('ball_drawn', 'hamming_ball', 'VOLATILE',
                'hamming_ball(fp_drawn(), floor(12 * random())::integer)'),
            ('radius_none', 'integer', 'IMMUTABLE', '-1'),
            ('radius_0', 'integer', 'IMMUTABLE', '0'),
            ('radius_3', 'integer', 'IMMUTABLE', '3'),
            ('radius_8', 'integer', 'IMMUTABLE', '8'),
            ('radius_24', 'integer', 'IMMUTABLE', '24'),
            ('radius_all', 'integer', 'IMMUTABLE', '64'),
            ('radius_huge', 'integer', 'IMMUTABLE', '2147483647'),
            ('radius_drawn', 'bigint', 'VOLATILE', 'floor(70 * random())::bigint - 2'),
            ('text_short', 'text', 'IMMUTABLE', '''the quick brown fox'''),
            ('text_long', 'text', 'IMMUTABLE', 'repeat(document(16) || '' '', 50)'),
            ('text_empty', 'text', 'IMMUTABLE', ''''''),
            ('text_wide', 'text', 'IMMUTABLE',
                '''fünf Wörter — 五つの言葉 and e'' || chr(769) || '' 🙂'''),
            ('text_words', 'text', 'IMMUTABLE', '''words'''),
            ('text_chars', 'text', 'IMMUTABLE', '''chars'''),
            ('text_balanced', 'text', 'IMMUTABLE', '''balanced'''),
            ('text_hash', 'text', 'IMMUTABLE', '''xxh3'''),
            ('text_hex', 'text', 'IMMUTABLE', '''00ff00ff00ff00ff'''),
            ('text_locale', 'text', 'IMMUTABLE', '''th'''),
            ('words', 'text[]', 'IMMUTABLE', 'ARRAY[''a'', ''b'', NULL, '''', ''a'']'),
            ('words_many', 'text[]', 'IMMUTABLE', 'string_to_array(document(20), '' '')'),
            ('fps', 'bigint[]', 'IMMUTABLE', 'ARRAY[0, 4711, NULL, -1, 4711, 4710]'),
            ('fps_many', 'bigint[]', 'STABLE', 'SELECT array_agg(fp) FROM docs WHERE id < 300'),
            ('weights', 'float8[]', 'IMMUTABLE', 'ARRAY[1, 2.5, 0, 1e300, -1, 1]'),
            ('vector', 'tsvector', 'IMMUTABLE', 'to_tsvector(''simple'', document(12))'),
            ('mood_dull', 'mood', 'IMMUTABLE', '''dull'''),
            ('index_of_docs', 'regclass', 'STABLE', '''docs_fp'''),
            ('index_of_texts', 'regclass', 'STABLE', '''texts_fp'''),
            ('no_index', 'regclass', 'STABLE', '''docs_pkey''')
        ) AS f (name, type, volatility, body)
    LOOP
        EXECUTE format('CREATE FUNCTION %I() RETURNS %s LANGUAGE sql %s AS %L',
            made.name, made.type, made.volatility,
            CASE WHEN made.body LIKE 'SELECT%' THEN made.body
                ELSE format('SELECT (%s)::%s', made.body, made.type) END);
    END LOOP;
END $$;

-- ==== Conditions as operators: <~|||||||#>, <~||||||#|> and so on, their numbers in binary ====

DO $$
DECLARE
    condition record;
    name text;
BEGIN
    FOR condition IN
        WITH made (left_type, right_type, body) AS (
            SELECT 'bigint', 'bigint', format('$1 <~> $2 %s %s', comparison, radius)
            FROM unnest(ARRAY['<=', '<', '=', '>']) comparison,
                unnest(ARRAY[-1, 0, 1, 2, 3, 4, 6, 8, 11, 16, 20, 32, 63, 64, 65]) radius
            UNION ALL
            SELECT 'bigint', 'bigint', body FROM unnest(ARRAY[
                '$1 <~> $2 <= NULL', '$1 <~> $2 BETWEEN 2 AND 5', '$1 <~> $2 IN (0, 1, 2)',
                '$1 <~> $2 <> 3', '$1 <~> 4711 <= 3 AND $2 <~> 4711 <= 3', 'NOT $1 <~> $2 <= 3',
                '$1 <~> $2 <= 3 OR $1 <~> 4711 <= 2', '$1 <~> $2 <= 4 AND $1 <~> 4711 <= 30',
                '$1 <~> $2 <= 3 OR $1 IS NULL', '($1 <~> $2 <= 3) IS NOT FALSE',
                '$1 <@ hamming_ball($2, 4)', '$1 <@ hamming_ball($2, ($2 & 15)::integer)',
                'hamming_ball($2, 2) @> $1', 'hamming_within($1, $2, 2)', '$1 <~> $2 = 3',
                '$1 = ANY (ARRAY[$2, $2 # 1, 4711])',
                '$1 ~= ANY (ARRAY[$2, 0, NULL])', '$1 ~||||= ALL (ARRAY[$2, 4711])', '$1 = $2',
                '$1 <~> $2 <= 3 AND $1 = $2', '$1 ~= $2 AND $1 ~|= $2', '3 >= $2 <~> $1']) body
            UNION ALL
            SELECT 'bigint', type, format(body, type)
            FROM unnest(ARRAY['integer', 'bigint']) type, unnest(ARRAY[
                '$1 <~> 4711 <= $2', '$1 <~> fp_hot() < $2', 'hamming_within($1, fp_known(), $2)',
                '$1 <@ hamming_ball(0, $2)']) body
            WHERE type = 'integer'
            UNION ALL
            SELECT 'bigint', 'smallint', '$1 = $2'
            UNION ALL
            SELECT 'text', 'text', format('simhash($1) <~> simhash($2) <= %s', radius)
            FROM unnest(ARRAY[0, 3, 5, 12]) radius
            UNION ALL
            SELECT 'text', 'bigint', 'simhash($1) <~> $2 <= 5'
            UNION ALL
            SELECT 'bigint', 'bigint[]', '$1 ~= ANY ($2)'
            UNION ALL
            SELECT 'bit', 'bit', format('$1 <~~> $2 %s %s', comparison, radius)
            FROM unnest(ARRAY['<=', '<', '=', '>']) comparison,
                unnest(ARRAY[-1, 0, 3, 24, 70, 192]) radius
            UNION ALL
            SELECT 'bit', 'bit', body FROM unnest(ARRAY[
                '$1 <~~> $2 BETWEEN 2 AND 30', '$1 <~~> $2 IN (0, 1, 2)', '$1 =~~ $2',
                '$1 <@ bit_ball($2, 24)', 'hamming_within($1, $2, 24) OR $1 IS NULL',
                '$1 <~~> $2 <= 24 AND $1 <~~> code_hot() <= 90']) body
            UNION ALL
            SELECT 'bit', 'integer', '$1 <~~> code_known() <= $2')
        SELECT *, row_number() OVER () AS number FROM made
    LOOP
        name := format('condition_%s', condition.number);
        EXECUTE format('CREATE FUNCTION %I(%s, %s) RETURNS boolean LANGUAGE sql STABLE AS %L',
            name, condition.left_type, condition.right_type, 'SELECT ' || condition.body);
        EXECUTE format('CREATE OPERATOR <~%s> (FUNCTION = %I, LEFTARG = %s, RIGHTARG = %s)',
            translate(condition.number::integer::bit(8)::text, '01', '|#'), name,
            condition.left_type, condition.right_type);
    END LOOP;
END $$;

-- ==== Orders, clusters, pairs ====

CREATE FUNCTION nearest_to(bigint) RETURNS integer LANGUAGE sql STABLE
    AS 'SELECT id FROM docs ORDER BY fp <~> $1 LIMIT 1';
CREATE FUNCTION tenth_nearest_to(bigint) RETURNS bigint LANGUAGE sql STABLE
    AS 'SELECT fp FROM parts ORDER BY fp <~> $1 OFFSET 9 LIMIT 1';
CREATE FUNCTION nearest_to(bit) RETURNS integer LANGUAGE sql STABLE
    AS 'SELECT id FROM pictures ORDER BY code <~~> $1 LIMIT 1';
CREATE FUNCTION nearest_within(bigint, integer) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT sum(id) FROM (SELECT id FROM docs WHERE fp <~> $1 <= $2 ORDER BY fp <~> $1 LIMIT 20) d
$$;
CREATE FUNCTION nearest_bright(bigint) RETURNS integer LANGUAGE sql STABLE
    AS 'SELECT id FROM docs WHERE mood = ''bright'' ORDER BY fp <~> $1, id LIMIT 1';
CREATE FUNCTION within_both(bigint, bigint, integer) RETURNS bigint LANGUAGE sql STABLE
    AS 'SELECT count(*) FROM docs WHERE fp <~> $1 <= $3 AND fp <~> $2 <= $3';
CREATE FUNCTION cluster_count(integer) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT count(DISTINCT c)
    FROM (SELECT simhash_cluster(fp, $1) OVER () AS c FROM docs WHERE id < 400) d
$$;
CREATE FUNCTION pair_count(bigint[], integer) RETURNS bigint LANGUAGE sql STABLE
    AS 'SELECT cardinality(simhash_pairs_agg(fp, $2)) FROM unnest($1) fp';
CREATE FUNCTION feature_count(text, text, integer) RETURNS bigint LANGUAGE sql STABLE
    AS 'SELECT count(*) FROM simhash_features($1, $2, $3)';
CREATE FUNCTION fp_of(text) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT simhash($1)';
CREATE FUNCTION fp_of(text, text, integer) RETURNS bigint LANGUAGE sql IMMUTABLE
    AS 'SELECT simhash($1, $2, $3)';

CREATE VIEW by_distance AS
    SELECT *, fp <~> 4711 AS distance FROM docs ORDER BY fp <~> 4711 LIMIT 100;
CREATE VIEW around_hot AS SELECT id, fp FROM docs WHERE fp <~> 4711 <= 8;
CREATE VIEW near_pairs AS
    SELECT a.id AS a, b.id AS b, a.fp AS fp FROM docs a JOIN parts b ON a.fp <~> b.fp <= 3;
CREATE VIEW nearest_texts AS
    SELECT d.id, n.id AS neighbour, n.fp FROM docs d
    CROSS JOIN LATERAL (SELECT id, fp FROM texts t ORDER BY t.fp <~> d.fp LIMIT 2) n
    WHERE d.id < 60;
CREATE VIEW clusters AS SELECT id, fp, simhash_cluster(fp) OVER () AS cluster FROM parts;
CREATE VIEW clusters_by_source WITH (security_barrier) AS
    SELECT id, source, simhash_cluster(fp, 5) OVER (PARTITION BY source) AS cluster FROM docs;
CREATE VIEW fp_of_source AS
    SELECT source, simhash_agg(body) AS fp, simhash_agg(body, id) AS weighted
    FROM docs GROUP BY source;
CREATE VIEW feature AS
    SELECT d.id, f.* FROM docs d, simhash_features(d.body, 'words', 2) f WHERE d.id < 40;
CREATE VIEW info AS SELECT i.*
    FROM unnest(ARRAY['docs_fp', 'empty_fp', 'scratch_fp']::regclass[]) x, simhash_index_info(x) i;
CREATE VIEW missing AS
    SELECT id, fp FROM docs d WHERE NOT EXISTS (SELECT FROM texts t WHERE t.fp ~= d.fp);
CREATE VIEW nulls AS SELECT id FROM docs WHERE fp IS NULL;
CREATE VIEW given AS SELECT id, fp FROM docs WHERE fp IS NOT NULL;
CREATE MATERIALIZED VIEW kept AS SELECT id, fp FROM docs WHERE id % 3 = 0;
CREATE INDEX kept_fp ON kept USING simhash (fp);
CREATE VIEW kept_rows AS SELECT * FROM kept;

-- ==== What SQLsmith sees of pg_proc ====

RESET ROLE;
VACUUM ANALYZE;
CREATE SCHEMA lens;
CREATE VIEW lens.pg_proc AS
    WITH of_extension AS (
        SELECT objid FROM pg_catalog.pg_depend
        WHERE classid = 'pg_catalog.pg_proc'::regclass AND refclassid = 'pg_extension'::regclass
            AND deptype = 'e'),
    of_aggregates AS (
        SELECT unnest(ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn,
            aggmtransfn, aggminvtransfn, aggmfinalfn]) AS function
        FROM pg_catalog.pg_aggregate),
    plain AS (
        SELECT unnest(ARRAY['boolean', 'smallint', 'integer', 'bigint', 'float8', 'numeric', 'text',
            'text[]', 'bigint[]', 'tsvector', '"any"', 'anyarray', 'anyelement'
            ]::regtype[]::oid[]) AS type)
    SELECT oid, pronamespace, proname, prorettype, proargtypes, prokind, proretset
    FROM pg_catalog.pg_proc p
    WHERE oid IN (SELECT objid FROM of_extension)
        OR pronamespace = 'smith'::regnamespace
        OR pronamespace = 'pg_catalog'::regnamespace AND provolatile = 'i'
            AND prorettype IN (SELECT type FROM plain)
            AND NOT EXISTS (
                SELECT FROM unnest(proargtypes) a WHERE a NOT IN (SELECT type FROM plain))
            -- Operators and aggregates come as such.
            AND oid NOT IN (SELECT oprcode FROM pg_catalog.pg_operator)
            AND oid NOT IN (SELECT function FROM of_aggregates);
GRANT USAGE ON SCHEMA lens TO smith;
GRANT SELECT ON lens.pg_proc TO smith;
ALTER ROLE smith SET search_path = lens, smith, public, pg_catalog;
ALTER ROLE smith SET temp_file_limit = '1GB';

-- The names by which a statement uses our functions, or what stands for them above.
CREATE VIEW lens.pattern AS
    SELECT format('\b(?:%s)\b', string_agg(DISTINCT name, '|')) AS names
    FROM (
        SELECT proname::text AS name FROM lens.pg_proc
        WHERE pronamespace <> 'pg_catalog'::regnamespace
        UNION ALL
        SELECT relname FROM pg_class
        WHERE relnamespace = 'smith'::regnamespace AND relkind = 'v') n;
