-- What CREATE INDEX says of a first column that holds neither fingerprints, documents nor codes, and that who follows its HINT
-- ends with an index that the query uses.
CREATE TABLE kinds (id bigint PRIMARY KEY, body text, "Odd name" varchar(9), chars char(4), label name, n numeric, i integer, s smallint,
                    bits bit(64), few bit(9), many bit(256), code bit(2000), flexible bit varying, raw bytea, words text[], hashes bigint[], lexemes tsvector,
                    js json, jb jsonb, x xml, day date, fp bigint, made serial);
CREATE DOMAIN document AS text;
CREATE TABLE of_domain (body document);
-- Made as citext is.
SET client_min_messages = warning;
CREATE TYPE like_citext;
CREATE FUNCTION like_citext_in(cstring) RETURNS like_citext IMMUTABLE STRICT LANGUAGE internal AS 'textin';
CREATE FUNCTION like_citext_out(like_citext) RETURNS cstring IMMUTABLE STRICT LANGUAGE internal AS 'textout';
CREATE TYPE like_citext (INPUT = like_citext_in, OUTPUT = like_citext_out, INTERNALLENGTH = VARIABLE, STORAGE = extended,
                         CATEGORY = 'S', COLLATABLE = true);
CREATE CAST (like_citext AS text) WITHOUT FUNCTION AS IMPLICIT;
RESET client_min_messages;
ALTER TABLE kinds ADD folded like_citext;
-- A row whose fingerprint is 5 by each of the numbers. Not every server can read an xml.
INSERT INTO kinds VALUES (1, 'a b', 'a b', 'a b', 'a b', 5, 5, 5, 5::bit(64), 5::bit(9), substring(5::bit(64) || repeat('1', 192)::bit(192), 1),
                          repeat('01', 1000)::bit(2000), 5::bit(64)::varbit, '\x0000000000000005', '{a,b}', '{5}', 'a b', '{"body": "a b"}', '{"body": "a b"}', NULL, NULL, NULL, 1, 'a b');
CREATE INDEX ON kinds USING simhash (i);
CREATE INDEX ON kinds USING simhash (few);
CREATE INDEX ON kinds USING simhash (many);
CREATE INDEX ON kinds USING simhash (flexible);
CREATE INDEX ON kinds USING simhash (code);
CREATE INDEX ON of_domain USING simhash (body);

-- Every type of the server, as the first column and in a scope: that there is an index, or the error with its HINT.
CREATE FUNCTION said(type text, columns text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN
    EXECUTE format('CREATE TEMP TABLE typed (fp bigint, v %s)', type);
    EXECUTE format('CREATE INDEX ON typed USING simhash (%s)', columns);
    DROP TABLE typed;
    RETURN 'an index';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN SQLSTATE || ' ' || hint;
END $$;
-- Not those of the catalogs, which a table does not have, and which versions add to.
CREATE TABLE types AS
    SELECT format_type(oid, CASE oid WHEN 'bit'::regtype THEN 128 END) AS type FROM pg_type
    WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype IN ('b', 'r', 'm') AND typcategory <> 'A'
        AND typname !~ '^(pg_(node|nd|dep|mcv|brin).*|oid8|regdatabase|gtsvector|refcursor)$'
    UNION ALL VALUES ('bit varying(9)'), ('text[]'), ('bigint[]'), ('date[]'), ('mood'), ('place'), ('hamming_ball');
CREATE TYPE mood AS ENUM ('calm', 'merry');
CREATE TYPE place AS (country text, city text);
\pset format unaligned
\pset tuples_only on
\pset fieldsep '\n  '
SELECT said(type, 'v') COLLATE "C" AS as_first_column, string_agg(type, ', ' ORDER BY type COLLATE "C") AS types FROM types GROUP BY 1 ORDER BY 1;
SELECT said(type, 'fp, v') COLLATE "C" AS in_a_scope, string_agg(type, ', ' ORDER BY type COLLATE "C") AS types FROM types GROUP BY 1 ORDER BY 1;
CREATE INDEX ON kinds USING simhash (fp, js);
CREATE INDEX ON kinds USING simhash (fp, x);
DROP TYPE mood, place;

-- What the HINT says to write, an index of it, and whether that finds the row by the condition with what the HINT says to write in queries.
CREATE FUNCTION followed(first text, condition text, length integer DEFAULT NULL, OUT hint text, OUT plan text, OUT rows bigint) LANGUAGE plpgsql AS $$
DECLARE line text; written text; asked text;
BEGIN
    BEGIN
        EXECUTE format('CREATE INDEX ON kinds USING simhash (%s)', first);
    EXCEPTION WHEN datatype_mismatch OR program_limit_exceeded THEN
        GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
        -- From 17 on CREATE INDEX has a search_path of its own.
        hint := replace(hint, 'public.', '');
    END;
    written := replace(replace(substring(hint FROM 'USING simhash \((.*?)\)(?:, and .* in queries|\. Conditions .*|)\.$'), 'bit(n)', format('bit(%s)', length)), ', n)', format(', %s)', length));
    asked := replace(replace(coalesce(substring(hint FROM 'and (.*) in queries'), first), 'bit(n)', format('bit(%s)', length)), ', n)', format(', %s)', length));
    EXECUTE format('CREATE INDEX written_so ON kinds USING simhash (%s)', written);
    condition := format(condition, asked);
    plan := 'scan';
    FOR line IN EXECUTE format('EXPLAIN SELECT FROM kinds WHERE %s', condition) LOOP
        IF line ~ 'written_so' THEN plan := 'index'; END IF;
    END LOOP;
    EXECUTE format('SELECT count(*) FROM kinds WHERE %s', condition) INTO rows;
    DROP INDEX written_so;
END $$;
SET enable_seqscan = off;
SELECT followed.* FROM (VALUES
    ('chars', '%s =~~ ''A, b''', NULL), ('label', '%s =~~ ''A, b''', NULL), ('n', '%s <~> 4 <= 3', NULL), ('i', '%s <~> 4 <= 3', NULL),
    ('s', '%s <~> 4 <= 3', NULL), ('flexible', '%s <~~> 4::bit(64) <= 3', 64), ('substring(many, 1, 64)', '%s <~~> 4::bit(64) <= 3', 64),
    ('code', '%s <~~> repeat(''01'', 512)::bit(1024) <= 127', NULL), ('minhash_code(body)', '%s <~~> minhash_code(''A, b'') <= 18', 128), ('raw', '%s <~~> 4::bit(64) <= 3', 64),
    ('words', '%s <~> minhash_of(''{a,b}''::text[]) <= 8', NULL), ('hashes', '%s <~> minhash_of(''{5}''::bigint[]) <= 8', NULL),
    ('lexemes', '%s <~> minhash(''a b''::tsvector) <= 8', NULL), ('js', '%s =~~ ''A, b''', NULL), ('jb', '%s =~~ ''A, b''', NULL),
    ('x', '%s =~~ ''A, b''', NULL), ('day, body', 'body =~~ ''A, b''', NULL), ('made, body', 'body =~~ ''A, b''', NULL),
    ('made, chars', 'chars =~~ ''A, b''', NULL)) v (first, condition, length), followed(first, condition, length);
-- Bytes of another length are refused by the index that the HINT says to write, and by such a query.
CREATE TABLE shorter (raw bytea);
CREATE INDEX ON shorter USING simhash ((code_from_hex(encode(raw, 'hex'), 64)::bit(64)));
INSERT INTO shorter VALUES ('\x0000000000000005'), (NULL);
INSERT INTO shorter VALUES ('\x00000000000005');
INSERT INTO shorter VALUES ('\x00000000000000000005');
INSERT INTO shorter VALUES ('');
SELECT count(*) FROM shorter WHERE code_from_hex(encode(raw, 'hex'), 64)::bit(64) <~~> code_from_hex(encode('\x04', 'hex'), 64)::bit(64) <= 3;
DROP TABLE shorter;
\pset format aligned
\pset tuples_only off
\pset fieldsep '|'
-- These need no HINT.
CREATE FUNCTION plan_of(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT FROM kinds WHERE %s', condition) LOOP
        IF line ~ 'using|on kinds' THEN RETURN trim(line); END IF;
    END LOOP;
END $$;
CREATE INDEX kinds_body ON kinds USING simhash (body);
CREATE INDEX kinds_name ON kinds USING simhash ("Odd name");
CREATE INDEX kinds_folded ON kinds USING simhash (folded);
SELECT plan_of('body =~~ ''A, b'''), plan_of('"Odd name" =~~ ''A, b'''), plan_of('folded =~~ ''A, b''');
DROP INDEX kinds_body, kinds_name, kinds_folded;
RESET enable_seqscan;

-- A bigint that is the primary key is taken, but not in silence.
CREATE INDEX kinds_id ON kinds USING simhash (id, body);
CREATE INDEX kinds_day ON kinds USING simhash (id, day);
CREATE TABLE numbered (id bigserial PRIMARY KEY, body text, code bigint UNIQUE);
CREATE INDEX CONCURRENTLY numbered_later ON numbered USING simhash (id, body);
-- It is said once: not when the index is built again.
REINDEX INDEX kinds_id;
REINDEX TABLE numbered;
TRUNCATE numbered;
VACUUM FULL numbered;
CREATE TEMP TABLE emptied (id bigserial PRIMARY KEY, body text) ON COMMIT DELETE ROWS;
CREATE INDEX emptied_id ON emptied USING simhash (id, body);
INSERT INTO emptied DEFAULT VALUES;
INSERT INTO emptied DEFAULT VALUES;
DROP TABLE emptied;
CREATE TABLE constrained (id bigint PRIMARY KEY, body text, CONSTRAINT constrained_excl EXCLUDE USING simhash (id WITH ~=, body WITH =));
-- What may well be a fingerprint is taken in silence.
CREATE TABLE fingerprint_keys (fp bigint PRIMARY KEY);
CREATE INDEX ON fingerprint_keys USING simhash (fp);
CREATE INDEX ON numbered USING simhash (code, body);
CREATE INDEX ON numbered USING simhash ((id # 1), body);

-- A scope that has one row at most is taken, but not in silence.
CREATE TABLE tenants (number bigint, body text, tenant text, PRIMARY KEY (tenant, number));
CREATE INDEX tenants_two ON tenants USING simhash (body, number, tenant);
ALTER TABLE tenants ADD CONSTRAINT tenants_excl EXCLUDE USING simhash (body WITH =~~, tenant WITH =, number WITH =);
CREATE INDEX ON tenants USING simhash (body, number);
CREATE INDEX ON tenants USING simhash (body, tenant, (number + 1));
REINDEX TABLE tenants;
-- As the HINT says.
CREATE INDEX tenants_body ON tenants USING simhash (body);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT FROM tenants WHERE body =~~ 'A, b';
RESET enable_seqscan;
-- A class that would compute lanes of a bigint.
CREATE FUNCTION other_lane(bigint) RETURNS bigint[] LANGUAGE sql IMMUTABLE STRICT AS 'SELECT ARRAY[$1 # 1]';
CREATE OPERATOR CLASS other_lanes_ops FOR TYPE bigint USING simhash AS
    OPERATOR 1 <@ (bigint, hamming_ball), FUNCTION 1 hashint8extended (bigint, bigint), FUNCTION 2 other_lane (bigint);
CREATE INDEX ON numbered USING simhash (code other_lanes_ops);
CREATE INDEX ON numbered USING simhash (code, code other_lanes_ops);
DROP OPERATOR FAMILY other_lanes_ops USING simhash CASCADE;
DROP FUNCTION other_lane;
DROP TABLE kinds, of_domain, types, numbered, constrained, fingerprint_keys, tenants;
DROP DOMAIN document;
DROP FUNCTION said, followed, plan_of;
SET client_min_messages = warning;
DROP TYPE like_citext CASCADE;
