-- Documents: near_duplicate(), =~~ and indexes on texts. The oracle is the definition, written in SQL, in a sequential scan.
SET jit = off;
SET client_min_messages = warning;
CREATE COLLATION ignore_accents (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
RESET client_min_messages;

-- The lanes of a document are the halves of its minhash_code().
CREATE FUNCTION nearest_lane(a text, b text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT least(bit_count(substring(differing, 1, 64)), bit_count(substring(differing, 65, 64)))
    FROM (SELECT minhash_code(a, 128) # minhash_code(b, 128) AS differing) codes
$$;
CREATE FUNCTION defined(a text, b text, similarity double precision) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(nearest_lane(a, b) <= minhash_radius(similarity, 0.96) AND shingle_similarity(a, b) >= similarity, false)
$$;

-- ---- the definition ----

-- Documents of 40 words in groups of six; each but the first of a group has up to five of its words changed.
CREATE FUNCTION document(of_group int, changed int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(CASE WHEN w <= changed THEN 'changed' || changed || w ELSE left(md5(of_group || ' ' || w), 6) END, ' '
                      ORDER BY hashint4(w))
    FROM generate_series(1, 40) w
$$;
CREATE TABLE pages (id int PRIMARY KEY, body text, tenant int, lang text);
INSERT INTO pages SELECT i, document(i / 6, i % 6), i % 3, (ARRAY['de', 'en', NULL])[1 + i % 3] FROM generate_series(1, 600) i;
-- Documents without a feature, equal ones, short ones, one that is toasted, NULL.
INSERT INTO pages VALUES (2001, '', 0, 'de'), (2002, '...', 1, 'de'), (2003, ' - ', 0, 'de'), (2004, NULL, 0, 'de'), (2005, '...', 0, NULL),
    (2006, 'Thank you!', 0, 'de'), (2007, 'thank, YOU', 1, 'en'), (2008, 'Thank you!', 0, 'de'), (2009, 'you thank', 0, 'de');
INSERT INTO pages SELECT 2010 + i, string_agg(document(500 + g, 0), E'\n' ORDER BY g) || i, 0, 'de'
    FROM generate_series(1, 2) i, generate_series(1, 100) g GROUP BY i;
SELECT count(*) FILTER (WHERE near) AS near, count(*) AS pairs,
       count(*) FILTER (WHERE near <> (a.body =~~ b.body) OR near <> near_duplicate(a.body, b.body)
                           OR near <> (b.body =~~ a.body) OR near <> near_duplicate(b.body, a.body, 0.8)) AS wrong
FROM pages a CROSS JOIN pages b, LATERAL (SELECT defined(a.body, b.body, 0.8) AS near) d
WHERE a.id % 41 = 3 OR a.id > 2000 AND a.body IS NOT NULL AND b.body IS NOT NULL;
SELECT similarity, count(*) FILTER (WHERE near) AS near, count(*) FILTER (WHERE near <> near_duplicate(a.body, b.body, similarity)) AS wrong
FROM pages a CROSS JOIN pages b, unnest('{0, 0.3, 0.5, 0.79, 0.8, 0.81, 0.9, 1}'::double precision[]) similarity,
     LATERAL (SELECT defined(a.body, b.body, similarity) AS near) d
WHERE a.id IN (7, 8, 350, 2001, 2006, 2011) AND b.body IS NOT NULL
GROUP BY similarity ORDER BY similarity;
-- Whatever the calls before it were, each is answered for itself.
SELECT min(format('near_duplicate(%L, %L, %s)', a, b, s)) FILTER (WHERE near_duplicate(a, b, s) IS DISTINCT FROM defined(a, b, s)) AS wrong
FROM (SELECT document(i / 3, i / 5 % 4) AS a, document(i / 4, i / 7 % 3) AS b, (ARRAY[0.5, 0.8])[1 + i / 9 % 2] AS s
      FROM generate_series(1, 200) i) d;
SELECT near_duplicate(NULL, 'a'), near_duplicate('a', NULL), near_duplicate('a', 'a', NULL), NULL =~~ 'a'::text AS operator;
SELECT near_duplicate('', ''), '...'::text =~~ '...' AS no_feature, near_duplicate('', '', 0) AS at_all, near_duplicate('a b', '', 0) AS one,
       'Thank you!'::text =~~ 'thank YOU' AS normalised;
SELECT near_duplicate('a', 'a', 1.01);
SELECT near_duplicate('a', 'a', -0.01);
SELECT near_duplicate('a', 'a', 'NaN');
SELECT 'Thank you!'::varchar(20) =~~ 'thank you' AS varchar, (document_lanes('Thank you!'))[1] = minhash('Thank you!') AS first_lane,
       document_lanes('...') AS none, document_lanes(NULL) AS of_null,
       text 'Thank you!' <@~~ bit_ball(minhash_code('thank you'), 0) AS in_ball, text '...' <@~~ bit_ball(0::bit(128), 64) AS without;
SELECT document_lane_layout(-1), document_lane_layout(42) = document_lane_layout(-1) AS whatever_the_modifier;
-- One lane is enough, and a lane is compared with its like.
SELECT count(*) FILTER (WHERE body <@~~ bit_ball(center, radius)) AS in_ball,
       count(*) FILTER (WHERE (body <@~~ bit_ball(center, radius)) <> (least(bit_count(substring(code # center, 1, 64)), bit_count(substring(code # center, 65))) <= radius)) AS wrong
FROM (SELECT body, minhash_code(body) AS code FROM pages WHERE id < 200) p, (SELECT minhash_code(document(3, 0))) q(code_of_3),
     LATERAL (VALUES (code_of_3), ((substring(code_of_3, 1, 64) || ~substring(code_of_3, 65))::bit(128)), ((~substring(code_of_3, 1, 64) || substring(code_of_3, 65))::bit(128)),
              ((substring(code_of_3, 65) || substring(code_of_3, 1, 64))::bit(128))) centers(center),
     generate_series(-1, 64, 5) radius;
SELECT text 'a' <@~~ bit_ball(0::bit(64), 3);
-- A literal without a type is a code: <@ has no form for texts.
SELECT '0101' <@ bit_ball('0100', 1) AS code;
-- The lanes of a document, after those of others at the same call site: empty, equal, of the same length, too long to be kept.
SELECT count(*) AS documents, count(lanes) AS with_lanes,
       count(*) FILTER (WHERE (lanes[1]::bit(64) || lanes[2]::bit(64))::bit(128) IS DISTINCT FROM minhash_code(body) OR cardinality(lanes) NOT IN (0, 2)) AS wrong
FROM (SELECT body, document_lanes(body) AS lanes
      FROM unnest(ARRAY['', 'red boats', 'red boats', 'red goats', '', 'red goats!', '... .....', 'red boats',
                        repeat('red boats ', 7000), repeat('red goats ', 7000), 'red boats', repeat('red boats ', 6000), repeat('red goats ', 6000),
                        '']) body) d;
-- Both commute.
SELECT oprname, oprleft::regtype, oprright::regtype, oprcom = o.oid AS commutes FROM pg_operator o WHERE oprname = '=~~' ORDER BY 2;

-- ---- the index ----

CREATE INDEX pages_body ON pages USING simhash (body);
VACUUM ANALYZE pages;
SELECT rows FROM simhash_index_check('pages_body', true);
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        -- PostgreSQL 18 marks a plan that is switched off, and taken as there is no other.
        IF line !~ '^ *Disabled: true$' THEN RETURN NEXT line; END IF;
    END LOOP;
END $$;
SELECT plan('SELECT id FROM pages WHERE body =~~ ''Thank you''');
SELECT plan('SELECT id FROM pages WHERE ''Thank you'' =~~ body');
SELECT plan('SELECT id FROM pages WHERE near_duplicate(body, ''Thank you'')');
SELECT plan('SELECT id FROM pages WHERE near_duplicate(''Thank you'', body, .9)');
SELECT plan('SELECT id FROM pages WHERE near_duplicate(body, ''...'', .9)');
SELECT plan('SELECT id FROM pages WHERE body <@~~ bit_ball(42::bit(128), 3)');
SELECT plan('SELECT id FROM pages WHERE body = ''Thank you!''');
SELECT plan('SELECT id FROM pages WHERE body =~~ ANY (''{Thank you,you thank}'')');
SELECT plan('SELECT a.id FROM pages a JOIN pages b ON a.body =~~ b.body WHERE b.id = 7');
SELECT plan('SELECT a.id FROM pages a JOIN pages b ON near_duplicate(a.body, b.body, .5 + b.tenant::float8 / 10) WHERE b.id = 7');
-- A similarity of the row itself is no index condition; one that is out of range is the function's error.
SET enable_seqscan = off;
SELECT plan('SELECT id FROM pages WHERE near_duplicate(body, ''Thank you'', id::float8)');
SELECT plan('SELECT id FROM pages WHERE near_duplicate(body, ''Thank you'', 2)');
-- It has neither an order nor columns to return.
SELECT plan('SELECT body FROM pages WHERE body =~~ ''Thank you''');
SELECT pg_index_column_has_property('pages_body', 1, 'distance_orderable') AS ordered, pg_index_column_has_property('pages_body', 1, 'returnable') AS returned;
RESET enable_seqscan;
SELECT near_duplicate(body, 'Thank you', 2) FROM pages LIMIT 1;
SELECT id FROM pages WHERE near_duplicate(body, 'Thank you', 2);
SELECT id FROM pages WHERE id < 0 AND near_duplicate(body, 'Thank you', 2);
SELECT id FROM pages WHERE id < 0 AND near_duplicate(body, 'Thank you', -0.01);
SELECT id FROM pages WHERE id < 0 AND near_duplicate(body, 'Thank you', 'NaN');

-- Every answer is the sequential scan's.
CREATE FUNCTION answer(query text, by_index boolean, bitmaps boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    PERFORM set_config('enable_seqscan', (NOT by_index)::text, true),
            set_config('enable_indexscan', (by_index AND NOT bitmaps)::text, true),
            set_config('enable_bitmapscan', (by_index AND bitmaps)::text, true);
    EXECUTE 'SELECT string_agg(id::text, '' '' ORDER BY id) FROM pages WHERE ' || query INTO result;
    RETURN coalesce(result, 'none');
END $$;
CREATE TABLE conditions (condition text);
INSERT INTO conditions
    SELECT format(form, quote_literal(coalesce(body, 'NULL'))) FROM pages,
        unnest('{body =~~ %s, %s =~~ body, "near_duplicate(body, %s)", "near_duplicate(%s, body, 0.9)", "near_duplicate(body, %s, 0.4)",
                 "near_duplicate(body, %s, 0)", "near_duplicate(body, %s, 1)", body = %s, "body <@~~ bit_ball(minhash_code(%s), 12)",
                 "body =~~ %1$s AND body = %1$s", "body =~~ ANY (ARRAY[%s, ''Thank you''])", "body = ANY (ARRAY[%s, NULL])",
                 "body <@~~ ANY (ARRAY[bit_ball(minhash_code(%s), 12), bit_ball(minhash_code(''Thank you''), 0)])", "body <@~~ bit_ball(minhash_code(%1$s), 9) AND body =~~ %1$s", NOT body =~~ %s,
                 "body =~~ %s AND body IS NOT NULL", "body = %s OR body IS NULL"}'::text[]) form
    WHERE id IN (1, 350, 2002, 2006, 2009, 2011);
INSERT INTO conditions VALUES ('body IS NULL'), ('body IS NOT NULL'), ('body =~~ NULL'), ('body = NULL'), ('body IS NULL AND body IS NOT NULL'),
    ('near_duplicate(body, NULL, .9)'), ('near_duplicate(body, ''a'', NULL)'), ('body <@~~ bit_ball(0::bit(128), -1)'), ('body <@~~ bit_ball(0::bit(128), 64)'),
    ('body <@~~ bit_ball(0::bit(128), 2000)'), ('body <@~~ NULL'), ('body = ''...'' AND body IS NOT NULL'), ('body = ''...'' AND body =~~ ''...'''), ('true');
CREATE FUNCTION wrong_answers() RETURNS TABLE (queries bigint, with_answers bigint, wrong bigint) LANGUAGE sql AS $$
    SELECT count(*), count(*) FILTER (WHERE expected <> 'none'),
           count(*) FILTER (WHERE found <> expected OR found_by_bitmap <> expected)
    FROM (SELECT answer(condition, true) AS found, answer(condition, true, true) AS found_by_bitmap, answer(condition, false) AS expected
          FROM conditions) a
$$;
SELECT * FROM wrong_answers();

-- Grown, changed, vacuumed, rebuilt.
DROP INDEX pages_body;
CREATE TABLE loaded AS TABLE pages;
TRUNCATE pages;
CREATE INDEX pages_body ON pages USING simhash (body) WITH (radius = 8, tables = 6);
INSERT INTO pages SELECT * FROM loaded;
SELECT * FROM wrong_answers();
UPDATE pages SET body = document(id / 5, id % 4) WHERE id % 7 = 0;
UPDATE pages SET body = CASE WHEN body IS NULL THEN '...' ELSE NULL END WHERE id % 11 = 0;
DELETE FROM pages WHERE id % 13 = 0;
VACUUM pages;
SELECT * FROM wrong_answers();
SELECT orphans FROM simhash_index_check('pages_body', true);
REINDEX INDEX pages_body;
SELECT * FROM wrong_answers();
DROP INDEX pages_body;
SET client_min_messages = warning;
-- Laid out for the radius of =~~ in 1.2, a smaller one.
CREATE INDEX CONCURRENTLY pages_body ON pages USING simhash (body) WITH (radius = 9);
RESET client_min_messages;
SELECT * FROM wrong_answers();

-- What support functions leave is freed after each row of a build, and after each query of a join.
CREATE TABLE numbered AS SELECT 'a text with the number ' || i AS body FROM generate_series(1, 50) i;
CREATE FUNCTION told(body text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF body LIKE '% 50' THEN
        RAISE NOTICE 'kept: %', (SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'simhash call');
    END IF;
    RETURN body;
END $$;
CREATE INDEX ON numbered USING simhash (told(body));
CREATE INDEX ON numbered USING simhash (body);
SET enable_seqscan = off;
SELECT (SELECT count(*) FROM numbered a, LATERAL (SELECT FROM numbered b WHERE b.body =~~ a.body OFFSET 0) b) AS rows,
    (SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'simhash call') AS kept;
RESET enable_seqscan;
DROP TABLE numbered;
DROP FUNCTION told;

-- Parameters, also those that turn out to be NULL, to have no feature, or to be out of range.
SET enable_seqscan = off;
SET plan_cache_mode = force_generic_plan;
PREPARE alike(text) AS SELECT count(*) FROM pages WHERE body =~~ $1;
PREPARE near(text, float8) AS SELECT count(*) FROM pages WHERE near_duplicate($1, body, $2);
EXPLAIN (COSTS OFF) EXECUTE near('a', .9);
EXECUTE alike('thank you');
EXECUTE alike('?');
EXECUTE alike(NULL);
EXECUTE near('thank you', .9);
EXECUTE near('thank you', 0);
EXECUTE near('?', 0);
EXECUTE near(NULL, .9);
EXECUTE near('a', NULL);
EXECUTE near('a', 7);
DEALLOCATE ALL;
RESET plan_cache_mode;
RESET enable_seqscan;

-- A cursor's rescans, and joins.
SELECT count(*) AS by_index FROM pages a JOIN pages b ON a.body =~~ b.body;
SELECT count(*) AS by_definition FROM pages a JOIN pages b ON nearest_lane(a.body, b.body) <= 11 AND shingle_similarity(a.body, b.body) >= 0.8;
SELECT count(*) AS with_a_near_one FROM pages a WHERE EXISTS (SELECT FROM pages b WHERE a.body =~~ b.body AND a.id <> b.id);
SELECT plan('SELECT count(*) FROM pages a JOIN pages b ON near_duplicate(a.body, b.body, .9)');

-- A role that may not call what the index needs gets the same answer without it.
CREATE ROLE regress_documents_reader;
GRANT SELECT ON pages TO regress_documents_reader;
REVOKE EXECUTE ON FUNCTION documents_alike(text, text), document_in_ball(text, bit_ball) FROM PUBLIC;
SET enable_seqscan = off;
SELECT plan('SELECT id FROM pages WHERE near_duplicate(body, ''Thank you'')');
SET ROLE regress_documents_reader;
SELECT plan('SELECT id FROM pages WHERE near_duplicate(body, ''Thank you'')');
SELECT plan('SELECT id FROM pages WHERE near_duplicate(body, ''Thank you'', .9)');
SELECT array_agg(id ORDER BY id) FROM pages WHERE near_duplicate(body, 'Thank you');
SELECT id FROM pages WHERE body =~~ 'Thank you';
RESET ROLE;
RESET enable_seqscan;
GRANT EXECUTE ON FUNCTION documents_alike(text, text), document_in_ball(text, bit_ball) TO PUBLIC;
DROP OWNED BY regress_documents_reader;
DROP ROLE regress_documents_reader;

-- Scopes, partial indexes, expressions; types that are texts.
CREATE INDEX pages_tenant ON pages USING simhash (body, tenant);
CREATE INDEX pages_lang ON pages USING simhash (body, lang, tenant);
DROP INDEX pages_body;
ANALYZE pages;
SELECT plan('SELECT id FROM pages WHERE body =~~ ''Thank you'' AND tenant = 0');
SELECT plan('SELECT id FROM pages WHERE body =~~ ''Thank you'' AND tenant = 0 AND lang IS NULL');
UPDATE conditions SET condition = '(' || condition || ') AND tenant = 0';
SELECT * FROM wrong_answers();
DROP INDEX pages_tenant;
UPDATE conditions SET condition = condition || ' AND lang = ''de''';
SELECT * FROM wrong_answers();
SELECT rows - (SELECT count(*) FROM pages) AS too_many FROM simhash_index_check('pages_lang', true);
DROP INDEX pages_lang;
CREATE INDEX pages_partial ON pages USING simhash (lower(body)) WHERE tenant = 0;
SELECT plan('SELECT id FROM pages WHERE lower(body) =~~ ''Thank you'' AND tenant = 0');
SET enable_seqscan = off;
SELECT array_agg(id ORDER BY id) FROM pages WHERE lower(body) =~~ 'Thank you' AND tenant = 0;
CREATE INDEX pages_near ON pages USING simhash (body) WHERE near_duplicate(body, 'Thank you', 0.5) AND near_duplicate(body, 'Thank you');
SELECT plan('SELECT id FROM pages WHERE near_duplicate(body, ''Thank you'', 0.5) AND near_duplicate(body, ''Thank you'') AND body =~~ ''Thank you''');
DROP INDEX pages_near;
CREATE DOMAIN letter AS text;
CREATE TABLE kinds_of_text (v varchar(30), d letter, n text COLLATE ignore_accents);
INSERT INTO kinds_of_text VALUES ('The boat house', 'The boat house', 'The boat house'), ('the boat, house', 'the boat, house', 'THE BOAT HOUSE'), ('...', '...', '...'), (NULL, NULL, NULL);
CREATE INDEX ON kinds_of_text USING simhash (v);
CREATE INDEX ON kinds_of_text USING simhash (d);
CREATE INDEX ON kinds_of_text USING simhash (n);
SELECT plan('SELECT FROM kinds_of_text WHERE v =~~ ''the boat house''');
SELECT plan('SELECT FROM kinds_of_text WHERE d =~~ ''the boat house''');
SELECT plan('SELECT FROM kinds_of_text WHERE n =~~ ''the boat house''');
SELECT plan('SELECT FROM kinds_of_text WHERE n =~~ ''the boat house'' COLLATE "C"');
SELECT (SELECT count(*) FROM kinds_of_text WHERE v =~~ 'the boat house') AS v, (SELECT count(*) FROM kinds_of_text WHERE d =~~ 'the boat house') AS d,
       (SELECT count(*) FROM kinds_of_text WHERE n =~~ 'the boat house') AS n, (SELECT count(*) FROM kinds_of_text WHERE n =~~ 'the boat house' COLLATE "C") AS c;
-- Texts that a collation calls equal are found, whatever their words are.
INSERT INTO kinds_of_text (n) VALUES ('がさ'), ('かさ');
SET enable_bitmapscan = off;
SELECT plan('SELECT FROM kinds_of_text WHERE n = ''かさ''');
RESET enable_bitmapscan;
SELECT count(*) AS equal, count(*) FILTER (WHERE n =~~ 'かさ') AS alike FROM kinds_of_text WHERE n = 'かさ';
RESET enable_seqscan;
CREATE TABLE parted (id int, body text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (300);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (300) TO (9999);
CREATE INDEX ON parted USING simhash (body);
INSERT INTO parted SELECT id, body FROM pages;
ANALYZE parted;
SELECT plan('SELECT id FROM parted WHERE near_duplicate(body, ''Thank you'')');
SELECT array_agg(id ORDER BY id) FROM parted WHERE near_duplicate(body, 'Thank you');

-- ---- estimates ----

CREATE FUNCTION estimated(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;
CREATE TABLE notes AS SELECT i AS id, CASE WHEN i % 4 = 0 THEN 'page not found' WHEN i % 10 > 0 THEN 'note number ' || i END AS body FROM generate_series(1, 10000) i;
ANALYZE notes;
SELECT estimated('SELECT FROM notes WHERE body =~~ ''note number 7''') < 20 AS few,
       estimated('SELECT FROM notes WHERE body =~~ ''page not found''') BETWEEN 2000 AND 3000 AS common,
       estimated('SELECT FROM notes WHERE near_duplicate(body, ''page not found'', .9)') BETWEEN 2000 AND 3000 AS common_by_function,
       estimated('SELECT FROM notes WHERE body =~~ NULL') AS never,
       estimated('SELECT FROM notes a JOIN notes b ON a.body =~~ b.body') BETWEEN 5000 AND 50000 AS joined,
       estimated('SELECT FROM notes WHERE body =~~ body') > 0 AS itself,
       estimated('SELECT FROM notes WHERE ''a'' =~~ ''b''') AS constants,
       estimated('SELECT FROM notes WHERE near_duplicate(body, body, id::float8)') > 0 AS odd;
CREATE TABLE empty (body text);
SELECT estimated('SELECT FROM empty WHERE body =~~ ''a''') > 0 AS empty, estimated('SELECT FROM empty a JOIN empty b ON a.body =~~ b.body') > 0 AS joined;
-- The index is preferred to comparing every document.
CREATE INDEX notes_body ON notes USING simhash (body);
SELECT plan('SELECT FROM notes WHERE body =~~ ''note number 7''');
-- More rows than memory remembers, of which both lanes find some, and the second lane alone others.
CREATE FUNCTION found(ball bit_ball, by_index boolean) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE result bigint[];
BEGIN
    PERFORM set_config('work_mem', '64kB', true), set_config('enable_bitmapscan', 'off', true),
            set_config('enable_seqscan', (NOT by_index)::text, true), set_config('enable_indexscan', by_index::text, true);
    EXECUTE 'SELECT ARRAY[count(*), sum(hashint8(id))] FROM notes WHERE body <@~~ $1' INTO result USING ball;
    RETURN result;
END $$;
SELECT radius, (found(ball, true))[1] AS rows, nullif(found(ball, true), found(ball, false)) AS wrong
FROM unnest('{9, 20, 24, 28, 31, 64}'::int[]) radius, LATERAL (SELECT bit_ball(minhash_code('a stranger to all of these notes'), radius)) b(ball);

-- ---- constraints ----

\set VERBOSITY terse

CREATE TABLE originals (id int, body text, CONSTRAINT no_copies EXCLUDE USING simhash (body WITH =~~));
INSERT INTO originals VALUES (1, document(1, 0));
INSERT INTO originals VALUES (2, document(1, 1));
INSERT INTO originals VALUES (2, document(1, 1)) ON CONFLICT DO NOTHING;
INSERT INTO originals VALUES (3, document(1, 5)), (4, '...'), (5, '...'), (6, NULL), (7, NULL);
SELECT id FROM originals ORDER BY id;
-- Near by its fingerprint, and not alike: the texts decide.
SELECT count(*) AS near_by_fingerprint FROM originals WHERE minhash(body) <~> minhash(document(1, 2)) <= 12;
UPDATE originals SET body = document(1, 1) WHERE id = 3;
BEGIN;
ALTER TABLE originals DROP CONSTRAINT no_copies, ADD CONSTRAINT no_copies EXCLUDE USING simhash (body WITH =~~) DEFERRABLE INITIALLY DEFERRED;
INSERT INTO originals VALUES (8, document(1, 1));
DELETE FROM originals WHERE id = 1;
COMMIT;
BEGIN;
INSERT INTO originals VALUES (9, document(1, 0));
COMMIT;
CREATE TABLE of_tenants (body text, tenant int, EXCLUDE USING simhash (body WITH =~~, tenant WITH =) WHERE (length(body) > 20));
INSERT INTO of_tenants VALUES (document(1, 0), 1), (document(1, 0), 2), ('short', 1), ('short', 1);
INSERT INTO of_tenants VALUES (document(1, 1), 1);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'text_ops' AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'simhash');
\set VERBOSITY default
CREATE TABLE wrong (fp bigint, body text, tenant bigint);
-- From PostgreSQL 17 on, the server itself takes schemas off the search_path for these statements.
SET search_path = pg_catalog;
ALTER TABLE public.wrong ADD EXCLUDE USING simhash (fp WITH OPERATOR(public.~=), body WITH OPERATOR(public.=~~));
ALTER TABLE public.wrong ADD EXCLUDE USING simhash (fp WITH OPERATOR(public.~=), tenant WITH OPERATOR(public.~=));
RESET search_path;
-- A class that computes several words, or none that can be hashed.
CREATE FUNCTION two_words(varchar) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS 'SELECT ARRAY[1::bigint, 2]';
CREATE OPERATOR CLASS two_words_ops FOR TYPE text USING simhash AS OPERATOR 2 = (text, text), FUNCTION 2 (text, text) two_words (varchar);
INSERT INTO wrong VALUES (1, 'a', 1);
CREATE INDEX ON wrong USING simhash (body two_words_ops);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'two_words_ops';
CREATE INDEX ON wrong USING simhash (fp, body two_words_ops);
DROP OPERATOR FAMILY two_words_ops USING simhash;
DROP TABLE pages, loaded, conditions, kinds_of_text, parted, notes, empty, originals, of_tenants, wrong;
DROP FUNCTION wrong_answers, plan, answer, estimated, found, document, defined, nearest_lane, two_words;
DROP DOMAIN letter;
DROP COLLATION ignore_accents;
-- The comparison of documents costs more than to find them: where all are alike, the index does not seem to do it for nothing.
CREATE TABLE copies AS SELECT 'the quick brown fox jumps over the lazy dog and away' AS body FROM generate_series(1, 1000);
CREATE INDEX copies_body ON copies USING simhash (body);
ANALYZE copies;
EXPLAIN (COSTS OFF) SELECT count(*) FROM copies WHERE body =~~ 'the quick brown fox jumps over the lazy dog and away';
DROP TABLE copies;
-- What the support functions leave in memory goes with each row.
CREATE TABLE kept (id integer, body text);
CREATE INDEX kept_body ON kept USING simhash (body);
WITH inserted AS (
    INSERT INTO kept SELECT i, 'the boat house ' || i FROM generate_series(1, 500) i
    RETURNING CASE WHEN id = 500 THEN (SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'simhash support functions') END AS contexts)
SELECT max(contexts) FROM inserted;
DROP TABLE kept;
-- An equality of another type, which somebody has added: a scope hashes its values, an index on the texts looks at every row.
ALTER OPERATOR FAMILY text_ops USING simhash ADD OPERATOR 2 = (text, name), FUNCTION 1 (name, name) hashnameextended (name, bigint);
CREATE TABLE names (fp bigint, body text COLLATE "C");
INSERT INTO names SELECT i, 'the boat house ' || i FROM generate_series(1, 50) i;
CREATE INDEX names_body ON names USING simhash (body);
CREATE INDEX names_fp ON names USING simhash (fp, body);
SET enable_seqscan = off;
SELECT * FROM names WHERE body = 'the boat house 7'::name;
SELECT * FROM names WHERE body = 'the boat house 7'::name AND fp = 7;
RESET enable_seqscan;
ALTER OPERATOR FAMILY text_ops USING simhash DROP OPERATOR 2 (text, name), FUNCTION 1 (name, name);
DROP TABLE names;
-- A constraint compares a new row with several that are there, and the next row with them: what the session keeps of the first says
-- nothing of the next. Some are longer than what is kept.
CREATE TABLE apart (id integer, body text, EXCLUDE USING simhash (body WITH =~~));
INSERT INTO apart SELECT i, string_agg(CASE WHEN w <= 5 THEN 'own' || i % 7 ELSE 'word' END || w, ' ') || repeat(' red boats', CASE WHEN i > 14 THEN 9000 ELSE 0 END)
FROM generate_series(1, 21) i, generate_series(1, 40) w GROUP BY i ORDER BY i ON CONFLICT DO NOTHING;
SELECT array_agg(id ORDER BY id) FROM apart;
DROP TABLE apart;
