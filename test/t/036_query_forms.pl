# Any query can be given to near_duplicate_pairs, near_duplicate_groups and near_duplicate_join: whatever its form, the answers are those
# of near_duplicate() over the rows that the query returns by itself, by one process and by a parallel plan. What is refused says why. The
# same of random tables, at three similarities, with little memory and much.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = start_node('query_forms', conf => "log_statement = none\nmax_worker_processes = 16\nmax_parallel_workers = 8\n");

# Families of six texts, of which one is the first one's copy and the others have more and more other words; texts that are stored out of
# line, short and empty ones, NULL.
$node->safe_psql('postgres', q{
	CREATE FUNCTION text_of(family integer, changed integer, words integer) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
		SELECT string_agg(left(md5(family || ' ' || w || CASE WHEN w <= changed THEN ' ' || changed ELSE '' END), 6), ' ' ORDER BY md5(w::text))
		FROM generate_series(1, words) w $$;
	CREATE TABLE doc (id integer PRIMARY KEY, kind integer, title text, body text, uid uuid);
	INSERT INTO doc SELECT i, i % 3, 'Title ' || i % 2,
			CASE WHEN i > 88 THEN (ARRAY['', '...', NULL, 'two words', 'Two, words!', 'one'])[i - 88] WHEN i > 84 THEN text_of(0, 3 * (i - 85), 600)
				ELSE text_of(1 + i / 6, i % 6 - 1, 40) END, md5(i::text)::uuid
		FROM generate_series(1, 94) i ORDER BY hashint4(i);
	ANALYZE doc});
is($node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE pg_column_size(body) > 2000), pg_relation_size(reltoastrelid) > 0 FROM doc, pg_class
	WHERE relname = 'doc' GROUP BY 2"), '4|t', 'some texts are stored out of line');

# ---- what the forms use ----

my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('postgres', qq{
	CREATE EXTENSION postgres_fdw;
	CREATE EXTENSION citext;
	CREATE SERVER itself FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
	CREATE USER MAPPING FOR CURRENT_USER SERVER itself;
	CREATE FOREIGN TABLE far_doc (id integer, kind integer, title text, body text) SERVER itself OPTIONS (table_name 'doc')});
$node->safe_psql('postgres', q{
	CREATE TABLE just_two AS SELECT id, body FROM doc;
	CREATE TABLE parted (id integer, kind integer, body text) PARTITION BY LIST (kind);
	CREATE TABLE part_0 PARTITION OF parted FOR VALUES IN (0);
	CREATE TABLE part_1 PARTITION OF parted FOR VALUES IN (1);
	-- Its columns are in another order.
	CREATE TABLE part_2 (body text, dropped integer, kind integer, id integer);
	ALTER TABLE part_2 DROP dropped;
	ALTER TABLE parted ATTACH PARTITION part_2 FOR VALUES IN (2);
	INSERT INTO parted SELECT id, kind, body FROM doc;
	CREATE TABLE parent (id integer, body text);
	CREATE TABLE child (extra integer) INHERITS (parent);
	INSERT INTO parent SELECT id, body FROM doc WHERE id % 12 < 6;
	INSERT INTO child SELECT id, body FROM doc WHERE id % 12 > 5;
	ANALYZE just_two, parted, parent, child;
	CREATE DOMAIN document AS text CHECK (length(VALUE) < 100000);
	CREATE DOMAIN small_document AS varchar(1000);
	CREATE TABLE typed AS SELECT id, body::varchar AS plain, body::varchar(150) AS cut, body::document AS of_text,
		body::small_document AS of_varchar, body::citext AS insensitive, body::char(300) AS padded, body::name AS name FROM doc WHERE id < 80;
	CREATE TABLE generated (id integer, title text, body text GENERATED ALWAYS AS (title || ' again') STORED, kind integer);
	INSERT INTO generated (id, title, kind) SELECT id, body, kind FROM doc;
	CREATE VIEW plain_view AS SELECT id, body FROM doc WHERE kind < 2;
	CREATE VIEW ordered_view AS SELECT id, body FROM doc ORDER BY body, id;
	CREATE VIEW barrier WITH (security_barrier) AS SELECT id, body, kind FROM doc WHERE kind < 2;
	CREATE MATERIALIZED VIEW kept_view AS SELECT id, body FROM doc;
	CREATE FUNCTION docs_of(wanted integer) RETURNS TABLE (id integer, body text) LANGUAGE sql STABLE AS
		$$ SELECT id, body FROM doc WHERE kind < wanted ORDER BY doc.id $$;
	CREATE FUNCTION looped_docs(wanted integer) RETURNS TABLE (id integer, body text) LANGUAGE plpgsql AS $$
	BEGIN
		FOR id, body IN SELECT doc.id, doc.body FROM doc WHERE kind < wanted ORDER BY doc.id LOOP RETURN NEXT; END LOOP;
		RETURN QUERY SELECT doc.id + 1000, upper(doc.body) FROM doc WHERE kind = 0 ORDER BY doc.id;
	END $$;
	CREATE FUNCTION doc_records() RETURNS SETOF record LANGUAGE sql AS $$ SELECT id, body FROM doc $$;
	CREATE FUNCTION stable_body(wanted integer) RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE AS
		$$ SELECT body FROM doc WHERE id = wanted $$;
	CREATE FUNCTION trusted_body(wanted integer) RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public AS
		$$ BEGIN RETURN (SELECT body FROM doc WHERE id = wanted); END $$;
	CREATE FUNCTION caught(body text) RETURNS text LANGUAGE plpgsql SET search_path = public AS
		$$ BEGIN RETURN body || 1 / (length(body) % 2); EXCEPTION WHEN division_by_zero THEN RETURN body; END $$;
	CREATE FUNCTION restricted(body text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED AS $$ BEGIN RETURN body; END $$;
	CREATE FUNCTION leak(kind integer, body text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS
		$$ BEGIN IF kind = 2 THEN RAISE EXCEPTION 'saw %', body; END IF; RETURN true; END $$;
	CREATE SEQUENCE numbers;
	CREATE TABLE log (place bigserial, id bigint, body text);
	CREATE FUNCTION noted(wanted bigint, body text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE said text := body || ' ' || (random() * 10)::integer;
	BEGIN
		INSERT INTO log (id, body) VALUES (wanted, said);
		RETURN said;
	END $$;
	-- A restricted role sees one kind of document, and two columns of another table.
	CREATE ROLE reader LOGIN;
	CREATE TABLE guarded AS SELECT id, kind, title, body FROM doc;
	ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
	CREATE POLICY one_kind ON guarded USING (kind = 1 AND length(title) > 0);
	CREATE TABLE columns_of AS SELECT id, title, body FROM doc;
	GRANT SELECT ON guarded, doc, barrier TO reader;
	GRANT SELECT (id, body) ON columns_of TO reader;
	CREATE TABLE hidden AS SELECT id, body FROM doc});

# ---- the answers by brute force ----

# What is wrong with the answers about a query, and how many pairs there are. Here texts are those of query `truth`, the query itself where
# that is null; ids are compared as texts. Before each run random() begins anew. Without `joined`, the join of the query with itself is left out.
$node->safe_psql('postgres', q{
	CREATE FUNCTION check_answers(query text, truth text, is_ordered boolean, joined boolean, similarity float8, id_type text)
	RETURNS text LANGUAGE plpgsql SET jit = off AS $check$ -- JIT takes ten times as long as all else of it
	DECLARE
		id text; body text; ids text[] := '{}'; bodies text[] := '{}';
		near jsonb; -- {"id<tab>other": similarity}, either way
		pairs text[]; given text[]; groups text[]; originals text[] := '{}'; found text; wrong text[] := '{}';
		begin_anew text := 'SELECT setseed(0.25), setval(''numbers'', 1000)';
		arguments text := format('%L, %s', query, similarity);
		radius integer := minhash_radius(similarity, 0.96);
	BEGIN
		IF current_user = 'reader' OR current_setting('transaction_read_only') = 'on' THEN begin_anew := 'SELECT setseed(0.25)'; END IF;
		EXECUTE begin_anew;
		FOR id, body IN EXECUTE coalesce(truth, query) LOOP
			ids := ids || id;
			bodies := bodies || body;
		END LOOP;
		-- The definition of near_duplicate(), with what it computes of a text computed once.
		WITH row AS MATERIALIZED (SELECT *, simhash_shingles(r.body) AS shingles, substring(minhash_code(r.body), 1, 64) AS one, substring(minhash_code(r.body), 65) AS two
				FROM unnest(ids, bodies) WITH ORDINALITY AS r (id, body, n)),
			near AS MATERIALIZED (SELECT a.id AS a, b.id AS b, shingle_similarity(a.shingles, b.shingles) AS s FROM row a JOIN row b
				ON a.n < b.n AND least(bit_count(a.one # b.one), bit_count(a.two # b.two)) <= radius
					AND shingle_similarity(a.shingles, b.shingles) >= check_answers.similarity)
		SELECT coalesce(jsonb_object_agg(x.pair, s) FILTER (WHERE x.pair IS NOT NULL), '{}'),
			coalesce(array_agg(least(a COLLATE "C", b) || ' ' || greatest(a COLLATE "C", b) || ' ' || s ORDER BY least(a COLLATE "C", b), greatest(a COLLATE "C", b))
				FILTER (WHERE x.way = 1), '{}')
		INTO near, pairs FROM near, LATERAL (VALUES (a || E'\t' || b, 1), (b || E'\t' || a, 2)) x (pair, way);

		EXECUTE begin_anew;
		EXECUTE format($$SELECT coalesce(array_agg(least(id::text COLLATE "C", other::text) || ' ' || greatest(id::text COLLATE "C", other::text) || ' ' || similarity
				ORDER BY least(id::text COLLATE "C", other::text), greatest(id::text COLLATE "C", other::text)), '{}')
			FROM near_duplicate_pairs(%s, NULL::%s)$$, arguments, id_type) INTO given;
		IF given IS DISTINCT FROM pairs THEN wrong := wrong || format('pairs %s, not %s', given, pairs); END IF;

		-- Groups are those of a loop over the rows in the order in which they come.
		EXECUTE begin_anew;
		EXECUTE format($$SELECT coalesce(array_agg(id::text ORDER BY n), '{}'), coalesce(array_agg(concat_ws(' ', id, original, similarity) ORDER BY n), '{}')
			FROM near_duplicate_groups(%s, false, NULL::%s) WITH ORDINALITY AS g (id, original, similarity, n)$$, arguments, id_type) INTO given, groups;
		IF (CASE WHEN is_ordered THEN given <> ids ELSE ARRAY(SELECT unnest(given) ORDER BY 1) <> ARRAY(SELECT unnest(ids) ORDER BY 1) END) THEN
			wrong := wrong || format('groups of rows %s, not %s', given, ids);
		END IF;
		FOR i IN 1 .. cardinality(given) LOOP
			SELECT o INTO found FROM unnest(originals) WITH ORDINALITY AS x (o, n) WHERE near ? (given[i] || E'\t' || o) ORDER BY n LIMIT 1;
			IF found IS NULL THEN originals := originals || given[i]; END IF;
			IF groups[i] <> concat_ws(' ', given[i], coalesce(found, given[i]), near ->> (given[i] || E'\t' || found)) THEN
				wrong := wrong || format('row %s in group %s, not of %s', given[i], groups[i], coalesce(found, 'its own'));
			END IF;
		END LOOP;

		EXECUTE begin_anew;
		EXECUTE format($$WITH RECURSIVE near (a, b) AS MATERIALIZED (SELECT split_part(pair, E'\t', 1), split_part(pair, E'\t', 2) FROM jsonb_object_keys($1) pair),
			given AS MATERIALIZED (SELECT id::text, original::text, n, similarity FROM near_duplicate_groups(%s, true, NULL::%s) WITH ORDINALITY AS g (id, original, similarity, n)),
			reached (id, other) AS (SELECT id, id FROM given UNION SELECT id, b FROM reached JOIN near ON other = a)
			SELECT string_agg(g.id || ' in ' || g.original, ', ')
			FROM given g WHERE similarity IS NOT NULL OR g.original <>
				(SELECT other FROM reached r JOIN given o ON o.id = r.other WHERE r.id = g.id ORDER BY o.n LIMIT 1)$$,
			arguments, id_type) INTO found USING near;
		IF found IS NOT NULL THEN wrong := wrong || ('chains: ' || found); END IF;

		IF joined THEN
			EXECUTE format($$SELECT array_agg(id || E'\t' || other ORDER BY (id || E'\t' || other) COLLATE "C") FROM near_duplicate_join(%L, %s, NULL::%s)$$,
				query, arguments, id_type) INTO given;
			pairs := ARRAY(SELECT x FROM (SELECT jsonb_object_keys(near) UNION ALL
				SELECT r.id || E'\t' || r.id FROM unnest(ids, bodies) r (id, body) WHERE near_duplicate(r.body, r.body)) p (x) ORDER BY x COLLATE "C");
			IF given IS DISTINCT FROM pairs THEN wrong := wrong || format('join %s, not %s', given, pairs); END IF;
		END IF;
		RETURN format('%s: %s', CASE WHEN cardinality(wrong) > 0 THEN array_to_string(wrong, E'\n') WHEN near = '{}' THEN 'nothing to find'
			ELSE 'equal' END, cardinality(ids));
	END $check$});

# Each form: its name, the query; `truth`, another query for the same rows; `ordered`, whether it says in which order they come; `joined`
# where the join is left out; `id`, the type of ids; `as`, a role.
my @forms = (
	[ 'a table', 'SELECT id, body FROM doc' ],
	[ 'ORDER BY id', 'SELECT id, body FROM doc ORDER BY id', ordered => 1 ],
	[ 'ORDER BY id DESC NULLS FIRST', 'SELECT id, body FROM doc ORDER BY id DESC NULLS FIRST', ordered => 1 ],
	[ 'ORDER BY the text', 'SELECT id, body FROM doc ORDER BY body, id', ordered => 1 ],
	[ 'ORDER BY position 2', 'SELECT id, body FROM doc ORDER BY 2 DESC, 1', ordered => 1 ],
	[ "ORDER BY the text's alias", 'SELECT id, lower(title || body) AS whole FROM doc ORDER BY whole, id', ordered => 1 ],
	[ 'ORDER BY the expression of the text', 'SELECT id, upper(body) FROM doc ORDER BY upper(body) COLLATE "C", id', ordered => 1 ],
	[ 'ORDER BY a length of the text', 'SELECT id, body FROM doc ORDER BY length(body), id', ordered => 1 ],
	[ 'ORDER BY a hash of the text', 'SELECT id, body FROM doc ORDER BY md5(body), id', ordered => 1 ],
	[ 'ORDER BY another column', 'SELECT id, body FROM doc ORDER BY title, kind DESC, id', ordered => 1 ],
	[ 'ORDER BY in a subquery', 'SELECT * FROM (SELECT id, body FROM doc ORDER BY body DESC, id) d', ordered => 1 ],
	[ 'ORDER BY USING', 'SELECT id, body FROM doc ORDER BY body USING ~>~, id', ordered => 1 ],
	[ 'LIMIT', 'SELECT id, body FROM doc ORDER BY id LIMIT 50', ordered => 1 ],
	[ 'LIMIT by the text', 'SELECT id, body FROM doc ORDER BY body, id LIMIT 50', ordered => 1 ],
	[ 'OFFSET', 'SELECT id, body FROM doc ORDER BY id OFFSET 20', ordered => 1 ],
	[ 'OFFSET 0 and a LIMIT that is computed', 'SELECT id, body FROM doc ORDER BY id LIMIT (SELECT max(id) / 2 FROM doc) OFFSET 0', ordered => 1 ],
	[ 'FETCH WITH TIES', 'SELECT id, body FROM doc ORDER BY title FETCH FIRST 5 ROWS WITH TIES' ],
	[ 'LIMIT ALL without an order', 'SELECT id, body FROM doc LIMIT ALL' ],
	[ 'DISTINCT', 'SELECT DISTINCT id, body FROM doc' ],
	[ 'DISTINCT with an order', 'SELECT DISTINCT id % 60, body FROM doc WHERE id < 60 ORDER BY body, 1', ordered => 1 ],
	[ 'DISTINCT ON the text', 'SELECT DISTINCT ON (body) id, body FROM doc ORDER BY body, id', ordered => 1 ],
	[ 'DISTINCT ON an id', 'SELECT DISTINCT ON (id / 2) id, body FROM doc ORDER BY id / 2, body, id', ordered => 1 ],
	[ 'GROUP BY the text', 'SELECT min(id), body FROM doc GROUP BY body' ],
	[ 'GROUP BY the expression of the text', 'SELECT min(id), lower(body) FROM doc GROUP BY lower(body) ORDER BY 1', ordered => 1 ],
	[ 'GROUP BY the key', 'SELECT id, body FROM doc GROUP BY id ORDER BY id', ordered => 1 ],
	[ 'GROUP BY and HAVING', 'SELECT max(id), body FROM doc GROUP BY body HAVING length(body) > 10 AND count(*) < 3 ORDER BY length(body), 1', ordered => 1 ],
	[ 'GROUPING SETS', 'SELECT min(id) + 1000 * grouping(id), body FROM doc GROUP BY GROUPING SETS ((id, body), (body))' ],
	[ 'an aggregate', q{SELECT id / 2, string_agg(body, ' ' ORDER BY id) FROM doc GROUP BY id / 2 ORDER BY 1}, ordered => 1 ],
	[ 'the greatest text', 'SELECT id / 2, max(body) FROM doc GROUP BY 1 ORDER BY 2, 1', ordered => 1 ],
	[ 'an ordered-set aggregate', 'SELECT id / 2, mode() WITHIN GROUP (ORDER BY body) FROM doc GROUP BY id / 2' ],
	[ 'an aggregate of all', q{SELECT 1, string_agg(body, ' ') FROM doc UNION ALL SELECT 2, string_agg(body, ' ') FROM doc} ],
	[ 'UNION', 'SELECT id, body FROM doc WHERE kind < 2 UNION SELECT id, body FROM doc WHERE kind > 0' ],
	[ 'UNION ALL', 'SELECT id, body FROM doc UNION ALL SELECT 1000 + id, upper(body) FROM doc WHERE kind = 0' ],
	[ 'UNION ALL with an order', 'SELECT id, body FROM doc UNION ALL SELECT 1000 + id, body FROM doc WHERE kind = 0 ORDER BY 2, 1', ordered => 1 ],
	[ 'UNION of two types', 'SELECT id, plain FROM typed UNION SELECT 1000 + id, of_text FROM typed WHERE id < 30' ],
	[ 'INTERSECT', 'SELECT id, body FROM doc INTERSECT SELECT id, body FROM doc WHERE kind < 2' ],
	[ 'INTERSECT ALL', 'SELECT id, body FROM doc INTERSECT ALL SELECT id, body FROM doc WHERE kind < 2' ],
	[ 'EXCEPT', 'SELECT id, body FROM doc EXCEPT SELECT id, body FROM doc WHERE kind = 2' ],
	[ 'set operations in each other', '(SELECT id, body FROM doc UNION ALL TABLE just_two) EXCEPT (SELECT id, body FROM doc WHERE kind = 2 LIMIT 10)' ],
	[ 'TABLE', 'TABLE just_two' ],
	[ 'TABLE and a comment', 'TABLE/**/just_two' ],
	[ 'VALUES', q{VALUES (1, 'one two three four five'), (2, 'One, two: three! four five'), (3, NULL), (4, 'one two three four six'), (5, '')}, ordered => 1 ],
	[ 'VALUES with an order', q{VALUES (1, 'one two three four five'), (2, 'a text of its own'), (3, 'one two three four five!') ORDER BY 2 DESC}, ordered => 1 ],
	[ 'VALUES in FROM', q{SELECT n, body FROM (VALUES ('a b c d', 1), ('e f g h', 2), ('A B C D', 3)) v (body, n)}, ordered => 1 ],
	[ 'a constant', q{SELECT id, 'the same text for all' FROM doc WHERE id < 10} ],
	[ 'constants and columns', q{SELECT id, CASE WHEN kind = 0 THEN 'the same text for some' ELSE body END FROM doc} ],
	[ 'CTE, materialized', 'WITH d AS MATERIALIZED (SELECT id, body FROM doc) SELECT * FROM d' ],
	[ 'CTE, not materialized', 'WITH d AS NOT MATERIALIZED (SELECT id, body FROM doc) SELECT id, body FROM d ORDER BY id', ordered => 1 ],
	[ 'CTE used twice', 'WITH d AS (SELECT id, body FROM doc) SELECT a.id, a.body FROM d a JOIN d b USING (id) WHERE b.body > \'3\'' ],
	[ 'CTE, recursive', q{WITH RECURSIVE d (id, body) AS (SELECT 1, 'a b c d e f g h' UNION ALL SELECT id + 1, body || ' ' || id FROM d WHERE id < 30) SELECT * FROM d}, ordered => 1 ],
	[ 'window: the text before', 'SELECT id, lag(body) OVER (ORDER BY id) FROM doc' ],
	[ 'window: over the text', 'SELECT row_number() OVER (ORDER BY body, id), body FROM doc' ],
	[ 'window: texts put together', q{SELECT id, string_agg(body, ' ') OVER (PARTITION BY kind ORDER BY id ROWS 1 PRECEDING) FROM doc} ],
	[ 'window: partitions by the text', 'SELECT id, body FROM (SELECT id, body, row_number() OVER (PARTITION BY body ORDER BY id) AS n FROM doc) d WHERE n = 1' ],
	[ 'TABLESAMPLE BERNOULLI', 'SELECT id, body FROM doc TABLESAMPLE BERNOULLI (60) REPEATABLE (7)' ],
	[ 'TABLESAMPLE SYSTEM', 'SELECT id, body FROM doc TABLESAMPLE SYSTEM (80) REPEATABLE (7)' ],
	[ 'a function in SQL', 'SELECT * FROM docs_of(3)', ordered => 1 ],
	[ 'a function in plpgsql', 'SELECT id, body FROM looped_docs(2)', ordered => 1 ],
	[ 'a function of records', 'SELECT * FROM doc_records() AS d (id integer, body text)' ],
	[ 'a set of rows in the target list', 'SELECT (d).id, (d).body FROM (SELECT docs_of(3) AS d) x' ],
	[ 'a set of rows, taken apart', 'SELECT (docs_of(2)).*' ],
	[ 'a set for the ids', 'SELECT generate_series(id * 2, id * 2 + 1), body FROM doc WHERE kind = 0' ],
	[ 'a set for the texts', q{SELECT id * 2 + generate_series(0, 1), unnest(ARRAY[body, upper(body)]) FROM doc} ],
	[ 'a set for the texts, with an order', q{SELECT generate_series(id * 2, id * 2 + 1), unnest(ARRAY[body, upper(body)]) FROM doc WHERE kind < 2 ORDER BY 2, 1}, ordered => 1 ],
	[ 'WITH ORDINALITY', 'SELECT n, body FROM unnest(ARRAY(SELECT body FROM doc ORDER BY id)) WITH ORDINALITY AS u (body, n)', ordered => 1 ],
	[ 'a column of JSON', q{SELECT (j ->> 'id')::integer, j ->> 'body' FROM (SELECT to_jsonb(d) AS j FROM doc d) x} ],
	[ 'rows of JSON', 'SELECT id, body FROM json_to_recordset((SELECT json_agg(d) FROM doc d)) AS r (id integer, body text)' ],
	[ 'JSON as a text', q{SELECT id, json_build_object('title', title, 'body', body)::text FROM doc} ],
	[ 'a stable function', 'SELECT id, stable_body(id) FROM doc' ],
	[ 'a function with rights of its owner', 'SELECT id, trusted_body(id) FROM doc' ],
	[ 'a function that catches errors', 'SELECT id, caught(body) FROM doc' ],
	[ 'a function for the leader only', 'SELECT id, restricted(body) FROM doc' ],
	[ 'random words', q{SELECT id, body || ' ' || floor(random() * 3) FROM doc}, joined => 0 ],
	[ 'random rows', 'SELECT id, body FROM doc WHERE random() < 0.7', joined => 0 ],
	[ 'random order', 'SELECT id, body FROM doc ORDER BY random()', joined => 0, ordered => 1 ],
	[ 'a sequence', q{SELECT nextval('numbers'), body FROM doc}, joined => 0 ],
	[ 'an expression', q{SELECT id, title || ' ' || body FROM doc} ],
	[ 'lower case', 'SELECT id, lower(body) FROM doc ORDER BY id', ordered => 1 ],
	[ 'CASE', 'SELECT id, CASE WHEN kind = 1 THEN upper(body) WHEN length(body) < 10 THEN NULL ELSE body END FROM doc' ],
	[ 'coalesce', 'SELECT id, coalesce(nullif(body, \'\'), title) FROM doc' ],
	[ 'a scalar subquery', 'SELECT id, (SELECT body FROM doc e WHERE e.id = d.id) FROM doc d' ],
	[ 'a scalar subquery of all', 'SELECT id, (SELECT max(body) FROM doc) FROM doc WHERE id < 10' ],
	[ 'conditions on the text', q{SELECT id, body FROM doc WHERE body > '3' AND EXISTS (SELECT FROM doc e WHERE e.body = doc.body AND e.id < 90)} ],
	[ 'a collation', 'SELECT id, body COLLATE "C" FROM doc ORDER BY body COLLATE "C" DESC, id', ordered => 1 ],
	[ 'varchar', 'SELECT id, plain FROM typed' ],
	[ 'varchar(n)', 'SELECT id, cut FROM typed ORDER BY cut, id', ordered => 1 ],
	[ 'a cast to varchar(n)', 'SELECT id, body::varchar(100) FROM doc' ],
	[ 'a domain over text', 'SELECT id, of_text FROM typed' ],
	[ 'a cast to a domain', 'SELECT id, body::document FROM doc ORDER BY id', ordered => 1 ],
	[ 'a domain over varchar', 'SELECT id, of_varchar FROM typed' ],
	[ 'char(n) as text', 'SELECT id, padded::text FROM typed' ],
	[ 'citext', 'SELECT id, insensitive FROM typed' ],
	[ 'citext in an order and distinct', 'SELECT DISTINCT ON (insensitive) id, insensitive FROM typed ORDER BY insensitive, id', ordered => 1 ],
	[ 'a name as text', 'SELECT id, name::text FROM typed' ],
	[ 'a generated column', 'SELECT id, body FROM generated' ],
	[ 'FOREIGN TABLE', 'SELECT id, body FROM far_doc' ],
	[ 'FOREIGN TABLE with an order', 'SELECT id, body FROM far_doc ORDER BY body COLLATE "C", id LIMIT 60', ordered => 1 ],
	[ 'FOREIGN TABLE, an expression', 'SELECT id, upper(body) FROM far_doc WHERE kind < 2 ORDER BY id', ordered => 1 ],
	[ 'FOREIGN TABLE, joined', 'SELECT f.id, f.body FROM far_doc f JOIN doc d USING (id) ORDER BY id', ordered => 1 ],
	[ 'partitions', 'SELECT id, body FROM parted' ],
	[ 'partitions with an order', 'SELECT id, body FROM parted ORDER BY kind, id', ordered => 1 ],
	[ 'GROUP BY of partitions', 'SELECT min(id), body FROM parted GROUP BY body' ],
	[ 'inheritance', 'SELECT id, body FROM parent' ],
	[ 'ONLY', 'SELECT id, body FROM ONLY parent' ],
	[ 'a join', 'SELECT a.id * 1000 + b.id, a.body FROM doc a JOIN doc b ON a.id / 6 = b.id / 6 AND a.kind = b.kind' ],
	[ 'an outer join', 'SELECT d.id, e.body FROM doc d LEFT JOIN doc e ON e.id = d.id + 1 AND e.kind > 0' ],
	[ 'a lateral join', q{SELECT d.id * 10 + n, l.part FROM doc d, LATERAL (SELECT n, substr(d.body, n, 200) AS part FROM generate_series(1, 2) n) l ORDER BY 1}, ordered => 1 ],
	[ 'texts of two tables', q{SELECT d.id, concat_ws(' ', d.title, j.body) FROM doc d JOIN just_two j USING (id)} ],
	[ 'a column twice in a subquery', 'SELECT id, again FROM (SELECT id, body, body AS again FROM doc) d ORDER BY body, id', ordered => 1 ],
	[ 'the other one of two', 'SELECT id, body FROM (SELECT id, title AS text, body FROM doc ORDER BY body) d' ],
	[ 'a field of a row', 'SELECT id, (d).body FROM doc d' ],
	[ 'a field of a row that is made', q{SELECT id, (ROW(id, kind, title, body || ' x', uid)::doc).body FROM doc} ],
	[ 'a view', 'SELECT * FROM plain_view' ],
	[ 'a view with an order', 'SELECT * FROM ordered_view', ordered => 1 ],
	[ 'a view as a barrier', 'SELECT id, body FROM barrier WHERE kind > 0 ORDER BY id', ordered => 1 ],
	[ 'a materialized view', 'SELECT id, body FROM kept_view' ],
	[ 'a temporary table', 'SELECT id, body FROM passing ORDER BY id', ordered => 1 ],
	[ 'a catalog', q{SELECT row_number() OVER (ORDER BY oid), proname || ' ' || prosrc FROM pg_proc WHERE prolang = 14 ORDER BY oid LIMIT 60}, ordered => 1 ],
	[ 'texts as ids', 'SELECT DISTINCT body, body FROM doc WHERE length(body) > 20', id => 'text' ],
	[ 'texts as ids, grouped', 'SELECT body AS id, body FROM doc WHERE length(body) > 20 GROUP BY 1, body ORDER BY 2 DESC', id => 'text', ordered => 1 ],
	[ 'a hash of the text as id', 'SELECT md5(body), body FROM doc WHERE id < 80 GROUP BY body ORDER BY md5(body)', id => 'text', ordered => 1 ],
	[ 'uuids as ids', 'SELECT uid, body FROM doc ORDER BY uid', id => 'uuid', ordered => 1 ],
	[ 'comments and a semicolon', "-- all\n\tSELECT id, /* the /* whole */ text */ body FROM doc -- of all\n; -- and no more\n" ],
	[ 'parentheses', '(((SELECT id, body FROM doc)) ORDER BY id)', ordered => 1 ],
	[ 'sets of shingles', 'SELECT id, simhash_shingles(body) FROM doc ORDER BY id', truth => 'SELECT id, body FROM doc ORDER BY id', ordered => 1 ],
	[ 'sets of shingles, in a CTE', 'WITH d AS MATERIALIZED (SELECT id, simhash_shingles(body) AS s FROM doc) TABLE d', truth => 'SELECT id, body FROM doc' ],
	[ 'row-level security', 'SELECT id, body FROM guarded', as => 'reader' ],
	[ 'row-level security, ordered by the text', 'SELECT id, body FROM guarded ORDER BY body, id', as => 'reader', ordered => 1 ],
	[ 'row-level security before other conditions', 'SELECT id, body FROM guarded WHERE leak(kind, body) ORDER BY id', as => 'reader', ordered => 1 ],
	[ 'a barrier before other conditions', 'SELECT id, body FROM barrier WHERE leak(kind, body)' ],
	[ 'rights on columns', 'SELECT id, body FROM columns_of', as => 'reader' ],
	[ "an owner's view", 'SELECT id, body FROM barrier', as => 'reader' ],
	[ "an owner's function", 'SELECT id, trusted_body(id) FROM doc', as => 'reader' ],
);

my %settings = (
	'one process' => 'SET max_parallel_workers_per_gather = 0',
	'parallel plans' => 'SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0;
		SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0');
like($node->safe_psql('postgres', "$settings{'parallel plans'}; EXPLAIN SELECT id, body FROM doc ORDER BY id"), qr/Gather/, 'plans are parallel');

my @modes = ([ 'one process', '0.8' ], [ 'parallel plans', '0.5' ]);
for my $mode (@modes)
{
	my ($plans, $similarity) = @$mode;
	my $script = "SET client_min_messages = warning;\n$settings{$plans};\nCREATE TEMP TABLE passing AS SELECT id, body FROM doc;\n";
	for my $form (@forms)
	{
		my ($name, $query, %is) = @$form;
		my $truth = defined $is{truth} ? "\$t\$$is{truth}\$t\$" : 'NULL';
		my $call = sprintf("SELECT check_answers(\$q\$%s\$q\$, %s, %s, %s, %s, '%s');\n", $query, $truth, $is{ordered} ? 'true' : 'false',
			$is{joined} // 1 ? 'true' : 'false', $similarity, $is{id} // 'bigint');
		$call = "SET ROLE $is{as};\n${call}RESET ROLE;\n" if $is{as};
		$script .= "SELECT \$n\$---- $name\$n\$;\n$call";
	}
	my ($status, $output, $errors) = $node->psql('postgres', $script, on_error_stop => 0);
	is($errors, '', "$plans, $similarity: no error");
	my %said = map { /\A(.*?)\n(.*)\z/s ? ($1 => $2) : () } split(/^---- /m, "$output\n");
	like($said{ $_->[0] } // 'nothing', qr/\Aequal: \d+\n+\z/, "$plans, $similarity: $_->[0]") for @forms;
}
note(scalar(@forms) . ' forms');

# ---- what is refused, and errors in the middle ----

$node->safe_psql('postgres', q{
	CREATE FUNCTION error_of(query text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE said text; detail text;
	BEGIN
		PERFORM near_duplicate_groups(query);
		RETURN 'no error';
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
		RETURN concat_ws(' ', SQLSTATE, SQLERRM, nullif(detail, ''));
	END $$});
my $only = '0A000 query must be a SELECT that changes and locks no rows';
my @refused = (
	[ 'SELECT id, body FROM doc FOR UPDATE', "$only It is a statement SELECT FOR UPDATE." ],
	[ 'SELECT id, body FROM doc FOR KEY SHARE', "$only It is a statement SELECT FOR KEY SHARE." ],
	[ 'SELECT * FROM (SELECT id, body FROM doc FOR SHARE) d', "$only A query within it locks rows." ],
	[ 'WITH d AS (DELETE FROM doc RETURNING id, body) SELECT * FROM d', "$only Its WITH clause changes rows." ],
	[ 'UPDATE doc SET body = body RETURNING id, body', "$only It is a statement UPDATE." ],
	[ q{WITH d AS (SELECT 1) INSERT INTO just_two VALUES (1, 'a') RETURNING id, body}, "$only It is a statement INSERT." ],
	[ 'CREATE TABLE y AS SELECT id, body FROM doc', "$only It is a statement CREATE TABLE AS." ],
	[ 'SELECT id, body INTO z FROM doc', "$only It is a statement SELECT INTO." ],
	[ 'EXPLAIN SELECT id, body FROM doc', "$only It is a statement EXPLAIN." ],
	[ 'SHOW work_mem', "$only It is a statement SHOW." ],
	[ 'SET work_mem = 64', "$only It is a statement SET." ],
	[ 'DO $x$ BEGIN END $x$', "$only It is a statement DO." ],
	[ 'EXECUTE prepared', "$only It is a statement EXECUTE." ],
	[ 'doc', '42601 query must be a statement, not a name' ],
	[ '-- nothing', '42601 query must be one statement' ],
	[ 'SELECT id, body FROM', '42601 syntax error at end of input' ],
	[ 'SELECT id, nobody FROM doc', '42703 column "nobody" does not exist' ],
	[ 'SELECT id, body FROM doc WHERE id = $1', '42P02 there is no parameter $1' ],
	[ 'SELECT id, body FROM doc; SELECT id, body FROM doc', '42601 query must be one statement' ],
	[ 'SELECT id FROM doc', '42804 query must return two columns, an id and a text It returns 1 column.' ],
	[ 'SELECT FROM doc', '42804 query must return two columns, an id and a text It returns 0 columns.' ],
	[ 'TABLE doc', '42804 query must return two columns, an id and a text It returns 5 columns.' ],
	[ 'SELECT id, body::char(20) FROM doc', '42804 query must return an id and a text The second column is of type character.' ],
	[ 'SELECT id, body::name FROM doc ORDER BY 2', '42804 query must return an id and a text The second column is of type name.' ],
	[ 'SELECT id, to_json(body) FROM doc', '42804 query must return an id and a text The second column is of type json.' ],
	[ 'SELECT id, kind FROM doc UNION SELECT id, id FROM doc', '42804 query must return an id and a text The second column is of type integer.' ],
	[ 'SELECT uid, body FROM doc', '42804 ids of the query are of type uuid, not bigint' ],
	[ 'SELECT nullif(id, 50), body FROM doc', '22004 query must not return an id that is null' ],
	[ 'SELECT id, body || 1 / (60 - id) FROM doc', '22012 division by zero' ],
	[ 'SELECT id, body FROM doc ORDER BY 1 / (60 - id)', '22012 division by zero' ],
	[ 'SELECT id / (60 - id), body FROM doc', '22012 division by zero' ],
	[ 'SELECT id, body FROM doc WHERE 1 / (60 - id) < 2', '22012 division by zero' ],
	[ 'SELECT id, left(body, 40000)::cut_document FROM doc', '23514 value for domain cut_document violates check constraint "cut_document_check"' ],
	[ 'SELECT id, (SELECT body FROM doc e WHERE e.kind = d.kind) FROM doc d', '21000 more than one row returned by a subquery used as an expression' ],
	[ q{SELECT id, simhash_shingles(body, 'words', 1 + id % 2) FROM doc}, '22023 cannot compare sets of different kinds of shingles One is of words in width 1, the other of words in width 2.' ],
);
my @refused_to_reader = (
	[ 'SELECT id, body FROM hidden', '42501 permission denied for table hidden' ],
	[ 'SELECT id, title FROM columns_of', '42501 permission denied for table columns_of' ],
	[ 'SELECT id, trusted_body(id) || (SELECT max(body) FROM hidden) FROM doc', '42501 permission denied for table hidden' ]);
$node->safe_psql('postgres', 'CREATE DOMAIN cut_document AS text CHECK (length(VALUE) < 1000)');
for my $plans (sort keys %settings)
{
	my $errors_of = sub { join('', map { "SELECT error_of(\$q\$$_->[0]\$q\$);\n" } @_) };
	my @said = split /\n/, $node->safe_psql('postgres', "$settings{$plans}; SET temp_tablespaces = ''; SET work_mem = '64kB';
		PREPARE prepared AS SELECT id, body FROM doc;\n" . $errors_of->(@refused) . "SET ROLE reader;\n" . $errors_of->(@refused_to_reader)
		. "RESET ROLE; SELECT count(*) FROM pg_ls_tmpdir(); SELECT count(*) > 0 FROM near_duplicate_pairs('SELECT id, body FROM doc')");
	is(shift @said, $_->[1], "$plans: $_->[0]") for @refused, @refused_to_reader;
	is("@said", '0 t', "$plans: nothing is left, and the next call has an answer");
}
# Where the error is.
my (undef, undef, $context) = $node->psql('postgres', q{SELECT near_duplicate_pairs('SELECT id, body || 1 / (60 - id) FROM doc')}, on_error_stop => 0);
like($context, qr/division by zero\nCONTEXT:  SQL statement "SELECT id, body \|\| 1 \/ \(60 - id\) FROM doc"/, 'an error has the query as its context');

# ---- how it is called ----

my $pairs = $node->safe_psql('postgres', q{SELECT count(*) FROM near_duplicate_pairs('SELECT id, body FROM doc')});
for my $plans (sort keys %settings)
{
	my $same = sub {
		my ($how, $script, $expected) = @_;
		is($node->safe_psql('postgres', "$settings{$plans};\n$script"), $expected // $pairs, "$plans: $how");
	};
	$same->('a READ ONLY transaction', q{BEGIN READ ONLY; SELECT check_answers('SELECT id, body FROM doc ORDER BY id', NULL, true, true, 0.8, 'bigint'); COMMIT},
		'equal: 94');
	$same->('a SERIALIZABLE transaction', q{BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM near_duplicate_pairs('SELECT id, body FROM doc'); COMMIT});
	$same->('another search_path', q{SET search_path = pg_catalog; SELECT count(*) FROM public.near_duplicate_pairs('SELECT id, body FROM public.doc')});
	$same->('a prepared statement', q{PREPARE p AS SELECT count(*) FROM near_duplicate_pairs($1, $2);} .
		q{EXECUTE p('SELECT id, body FROM doc', 0.8);} x 7, join("\n", ($pairs) x 7));
	$same->('EXECUTE with parameters', q{CREATE FUNCTION pg_temp.pairs_of(relation text, wanted float8) RETURNS bigint LANGUAGE plpgsql AS $$
		DECLARE found bigint;
		BEGIN
			EXECUTE 'SELECT count(*) FROM near_duplicate_pairs($1, $2)' INTO found USING format('SELECT id, body FROM %I', relation), wanted;
			RETURN found;
		END $$; SELECT pg_temp.pairs_of('doc', 0.8)});
	$same->('a cursor', q{BEGIN; DECLARE c CURSOR FOR SELECT 'a pair' FROM near_duplicate_pairs('SELECT id, body FROM doc') LIMIT 2; FETCH 1 FROM c; FETCH 1 FROM c; COMMIT},
		"a pair\na pair");
	$same->('rows of its own statement are not seen', q{BEGIN; WITH i AS (INSERT INTO doc SELECT id + 1000, kind, title, body FROM doc RETURNING id)
		SELECT count(*) FROM near_duplicate_pairs('SELECT id, body FROM doc'), (SELECT count(*) FROM i) n; ROLLBACK});
	$same->('rows of its transaction are', q{BEGIN; DELETE FROM doc; SELECT count(*) FROM near_duplicate_pairs('SELECT id, body FROM doc'); ROLLBACK}, 0);
	$same->('a savepoint', q{BEGIN; SAVEPOINT s; DELETE FROM doc; ROLLBACK TO s; SELECT count(*) FROM near_duplicate_pairs('SELECT id, body FROM doc'); COMMIT});
	# A function that writes is called once for each row, and what it said is what is compared.
	for my $order ('', 'ORDER BY id', 'ORDER BY 2, id')
	{
		$same->("a function that writes, $order", qq{SELECT setseed(0.5); TRUNCATE log;
			CREATE TEMP TABLE found AS SELECT * FROM near_duplicate_pairs('SELECT id, noted(id, body) FROM doc $order');
			SELECT count(*), count(DISTINCT id) FROM log;
			WITH p AS (SELECT least(a.id, b.id) AS a, greatest(a.id, b.id) AS b FROM log a JOIN log b ON a.id < b.id AND a.body =~~ b.body),
				f AS (SELECT least(id, other), greatest(id, other) FROM found)
			SELECT (SELECT count(*) > 0 FROM p), (SELECT count(*) FROM (TABLE p EXCEPT TABLE f) x), (SELECT count(*) FROM (TABLE f EXCEPT TABLE p) x)},
			"\n94|94\nt|0|0");
	}
}

# ---- random tables ----

# Some hundred texts each: families of which some pairs are at the similarity and some just below, copies, texts that share a template,
# a chain in which each has most of the words of the one before, and short ones; in any order, with ids of three types.
$node->safe_psql('postgres', q{
	CREATE FUNCTION random_text(seed integer, i integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
		SELECT CASE abs(hashint4(i * 31 + seed)) % 8
			WHEN 0 THEN text_of(seed * 100 + 1 + i % 9, 0, 50)
			WHEN 1 THEN text_of(seed * 100 + 50, 0, 60) || ' ' || text_of(seed * 100 + i, 0, 8 + i % 30)
			WHEN 2 THEN (SELECT string_agg(left(md5(seed || ' chain ' || w), 5), ' ' ORDER BY w) FROM generate_series(4 * (i % 50), 4 * (i % 50) + 70) w)
			WHEN 3 THEN (ARRAY['', '?!', NULL, 'one', 'one two', 'one two three', 'four five six seven'])[1 + i % 7]
			ELSE text_of(seed * 100 + 1 + i % 9, i % 40, 50 + i % 3) END $$});
for my $seed (1 .. 3)
{
	$node->safe_psql('postgres', qq{DROP TABLE IF EXISTS made; CREATE TABLE made AS
		SELECT hashint8extended(i, $seed) AS id, md5($seed || ' ' || i)::uuid AS uid, 'text ' || i AS name, random_text($seed, i) AS body
		FROM generate_series(1, 240) i; ANALYZE made});
	for my $similarity ('0.5', '0.8', '0.95')
	{
		my ($memory, $plans) = (('64kB', '1MB', '64MB')[ ($seed + 100 * $similarity) % 3 ], (sort keys %settings)[ $seed % 2 ]);
		my $start = "$settings{$plans}; SET work_mem = '$memory'; SET hash_mem_multiplier = 1;";
		for my $columns ([ 'id', 'body', 'bigint' ], [ 'uid', 'body', 'uuid' ], [ 'name', 'body', 'text' ], [ 'id', 'simhash_shingles(body)', 'bigint' ])
		{
			my ($id, $text, $type) = @$columns;
			is($node->safe_psql('postgres', "$start SELECT check_answers('SELECT $id, $text FROM made ORDER BY $id', 'SELECT $id, body FROM made ORDER BY $id',
					true, true, $similarity, '$type')"), 'equal: 240', "random table $seed, $similarity, $type of $text, $memory, $plans");
		}
	}
}

$node->stop;
done_testing();
