-- near_duplicate_pairs, near_duplicate_groups and near_duplicate_join: equal to the definition, by a self-join, by a loop over the
-- documents and by connected components; ids of every kind; little memory; what is refused; what is left behind.

-- Families of texts that share more or fewer of their words, copies, texts of few words and of none.
CREATE FUNCTION word(seed bigint) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT 'w' || (hashint8extended(seed, 5) & 4095) $$;
CREATE FUNCTION made_text(family bigint, variant bigint, words bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(word(family * 1000 + i + CASE WHEN i % 97 < variant % 6 * 2 THEN variant * 100000 ELSE 0 END), ' ' ORDER BY i)
    FROM generate_series(1, words) i
$$;
CREATE TABLE page AS
SELECT i AS id, hashint8extended(i, 3) AS place, made_text(i / 8, i % 8, 40 + i / 8 * 2) AS body FROM generate_series(1, 240) i
UNION ALL SELECT 1000 + i, hashint8extended(i, 4), made_text(7, 3, 90) FROM generate_series(1, 20) i
UNION ALL SELECT 2000 + i, hashint8extended(i, 6), 'short text ' || i % 5 FROM generate_series(1, 20) i
UNION ALL SELECT 3000 + i, hashint8extended(i, 7), (ARRAY['', '...', NULL])[1 + i % 3] FROM generate_series(1, 9) i
-- Most of these have the fingerprint of another: one word of hundreds differs.
UNION ALL SELECT 4000 + i, hashint8extended(i, 8), made_text(500, 0, 300) || ' ' || word(i) FROM generate_series(1, 20) i
-- A chain in which each differs from the next by one word of hundreds. The fingerprints of many are equal.
UNION ALL SELECT 5000 + i, hashint8extended(i, 9), (SELECT string_agg(word(2000000 + j + CASE WHEN j <= 800 - 40 * i THEN 0 ELSE (j % 40 = 0)::int * 50000 END), ' ' ORDER BY j)
                                                    FROM generate_series(1, 800) j)
    FROM generate_series(1, 20) i;
ALTER TABLE page ADD PRIMARY KEY (id);
CREATE TABLE made AS
SELECT id, rank() OVER (ORDER BY place) AS place, minhash(body) AS fp, minhash_code(body) AS code, simhash_shingles(body) AS shingles FROM page;
-- The distance of the nearer lanes, which are the halves of the code.
CREATE FUNCTION nearest_lane(a "bit", b "bit") RETURNS integer LANGUAGE sql IMMUTABLE AS
    $$ SELECT least(bit_count(substring(a # b FROM 1 FOR 64)), bit_count(substring(a # b FROM 65 FOR 64))) $$;
SELECT count(*), count(fp), count(DISTINCT fp) AS fingerprints, count(DISTINCT shingles::text) AS sets FROM made;

-- Of sets that are computed here, and not read from the table for each pair.
CREATE TABLE pair AS
WITH documents AS MATERIALIZED (
    SELECT place, code, simhash_shingles(body) AS shingles FROM made JOIN (SELECT id, body FROM page) p USING (id) WHERE fp IS NOT NULL)
SELECT a.place AS a, b.place AS b, nearest_lane(a.code, b.code) AS distance, shingle_similarity(a.shingles, b.shingles) AS similarity
FROM documents a JOIN documents b ON a.place < b.place;
CREATE INDEX ON pair (b);
ANALYZE made, pair;
CREATE FUNCTION defined_pairs(wanted double precision)
RETURNS TABLE (id bigint, other bigint, similarity double precision) LANGUAGE sql AS $$
    SELECT x.id, y.id, pair.similarity
    FROM pair JOIN made x ON x.place = a JOIN made y ON y.place = b
    WHERE distance <= minhash_radius(wanted, 0.96) AND pair.similarity >= wanted ORDER BY a, b
$$;
-- In order each joins the first original that it is near to, or becomes one.
CREATE FUNCTION defined_groups(wanted double precision) RETURNS TABLE (id bigint, original bigint, similarity double precision) LANGUAGE plpgsql AS $$
DECLARE
    one record;
    found record;
    originals bigint[] := '{}';
BEGIN
    FOR one IN SELECT made.id, place FROM made ORDER BY place LOOP
        SELECT a, pair.similarity INTO found FROM pair
        WHERE b = one.place AND distance <= minhash_radius(wanted, 0.96) AND pair.similarity >= wanted AND a = ANY (originals) ORDER BY a LIMIT 1;
        IF found IS NULL THEN originals := originals || one.place; END IF;
        RETURN QUERY SELECT one.id::bigint, made.id::bigint, found.similarity FROM made WHERE place = coalesce(found.a, one.place);
    END LOOP;
END $$;
CREATE FUNCTION defined_chains(wanted double precision) RETURNS TABLE (id bigint, original bigint, similarity double precision) LANGUAGE sql AS $$
    WITH RECURSIVE edge AS MATERIALIZED (
        SELECT a, b FROM pair WHERE distance <= minhash_radius(wanted, 0.96) AND similarity >= wanted
    ), both_ways AS MATERIALIZED (TABLE edge UNION ALL SELECT b, a FROM edge), reached AS (
        SELECT place, place AS other FROM made UNION SELECT place, b FROM reached JOIN both_ways ON other = a
    ), first AS (SELECT place, min(other) AS other FROM reached GROUP BY place)
    SELECT x.id, y.id, NULL::double precision FROM first JOIN made x USING (place) JOIN made y ON y.place = other ORDER BY x.place
$$;
-- What is different in order, number or value.
CREATE FUNCTION compare(wanted double precision, OUT pairs bigint, OUT pairs_are_equal boolean, OUT copies bigint, OUT groups_are_equal boolean,
                        OUT linked bigint, OUT chains_are_equal boolean) LANGUAGE plpgsql AS $$
DECLARE
    query text := 'SELECT id, body FROM page ORDER BY place';
BEGIN
    SELECT count(*), array_agg(p) IS NOT DISTINCT FROM (SELECT array_agg(d) FROM defined_pairs(wanted) d)
    INTO pairs, pairs_are_equal FROM near_duplicate_pairs(query, wanted) p;
    SELECT count(*) FILTER (WHERE g.id <> original), array_agg(g) IS NOT DISTINCT FROM (SELECT array_agg(d) FROM defined_groups(wanted) d)
    INTO copies, groups_are_equal FROM near_duplicate_groups(query, wanted) g;
    SELECT count(*) FILTER (WHERE g.id <> original), array_agg(g) IS NOT DISTINCT FROM (SELECT array_agg(d) FROM defined_chains(wanted) d)
    INTO linked, chains_are_equal FROM near_duplicate_groups(query, wanted, true) g;
END $$;
SELECT similarity, c.* FROM unnest('{0.3,0.5,0.8,0.9,0.99,0.993,1}'::double precision[]) similarity, compare(similarity) c;
-- By default the similarity is .8.
SELECT count(*) AS pairs FROM near_duplicate_pairs('SELECT id, body FROM page');
SELECT count(*) AS groups FROM (SELECT DISTINCT original FROM near_duplicate_groups('SELECT id, body FROM page')) g;
-- Between two sets: the pairs of which each has one.
CREATE FUNCTION wrong_joins(wanted double precision, OUT pairs bigint, OUT wrong bigint) LANGUAGE sql AS $$
    WITH joined AS (
        SELECT row_number() OVER () AS n, * FROM near_duplicate_join('SELECT id, body FROM page WHERE id % 3 = 0 ORDER BY place',
                                                                     'SELECT id, body FROM page WHERE id % 3 > 0 ORDER BY place', wanted)
    ), expected AS (
        SELECT row_number() OVER (ORDER BY x.place, y.place) AS n, x.id::bigint, y.id::bigint AS other, p.similarity
        FROM pair p JOIN made of_a ON of_a.place = a JOIN made of_b ON of_b.place = b AND (of_a.id % 3 = 0) <> (of_b.id % 3 = 0)
            JOIN made x ON x.place = CASE WHEN of_a.id % 3 = 0 THEN a ELSE b END JOIN made y ON y.place = a + b - x.place
        WHERE distance <= minhash_radius(wanted, 0.96) AND p.similarity >= wanted)
    SELECT count(j.id), count(*) FILTER (WHERE j IS DISTINCT FROM e) FROM joined j FULL JOIN expected e USING (n)
$$;
SELECT similarity, w.* FROM unnest('{0.5,0.8,0.99,1}'::double precision[]) similarity, wrong_joins(similarity) w;

-- The definition is near_duplicate().
SELECT count(*) FILTER (WHERE p.id IS NOT NULL) AS pairs, count(*) FILTER (WHERE (p.id IS NOT NULL) <> coalesce(near_duplicate(x.body, y.body, 0.7), false)) AS wrong
FROM page x JOIN page y ON x.id < y.id
    LEFT JOIN near_duplicate_pairs('SELECT id, body FROM page WHERE id % 4 = 0 ORDER BY id', 0.7) p ON p.id = x.id AND p.other = y.id
WHERE x.id % 4 = 0 AND y.id % 4 = 0;

-- Sets of shingles in the place of texts give the same, with the parallel workers of the query as well; a set without a shingle
-- is nobody's near-duplicate.
CREATE DOMAIN cut_text AS shingle_set;
CREATE FUNCTION sets_of_texts(query text, OUT pairs bigint, OUT different bigint) LANGUAGE sql AS $$
    SELECT count(*), count(*) FILTER (WHERE (t.id, t.other, t.similarity) IS DISTINCT FROM (s.id, s.other, s.similarity))
    FROM near_duplicate_pairs('SELECT id, body FROM page ORDER BY place', 0.7) WITH ORDINALITY t
        FULL JOIN near_duplicate_pairs(query, 0.7) WITH ORDINALITY s USING (ordinality)
$$;
SELECT * FROM sets_of_texts('SELECT id, shingles FROM made ORDER BY place');
SELECT * FROM sets_of_texts('SELECT id, shingles::cut_text FROM made ORDER BY place');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT * FROM sets_of_texts('SELECT id, simhash_shingles(body) FROM page ORDER BY place');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SELECT count(*) FILTER (WHERE (t.id, t.original, t.similarity) IS DISTINCT FROM (s.id, s.original, s.similarity)) AS groups_are_different
FROM near_duplicate_groups('SELECT id, body FROM page ORDER BY place') WITH ORDINALITY t
    FULL JOIN near_duplicate_groups('SELECT id, shingles FROM made ORDER BY place') WITH ORDINALITY s USING (ordinality);
-- Texts beside sets, either first.
SELECT count(*) AS pairs, count(DISTINCT (p.id, p.other, similarity)) AS of_texts, sum(copy) AS of_one_form
FROM (SELECT 1 AS copy, * FROM near_duplicate_join('SELECT id, body FROM page', 'SELECT id, body FROM page')
      UNION ALL SELECT 0, * FROM near_duplicate_join('SELECT id, body FROM page', 'SELECT id, shingles FROM made')
      UNION ALL SELECT 0, * FROM near_duplicate_join('SELECT id, shingles FROM made', 'SELECT id, body FROM page')) p;
-- Those of another kind: the definition, with their fingerprints and similarities.
SELECT count(*) FILTER (WHERE p.id IS NOT NULL) AS pairs, count(*) FILTER (WHERE (p.id IS NOT NULL) <> (
           nearest_lane(minhash_code(x.body, 128, 'chars', 8), minhash_code(y.body, 128, 'chars', 8)) <= minhash_radius(0.8, 0.96) AND
           shingle_similarity(x.body, y.body, 'chars', 8) >= 0.8)) AS wrong
FROM page x JOIN page y ON x.id < y.id
    LEFT JOIN near_duplicate_pairs($$SELECT id, simhash_shingles(body, 'chars', 8) FROM page WHERE id % 7 = 0 ORDER BY id$$) p
        ON p.id = x.id AND p.other = y.id
WHERE x.id % 7 = 0 AND y.id % 7 = 0;

-- With as little memory as can be set: the same, by temporary files, which are gone afterwards.
CREATE FUNCTION temporary_files() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM pg_ls_tmpdir() WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '.%'
$$;
CREATE TABLE all_pairs AS SELECT * FROM near_duplicate_pairs('SELECT id, body FROM page ORDER BY place', 0);
SELECT count(*), count(*) = (SELECT count(*) FROM defined_pairs(0)) AS equal,
       (SELECT count(*) FROM (SELECT * FROM all_pairs EXCEPT SELECT * FROM defined_pairs(0)) e) AS wrong FROM all_pairs;
SET hash_mem_multiplier = 1;
SET work_mem = '64kB';
SELECT similarity, c.* FROM unnest('{0.5,0.8,0.993}'::double precision[]) similarity, compare(similarity) c;
SELECT similarity, w.* FROM unnest('{0.5,0.8}'::double precision[]) similarity, wrong_joins(similarity) w;
SELECT count(*), count(*) FILTER (WHERE (p.id, p.other, p.similarity) IS DISTINCT FROM (q.id, q.other, q.similarity)) AS wrong
FROM (SELECT row_number() OVER () AS n, * FROM all_pairs) q
FULL JOIN (SELECT row_number() OVER () AS n, * FROM near_duplicate_pairs('SELECT id, body FROM page ORDER BY place', 0)) p USING (n);
SELECT temporary_files();
-- More documents than memory sorts, most of them alone, and three thousand pairs that are just as similar as asked for: of one
-- no lane is near. They stand in another order than that of their ids. The oracle is the pairs of fingerprints, verified.
CREATE TABLE many AS
SELECT i AS id, CASE WHEN i % 60 = 0 THEN made_text(i / 600, i % 8, 30)
                     WHEN i % 5 = 1 THEN made_text(1000 + i / 10, 0, 43) || ' ' || made_text(30000 + i / 5, 0, 5)
                     ELSE word(i) || ' ' || word(-i) || ' ' || word(3 * i) || ' ' || word(i / 5) END AS body
FROM generate_series(1, 30000) i ORDER BY hashint4(i);
SELECT count(*) AS pairs, sum(similarity)::numeric(9, 3) AS similarity, md5(string_agg(p.id || '-' || other, ' ')) AS ids
FROM near_duplicate_pairs('SELECT id, body FROM many ORDER BY id') p;
SELECT count(*) FILTER (WHERE id <> original) AS copies, md5(string_agg(id || '-' || original, ' ')) AS ids FROM near_duplicate_groups('SELECT id, body FROM many ORDER BY id');
SELECT temporary_files();
RESET work_mem;
SELECT count(*) AS pairs, sum(similarity)::numeric(9, 3) AS similarity, md5(string_agg(p.id || '-' || other, ' ')) AS ids
FROM near_duplicate_pairs('SELECT id, body FROM many ORDER BY id') p;
SELECT count(*) FILTER (WHERE id <> original) AS copies, md5(string_agg(id || '-' || original, ' ')) AS ids FROM near_duplicate_groups('SELECT id, body FROM many ORDER BY id');
RESET hash_mem_multiplier;
CREATE TABLE many_sets AS SELECT id, code, (code::bit(64))::bigint AS fp, (code << 64)::bit(64)::bigint AS other_fp, simhash_shingles(body) AS shingles
FROM (SELECT id, body, minhash_code(body) AS code FROM many) m;
ALTER TABLE many_sets ADD PRIMARY KEY (id);
ANALYZE many_sets;
SELECT count(*) AS pairs, sum(similarity)::numeric(9, 3) AS similarity, md5(string_agg(a || '-' || b, ' ' ORDER BY a, b)) AS ids
FROM (SELECT p.id AS a, p.other AS b, shingle_similarity(x.shingles, y.shingles) AS similarity
      FROM (SELECT id, other FROM simhash_pairs('SELECT id, fp FROM many_sets ORDER BY id', minhash_radius(0.8, 0.96))
            UNION SELECT id, other FROM simhash_pairs('SELECT id, other_fp FROM many_sets ORDER BY id', minhash_radius(0.8, 0.96))) p
      JOIN many_sets x ON x.id = p.id JOIN many_sets y ON y.id = p.other) c
WHERE similarity >= 0.8;
-- Two hundred documents with one fingerprint and three hundred copies of one: groups compare each a few times, not with each other.
CREATE TABLE alike AS
SELECT i AS id, made_text(9, 0, 1000) || ' ' || word(i) AS body FROM generate_series(1, 200) i
UNION ALL SELECT 5000 + i, made_text(10, 0, 30) FROM generate_series(1, 300) i;
SELECT chains, original, count(*) FROM unnest('{f,t}'::boolean[]) chains, near_duplicate_groups('SELECT id, body FROM alike ORDER BY id', 0.8, chains) GROUP BY chains, original ORDER BY chains, original;
SELECT count(*) FROM near_duplicate_pairs('SELECT id, body FROM alike WHERE id > 150', 1);

-- Just as similar as asked for: the one is the beginning of the other, with half of its shingles.
SELECT * FROM near_duplicate_pairs($$VALUES (1, 'a b c d e f'), (2, 'a b c d e f g h i j')$$, 0.5);
-- Equal sets of shingles, of texts that repeat them.
SELECT * FROM near_duplicate_pairs($$VALUES (1, 'a b c d a b c d a'), (2, 'a b c d a b')$$, 1);
-- Pages of one template: hundreds of near fingerprints, nearly all of whose pairs are linked already.
SELECT chains, original, count(*) FROM unnest('{f,t}'::boolean[]) chains, near_duplicate_groups($$
    SELECT i, made_text(11, 0, 150) || ' ' || word(i) || ' ' || word(7 * i) || ' ' || word(13 * i) || ' ' || word(17 * i) || ' ' || made_text(12, 0, 100)
    FROM generate_series(1, 800) i$$, 0.8, chains) GROUP BY chains, original ORDER BY chains;
-- Some hundreds of one template among others, in which other words differ: more candidates than are compared all, but of which many
-- meet in few bands. Each joins the first original of a loop, or is in the chain of the least row that is reached.
CREATE TABLE varied AS
SELECT i AS id, CASE WHEN i % 2 > 0 THEN 'unlike ' || md5(i::text) ELSE (
           SELECT string_agg(word(CASE WHEN hashint4(w * 7919 + i * 104729) % 100 BETWEEN 0 AND 3 THEN i * 1000 + w ELSE -w END), ' ' ORDER BY w)
           FROM generate_series(1, 100) w) END AS body
FROM generate_series(1, 1200) i;
CREATE FUNCTION wrong_originals(wanted double precision, OUT groups bigint, OUT wrong bigint, OUT chains bigint, OUT wrong_chains bigint) LANGUAGE plpgsql AS $$
DECLARE
    one record;
    of_one integer;
    originals integer[] := '{}';
    of_rows jsonb := '{}';
BEGIN
    FOR one IN SELECT id, body FROM varied WHERE id % 2 = 0 ORDER BY id LOOP
        SELECT min(id) INTO of_one FROM varied WHERE id = ANY (originals) AND near_duplicate(body, one.body, wanted);
        IF of_one IS NULL THEN originals := originals || one.id; END IF;
        of_rows := of_rows || jsonb_build_object(one.id, coalesce(of_one, one.id));
    END LOOP;
    SELECT count(DISTINCT original), count(*) FILTER (WHERE original <> coalesce((of_rows->>id::text)::integer, id)) INTO groups, wrong
    FROM near_duplicate_groups('SELECT id, body FROM varied ORDER BY id', wanted);
    CREATE TEMP TABLE reached ON COMMIT DROP AS SELECT id, id AS original FROM varied;
    CREATE TEMP TABLE edge ON COMMIT DROP AS
    SELECT v.* FROM near_duplicate_pairs('SELECT id, body FROM varied', wanted) p, LATERAL (VALUES (p.id, p.other), (p.other, p.id)) v (a, b);
    LOOP
        UPDATE reached SET original = least FROM (SELECT a, min(original) AS least FROM edge JOIN reached ON id = b GROUP BY a) n WHERE id = a AND least < original;
        EXIT WHEN NOT FOUND;
    END LOOP;
    SELECT count(DISTINCT c.original), count(*) FILTER (WHERE c.original <> r.original) INTO chains, wrong_chains
    FROM near_duplicate_groups('SELECT id, body FROM varied ORDER BY id', wanted, true) c JOIN reached r USING (id);
    DROP TABLE reached, edge;
END $$;
SELECT similarity, w.* FROM unnest('{0.3,0.5,0.7,0.8,0.9}'::double precision[]) similarity, wrong_originals(similarity) w;
-- Pairs that are as similar as asked for, with nothing else near. Beside so many texts of one template that candidates are not kept,
-- bands that are the first to bring the two of a pair together come later.
CREATE TABLE pairs_beside AS
SELECT i AS id, made_text(13, 0, 100) || ' ' || word(i) AS body FROM generate_series(1, 1200) i
UNION ALL SELECT 2000 + i, made_text(100 + i / 2, 0, 40) || ' ' || made_text(1000 + i, 0, 14) FROM generate_series(0, 199) i;
SELECT chains, count(DISTINCT original) AS groups,
       count(*) FILTER (WHERE g.id >= 2000 AND original <> CASE WHEN near_duplicate(p.body, first.body, 0.5) THEN first.id ELSE g.id END) AS wrong
FROM unnest('{f,t}'::boolean[]) chains, near_duplicate_groups('SELECT id, body FROM pairs_beside ORDER BY id', 0.5, chains) g
    JOIN pairs_beside p USING (id) JOIN pairs_beside first ON first.id = CASE WHEN g.id < 2000 THEN 1 ELSE g.id / 2 * 2 END
GROUP BY chains ORDER BY chains;
-- Nor are two a pair that are similar and not near, where candidates are not kept.
SELECT chains, count(*) AS rows, count(*) FILTER (WHERE id > 5000 AND id <> original) AS wrong FROM unnest('{f,t}'::boolean[]) chains, near_duplicate_groups($$
    SELECT id, body FROM pairs_beside WHERE id <= 1200 UNION ALL SELECT 5000 + id, body FROM many WHERE id IN (10221, 10226)$$, 0.8, chains)
GROUP BY chains ORDER BY chains;

-- Of four the last is near to each other one, and the third to the last alone. Beside the same texts, a chain that one band finds is whole.
CREATE TABLE chained AS
SELECT 3000 + 4 * f + n AS id, (SELECT string_agg(word(9000 * f + w), ' ' ORDER BY w) FROM generate_series(1 + first, 60 + first) w) || CASE WHEN n = 1 THEN ' ' || word(f) ELSE '' END AS body
FROM generate_series(1, 40) f, (VALUES (0, 0), (1, 0), (2, 24), (3, 12)) v (n, first);
SELECT count(*) AS rows, count(*) FILTER (WHERE id > 3000 AND original <> id / 4 * 4) AS wrong FROM near_duplicate_groups($$
    SELECT id, body FROM pairs_beside WHERE id <= 1200 UNION ALL SELECT id, body FROM chained ORDER BY id$$, 0.5, true);
DROP TABLE chained;

-- In the order of integer ids, which the rows do not come in: as in that of an expression, by which the server sorts. A second query comes
-- in its own order, and an order by more or in a limit is the server's.
CREATE TABLE disordered AS
SELECT (id - 2500)::smallint AS small, (id - 2500)::integer AS plain, (id - 2500) * 5000000000 AS large, id % 3 AS part, body FROM page ORDER BY place;
CREATE FUNCTION wrong_order(id_column text, direction text, OUT pairs bigint, OUT wrong_pairs bigint, OUT wrong_groups bigint, OUT wrong_chains bigint, OUT wrong_joins bigint)
LANGUAGE plpgsql AS $$
DECLARE
    query text := format('SELECT %s, body FROM disordered', id_column);
    ours text := format(' ORDER BY %s %s', id_column, direction);
    servers text := format(' ORDER BY %s + 0 %s', id_column, direction);
BEGIN
    SELECT count(*), count(*) FILTER (WHERE (a, b, c) IS DISTINCT FROM (x, y, z)) INTO pairs, wrong_pairs
    FROM ROWS FROM (near_duplicate_pairs(query || ours), near_duplicate_pairs(query || servers)) AS p (a, b, c, x, y, z);
    SELECT count(*) INTO wrong_groups
    FROM ROWS FROM (near_duplicate_groups(query || ours), near_duplicate_groups(query || servers)) AS g (a, b, c, x, y, z)
    WHERE (a, b, c) IS DISTINCT FROM (x, y, z);
    SELECT count(*) INTO wrong_chains
    FROM ROWS FROM (near_duplicate_groups(query || ours, 0.5, true), near_duplicate_groups(query || servers, 0.5, true)) AS g (a, b, c, x, y, z)
    WHERE (a, b, c) IS DISTINCT FROM (x, y, z);
    SELECT count(*) INTO wrong_joins
    FROM unnest(ARRAY[ours, servers, ' ORDER BY part, ' || id_column, ours || ' LIMIT 100']) of_a,
         ROWS FROM (near_duplicate_join(query || of_a, query || ' WHERE part > 0' || ours),
                    near_duplicate_join(query || replace(of_a, ours, servers), query || ' WHERE part > 0' || servers)) AS j (a, b, c, x, y, z)
    WHERE (a, b, c) IS DISTINCT FROM (x, y, z);
END $$;
SELECT id_column, direction, w.* FROM unnest('{small,plain,large}'::text[]) id_column, unnest('{ASC,DESC}'::text[]) direction, wrong_order(id_column, direction) w;
SET work_mem = '64kB';
SELECT w.* FROM wrong_order('plain', 'DESC') w;
RESET work_mem;
-- Copies beside rows without a text.
SELECT count(*), count(*) FILTER (WHERE id % 2 = 0 AND other % 2 = 0) AS of_texts
FROM near_duplicate_pairs($$SELECT id, CASE WHEN id % 2 = 0 THEN 'the same text of six words' END FROM generate_series(100, 1, -1) id ORDER BY id$$);
-- Ids of other types, short and long.
CREATE TABLE ids AS
SELECT id, place, body, id::smallint AS small, id::integer AS plain, md5(id::text)::uuid AS uuid, 'name ' || id AS name,
       repeat(md5(id::text), 300) AS long, (id || '.50')::numeric AS exact, ('2000-01-01'::date + id::integer) AS day, id % 2 = 0 AS even,
       ARRAY[id, -id]::bigint[] AS ends, ('n' || id)::name AS "named", ('c' || id)::char(12) AS padded, (id / 7.0)::double precision AS real
FROM page WHERE id < 70 OR id BETWEEN 2000 AND 2020;
ALTER TABLE ids ALTER long SET STORAGE EXTERNAL;
UPDATE ids SET long = long || '.', body = body || ' ';
CREATE FUNCTION wrong_ids(id_column text, id_type text) RETURNS TABLE (rows bigint, wrong_pairs bigint, wrong_groups bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        WITH names AS MATERIALIZED (SELECT id AS number, %1$I AS name FROM ids)
        SELECT (SELECT count(*) FROM near_duplicate_pairs('SELECT %1$I, body FROM ids ORDER BY place', 0.8, NULL::%2$s)),
            (SELECT count(*)
             FROM ROWS FROM (near_duplicate_pairs('SELECT %1$I, body FROM ids ORDER BY place', 0.8, NULL::%2$s),
                             near_duplicate_pairs('SELECT id, body FROM ids ORDER BY place')) AS p (id, other, similarity, x, y, expected)
             LEFT JOIN names a ON a.number = x LEFT JOIN names b ON b.number = y
             WHERE (p.id, p.other, p.similarity) IS DISTINCT FROM (a.name, b.name, expected)),
            (SELECT count(*)
             FROM ROWS FROM (near_duplicate_groups('SELECT %1$I, body FROM ids ORDER BY place', 0.8, false, NULL::%2$s),
                             near_duplicate_groups('SELECT id, body FROM ids ORDER BY place')) AS p (id, original, similarity, x, y, expected)
             LEFT JOIN names a ON a.number = x LEFT JOIN names b ON b.number = y
             WHERE (p.id, p.original, p.similarity) IS DISTINCT FROM (a.name, b.name, expected))$q$, id_column, id_type);
END $$;
CREATE FUNCTION wrong_ids_of_all() RETURNS TABLE (id_column text, id_type text, rows bigint, wrong_pairs bigint, wrong_groups bigint) LANGUAGE sql AS $$
    SELECT v.*, w.* FROM (VALUES ('small', 'bigint'), ('small', 'smallint'), ('plain', 'bigint'), ('plain', 'integer'), ('uuid', 'uuid'), ('name', 'text'),
        ('long', 'text'), ('exact', 'numeric'), ('day', 'date'), ('even', 'boolean'), ('ends', 'bigint[]'), ('named', 'name'), ('padded', 'char(12)'),
        ('real', 'double precision')) v, wrong_ids(column1, column2) w
$$;
SELECT * FROM wrong_ids_of_all();
SET work_mem = '64kB';
SELECT * FROM wrong_ids_of_all() WHERE wrong_pairs + wrong_groups > 0;
RESET work_mem;
CREATE TYPE place_of_page AS (book text, page numeric);
CREATE DOMAIN number AS integer CHECK (VALUE > 0);
CREATE DOMAIN document AS varchar(100);
SELECT * FROM near_duplicate_pairs($$VALUES (('a', 1)::place_of_page, 'x y z'), (('b', repeat('7', 90)::numeric)::place_of_page, 'X, Y; Z')$$, 0.8, NULL::place_of_page);
SELECT * FROM near_duplicate_groups($$SELECT i::number, 'one text'::document FROM generate_series(1, 2) i$$);
SELECT *, pg_typeof(id) FROM near_duplicate_groups($$SELECT i::number, 'one text'::varchar FROM generate_series(1, 2) i$$, 0.8, false, NULL::number);
SELECT *, pg_typeof(id) FROM near_duplicate_groups($$SELECT i::number, 'one text' FROM generate_series(1, 2) i$$, 0.8, false, NULL::integer);
SELECT * FROM near_duplicate_groups($$SELECT 'id'::varchar, 'a text'$$, 0.8, false, NULL::text);
-- An array that a function has built is in memory in a form of its own.
CREATE FUNCTION ends_of(id integer) RETURNS integer[] LANGUAGE plpgsql AS
    $$ DECLARE ends integer[]; BEGIN ends[1] := id; ends[2] := -id; RETURN ends; END $$;
SELECT * FROM near_duplicate_groups('SELECT ends_of(i), ''one text'' FROM generate_series(1, 3) i', 0.8, false, NULL::integer[]);
SELECT near_duplicate_pairs('VALUES (1, ''a b c d''), (2, ''a b c d''), (3, ''a b c d'')') LIMIT 2;

-- Documents without a feature are alone; ids may be repeated, and must not be null.
SELECT * FROM near_duplicate_groups($$VALUES (1, NULL), (2, ''), (3, '?!'), (4, NULL::text)$$);
SELECT * FROM near_duplicate_groups($$VALUES (1, 'a b c'), (1, 'a b c')$$);
SELECT * FROM near_duplicate_pairs($$VALUES (1, 'a b c'), (1, 'a b c')$$);
SELECT * FROM near_duplicate_pairs('SELECT 1, ''a'' WHERE false');
SELECT * FROM near_duplicate_groups('SELECT 1, ''a'' WHERE false');
SELECT * FROM near_duplicate_groups('SELECT NULL::bigint, ''a''');
SELECT count(*) FROM near_duplicate_pairs(NULL);

-- What is refused.
SELECT * FROM near_duplicate_groups('SELECT 1, ''a''', NULL::double precision);
SELECT * FROM near_duplicate_groups('SELECT 1, ''a''', NULL::integer); -- the type stands last
SELECT * FROM near_duplicate_pairs('SELECT 1, ''a''', 1.0000001);
SELECT * FROM near_duplicate_groups('SELECT 1, ''a''', 'NaN'::double precision);
SELECT * FROM near_duplicate_pairs('SELECT id FROM page');
SELECT * FROM near_duplicate_pairs('SELECT id, body, place FROM page');
SELECT * FROM near_duplicate_pairs('SELECT id, place FROM page');
SELECT * FROM near_duplicate_pairs('SELECT id, body::char(20) FROM page');
SELECT * FROM near_duplicate_pairs('SELECT 1, simhash_shingles(''a b'') UNION ALL SELECT 2, simhash_shingles(''a b'', ''words'', 2)');
SELECT * FROM near_duplicate_pairs('SELECT uuid, body FROM ids');
SELECT * FROM near_duplicate_groups('SELECT id::bigint, body FROM page', 0.8, false, NULL::integer);
SELECT * FROM near_duplicate_pairs('SELECT id::bigint, body FROM page', 0.8, NULL::text);
-- What to write for a second column of another type, by its name.
SELECT * FROM near_duplicate_pairs('SELECT id, minhash(body) AS "Odd name" FROM page');
SELECT * FROM near_duplicate_pairs('SELECT id, minhash_code(body) FROM page');
SELECT * FROM near_duplicate_pairs('SELECT id, jsonb_build_object(''body'', body) AS "Odd name" FROM page');
SELECT * FROM near_duplicate_pairs('SELECT id, string_to_array(body, '' '') FROM page');
SELECT * FROM near_duplicate_pairs('SELECT id, (simhash(body), 1) FROM page');
SELECT * FROM near_duplicate_groups('SELECT plain, body FROM ids', 0.8, false, NULL::number);
SELECT * FROM near_duplicate_groups('SELECT id, body FROM page', 0.8, NULL);
SELECT * FROM near_duplicate_join('SELECT id, body FROM page', 'SELECT name, body FROM ids');
SELECT * FROM near_duplicate_join('SELECT id, body FROM page', 'SELECT id, simhash_shingles(body, ''chars'', 8) FROM page');
SELECT * FROM near_duplicate_pairs('SELECT id, body FROM missing');
SELECT * FROM near_duplicate_pairs('');
SELECT * FROM near_duplicate_pairs('SELECT 1, ''a''; SELECT 2, ''b''');
SELECT * FROM near_duplicate_groups('DELETE FROM page RETURNING id, body');
SELECT * FROM near_duplicate_groups('WITH d AS (DELETE FROM page RETURNING id, body) SELECT id, body FROM d');
SELECT * FROM near_duplicate_groups('SELECT id, body FROM page FOR UPDATE');
SELECT * FROM near_duplicate_groups('WITH p AS (SELECT id, body FROM page FOR SHARE) SELECT id, body FROM p');
SELECT * FROM near_duplicate_groups('SELECT id, body INTO other FROM page');
SELECT * FROM near_duplicate_groups('SHOW work_mem');
-- Rules make none or two statements of one.
CREATE TABLE ruled (id integer, body text);
CREATE RULE nothing AS ON DELETE TO ruled DO INSTEAD NOTHING;
CREATE RULE something AS ON UPDATE TO ruled DO ALSO SELECT 1, 'a';
SELECT * FROM near_duplicate_groups('DELETE FROM ruled');
SELECT * FROM near_duplicate_groups('UPDATE ruled SET id = 1');
DROP TABLE ruled;
CREATE ROLE regress_near_duplicate_tables_reader;
SET ROLE regress_near_duplicate_tables_reader;
SELECT * FROM near_duplicate_groups('SELECT id, body FROM page');
RESET ROLE;

-- A READ ONLY transaction; a query in the query; the statement that removes copies.
BEGIN READ ONLY;
SELECT count(*) FROM near_duplicate_pairs('SELECT id, body FROM page');
COMMIT;
SELECT count(*) FROM near_duplicate_groups($$SELECT p.id, body FROM near_duplicate_groups('SELECT id, body FROM page') p JOIN page USING (id) WHERE p.id = original$$);
BEGIN;
DELETE FROM page USING near_duplicate_groups('SELECT id, body FROM page ORDER BY place') g WHERE page.id = g.id AND g.id <> g.original;
SELECT count(*), count(*) - (SELECT count(DISTINCT original) FROM defined_groups(0.8)) AS too_many FROM page;
ROLLBACK;

-- Nothing is left after an error, a limit, a cancelled statement.
SET work_mem = '64kB';
SELECT count(*) FROM near_duplicate_pairs('SELECT id, body || 1 / (9990 - id) FROM many');
SELECT temporary_files();
SET temp_file_limit = '512kB';
\set VERBOSITY sqlstate
SELECT count(*) FROM near_duplicate_pairs('SELECT id, body FROM page', 0);
SELECT count(*) FROM near_duplicate_groups('SELECT id, body FROM many');
\set VERBOSITY default
RESET temp_file_limit;
SELECT temporary_files();
SELECT id FROM near_duplicate_pairs('SELECT id, body FROM page', 0) LIMIT 1 OFFSET 3;
SELECT near_duplicate_pairs('SELECT id, body FROM page ORDER BY id', 0.9) IS NULL LIMIT 1;
SELECT temporary_files();
SET statement_timeout = '300ms';
-- The error says more where the inner query is cancelled.
\set VERBOSITY sqlstate
SELECT count(*) FROM near_duplicate_groups('SELECT id, body FROM many', 0.1);
\set VERBOSITY default
RESET statement_timeout;
SELECT temporary_files();
DO $$ BEGIN
    PERFORM near_duplicate_pairs('SELECT id, body || 1 / (9990 - id) FROM many');
EXCEPTION WHEN division_by_zero THEN RAISE INFO 'caught, % files', temporary_files();
END $$;
RESET work_mem;

-- A name is no query.
SELECT * FROM near_duplicate_pairs('page');
SELECT count(*) > 0 AS some FROM near_duplicate_pairs('SELECT id, body FROM page');

DROP ROLE regress_near_duplicate_tables_reader;
DROP TABLE page, made, pair, all_pairs, many, many_sets, alike, ids;
DROP TYPE place_of_page;
DROP DOMAIN number, document;
DROP FUNCTION word, made_text, defined_pairs, defined_groups, defined_chains, compare, nearest_lane, wrong_joins, sets_of_texts, temporary_files, wrong_ids, wrong_ids_of_all, ends_of;
DROP DOMAIN cut_text;

-- Two documents that are unlike may have a lane in common. In chains, what is known of the group of the one is not taken for the other's.
-- Members 1 to 300 are near-duplicates of each other, and a candidate is one of the last member alone.
CREATE TABLE member AS
SELECT m AS id, (SELECT string_agg(md5(w::text), ' ' ORDER BY w) FROM generate_series(1, 90) w) || ' ' ||
	(SELECT string_agg(md5(m || ' ' || w), ' ' ORDER BY w) FROM generate_series(1, 12) w) AS body
FROM generate_series(1, 300) m;
CREATE TABLE candidate AS
SELECT 1000 + c AS id, body || ' ' || (SELECT string_agg(md5('c' || c || ' ' || w), ' ' ORDER BY w) FROM generate_series(1, 25) w) AS body
FROM member, generate_series(1, 4000) c WHERE member.id = 300;
CREATE TABLE twin AS
SELECT DISTINCT c.id, c.body FROM candidate c JOIN member m ON (document_lanes(c.body))[1] = (document_lanes(m.body))[1] AND m.id <> 300;
SELECT t.id, m.id AS near_duplicate FROM twin t JOIN member m ON shingle_similarity(t.body, m.body) >= .7 ORDER BY t.id;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT count(DISTINCT original) FROM near_duplicate_groups('SELECT id, body FROM member UNION ALL SELECT id, body FROM twin', .7, true);
RESET work_mem;
RESET hash_mem_multiplier;
DROP TABLE member, candidate, twin;

-- Pairs of few documents, but more than are taken at once without a list of all: all are near to the first.
CREATE TABLE near AS
SELECT d AS id, (SELECT string_agg(md5(w::text), ' ' ORDER BY w) FROM generate_series(1, 60) w) || ' ' ||
	(SELECT string_agg(md5(d || ' ' || w), ' ' ORDER BY w) FROM generate_series(1, 5) w) AS body
FROM generate_series(1, 150) d;
SELECT count(*), min(similarity), max(similarity) FROM near_duplicate_pairs('SELECT id, body FROM near');
SELECT count(*), min(original), max(original) FROM near_duplicate_groups('SELECT id, body FROM near');
DROP TABLE near;

-- Arrays many times as large as memory, of which records are read and written here and there: copies and near-copies of 24 000.
CREATE TABLE large AS
SELECT i AS id, (SELECT string_agg(md5(i % 24000 || '-' || w), ' ') FROM generate_series(1, 12) w) || CASE WHEN i > 48000 THEN ' more' ELSE '' END AS body
FROM generate_series(1, 72000) i;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT count(*), count(*) FILTER (WHERE original <> (id - 1) % 24000 + 1) AS wrong, count(*) FILTER (WHERE similarity < 1) AS near
FROM near_duplicate_groups('SELECT id, body FROM large ORDER BY id');
SELECT count(*), count(*) FILTER (WHERE id::integer % 24000 <> original::integer % 24000) AS wrong, count(DISTINCT original) AS originals
FROM near_duplicate_groups('SELECT id::text, body FROM large ORDER BY hashint4(id)', 0.8, false, NULL::text);
SELECT count(*), count(*) FILTER (WHERE id <> (other - 1) % 24000 + 1) AS wrong, count(*) FILTER (WHERE similarity < 1) AS near
FROM near_duplicate_join('SELECT id, body FROM large WHERE id <= 24000', 'SELECT id, body FROM large WHERE id > 24000');
RESET work_mem;
RESET hash_mem_multiplier;
DROP TABLE large;

-- Candidates among codes that memory does not hold.
CREATE TABLE code AS
SELECT i AS id, ('x' || md5(i::text) || md5((-i)::text))::bit(256) AS code FROM generate_series(1, 3000) i;
INSERT INTO code SELECT id + 3000, set_bit(code, id % 256, 1 - get_bit(code, id % 256)) FROM code;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT count(*), min(distance), max(distance), min(other - id), max(other - id) FROM simhash_pairs('SELECT id, code FROM code', 12) p(id, other, distance);
RESET work_mem;
RESET hash_mem_multiplier;
DROP TABLE code;

-- Rows whose texts repeat each other, some by their words only: contents do not come in the order in which they are wanted.
CREATE FUNCTION town(variant text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT variant || ' Boat house of the town is closed for repairs of the roof' $$;
CREATE TABLE first AS SELECT * FROM (VALUES (1, town('The')), (2, town('the')), (3, 'quite another text about the mayor and the market in spring')) v(id, body);
CREATE TABLE second AS SELECT * FROM (VALUES (1, town('the')), (2, 'quite another text about the mayor and the market in spring')) v(id, body);
SELECT * FROM near_duplicate_join('SELECT id, body FROM first', 'SELECT id, body FROM second', .8) ORDER BY 1, 2;
DROP TABLE first, second;
DROP FUNCTION town;
