# What servers newer than PostgreSQL 15 offer an index, and what the older ones do in its place: counts of searches
# and of pages found in memory, logical replication by the index, checks by others than the owner,
# constraints on partitioned tables, ON CONFLICT DO SELECT.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = start_node('newer_servers', init => { allows_streaming => 'logical' });
my $version = $node->safe_psql('postgres', 'SELECT current_setting(\'server_version_num\')::integer / 10000');
create_data($node, 'docs', 'clustered', 20000);
$node->safe_psql('postgres', q{
	CREATE INDEX docs_fp ON docs USING simhash (fp);
	VACUUM ANALYZE docs;
	CREATE TABLE asked AS SELECT fp FROM docs WHERE id BETWEEN 1 AND 7;
	ANALYZE asked;
	-- A number from the top of a query's explanation.
	CREATE FUNCTION explained(query text, what text) RETURNS numeric LANGUAGE plpgsql AS $$
	DECLARE plan json;
	BEGIN
		EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) ' || query INTO plan;
		RETURN plan #>> ARRAY['0', 'Plan', what];
	END $$;
});

# ---- searches ----

if ($version >= 18)
{
	my %searches = (
		'a condition' => 'SELECT id FROM docs WHERE fp <~> 42 <= 3',
		'an order'    => 'SELECT id FROM docs ORDER BY fp <~> 42');
	for my $kind (sort keys %searches)
	{
		my $off = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off';
		is($node->safe_psql('postgres', "$off; SELECT explained('$searches{$kind}', 'Index Searches')"), 1, "$kind is one search");
	}
	like($node->safe_psql('postgres', 'SET enable_seqscan = off; SET enable_material = off; EXPLAIN (ANALYZE, TIMING off)
			SELECT FROM asked JOIN docs ON docs.fp <~> asked.fp <= 3'),
		qr/Index Searches: 7$/m, 'a join searches for each row');
}

# ---- pages found in memory ----

if ($version >= 16)
{
	# Most of these pages are found by notes (src/index/search/notes.hpp). The query is explained once more than it is counted,
	# as the first time reads the catalog.
	my $ask = q{SELECT sum(explained('SELECT id FROM docs WHERE fp <~> 42 <= 3', 'Shared Hit Blocks')) FROM generate_series(1, 400)};
	my $hits = q{SELECT sum(hits) FROM pg_stat_io WHERE backend_type = 'client backend'};
	my $flush = 'SELECT pg_stat_force_next_flush()';
	my @counts = grep { /\d/ } split /\n/, $node->safe_psql('postgres', "SET enable_seqscan = off; $ask; $flush; $hits; $ask; $flush; $hits");
	my ($explained, $counted) = ($counts[2], $counts[3] - $counts[1]);
	note("measured: $counted pages in pg_stat_io, $explained in EXPLAIN");
	cmp_ok($explained, '>', 1000, 'the query has pages to find in memory');
	cmp_ok($counted, '>=', $explained, 'pg_stat_io counts every page that EXPLAIN counts');
	cmp_ok($counted, '<', 1.2 * $explained, 'and counts it once');
}

# ---- logical replication ----

# Between two databases of the server; nothing but the index leads to a row.
my $table = 'CREATE TABLE pages (fp bigint, body text)';
$node->safe_psql('postgres', "$table; ALTER TABLE pages REPLICA IDENTITY FULL; CREATE PUBLICATION pages FOR TABLE pages");
$node->safe_psql('postgres', 'CREATE DATABASE mirror');
$node->safe_psql('mirror', "CREATE EXTENSION simhash; $table; CREATE INDEX pages_fp ON pages USING simhash (fp)");
$node->safe_psql('postgres', q{SELECT pg_create_logical_replication_slot('mirror', 'pgoutput')});
my $source = $node->connstr . ' dbname=postgres';
$node->safe_psql('mirror', "CREATE SUBSCRIPTION mirror CONNECTION '$source' PUBLICATION pages WITH (create_slot = false, copy_data = false)");
$node->safe_psql('postgres', q{
	INSERT INTO pages SELECT nullif(i % 500, 0), 'page ' || i FROM generate_series(1, 2000) i;
	UPDATE pages SET body = body || ', changed' WHERE fp % 50 = 7;
	UPDATE pages SET fp = fp + 1 WHERE fp % 50 = 11;
	DELETE FROM pages WHERE fp % 50 = 13 OR body IN ('page 500', 'page 1500');
});
$node->wait_for_catchup('mirror');
my $rows = q{SELECT count(*), sum(hashtextextended(pages::text, 0)) FROM pages};
is($node->safe_psql('mirror', $rows), $node->safe_psql('postgres', $rows), 'rows without a key are changed and deleted by replication');
if ($version >= 18)
{
	# 122 rows were changed or deleted.
	ok($node->poll_query_until('mirror', q{SELECT idx_scan >= 122 FROM pg_stat_user_indexes WHERE indexrelname = 'pages_fp'}),
		'it finds each of them by the index');
}
$node->safe_psql('mirror', q{SELECT FROM simhash_index_check('pages_fp', true); DROP SUBSCRIPTION mirror});

# ---- fingerprints in bytea ----

if ($version >= 18)
{
	is($node->safe_psql('postgres', q{SELECT b::bigint = simhash_from_hex(encode(b, 'hex')), b::bigint::bytea = b
			FROM (VALUES ('\xff00ff00ff00ff01'::bytea)) v (b)}),
		't|t', 'casts do what the conversions do');
}

# ---- checks by others than the owner ----

# Who was granted MAINTAIN may check an index. The owner's functions run as the owner then, and find nothing of the caller's.
if ($version >= 17)
{
	$node->safe_psql('postgres', q{
		CREATE ROLE author;
		CREATE ROLE keeper;
		CREATE SCHEMA trap AUTHORIZATION keeper;
		GRANT USAGE ON SCHEMA trap TO author;
		CREATE FUNCTION marked(body text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN upper(body); END';
		CREATE TABLE letters (body text);
		INSERT INTO letters VALUES ('the boat house');
		CREATE INDEX letters_marked ON letters USING simhash (marked(body));
		ALTER TABLE letters OWNER TO author;
		GRANT MAINTAIN ON letters TO keeper;
		SET ROLE keeper;
		CREATE FUNCTION trap.upper(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'called as %', current_user; END $$});
	is($node->safe_psql('postgres', q{
			SET ROLE keeper;
			SET search_path = trap, pg_catalog, public;
			SELECT rows, current_setting('search_path') FROM simhash_index_check('letters_marked', true)}),
		'1|trap, pg_catalog, public', 'a check calls no function of the caller');
}

# ---- constraints on partitioned tables ----

my $partitioned = 'CREATE TABLE sites (fp bigint, site integer, %s) PARTITION BY LIST (site)';
my (undef, undef, $refusal) = $node->psql('postgres', sprintf($partitioned, 'EXCLUDE USING simhash (fp WITH ~=)'));
if ($version >= 17)
{
	like($refusal, qr/must include all partitioning columns/, 'a constraint on a partitioned table has the partition key');
	$node->safe_psql('postgres', sprintf($partitioned, 'EXCLUDE USING simhash (fp WITH ~=, site WITH =)'));
	$node->safe_psql('postgres', q{
		CREATE TABLE site_1 PARTITION OF sites FOR VALUES IN (1);
		CREATE TABLE others PARTITION OF sites DEFAULT;
		INSERT INTO sites VALUES (4711, 1), (4711, 2), (4711, 3), (4711 # 15, 1), (NULL, 1);
		INSERT INTO sites VALUES (4710, 1), (4710, 3), (4710, 4) ON CONFLICT DO NOTHING;
	});
	is($node->safe_psql('postgres', q{SELECT string_agg(format('%s:%s', site, fp), ' ' ORDER BY site, fp) FROM sites WHERE fp IS NOT NULL}),
		'1:4711 1:4712 2:4711 3:4711 4:4710', 'near-duplicates are refused within a site, in every partition');
	(undef, undef, $refusal) = $node->psql('postgres', 'INSERT INTO sites VALUES (4711 # 7, 2)');
	like($refusal, qr/conflicting key value violates exclusion constraint "others_fp_site_excl"/, 'with an error that names the constraint');
	# A table that becomes a partition keeps the rule.
	(undef, undef, $refusal) = $node->psql('postgres', q{
		CREATE TABLE site_7 (fp bigint, site integer);
		INSERT INTO site_7 VALUES (1, 7), (2, 7);
		ALTER TABLE sites ATTACH PARTITION site_7 FOR VALUES IN (7)});
	like($refusal, qr/could not create exclusion constraint/, 'a table with near-duplicates cannot become a partition');
}
else
{
	like($refusal, qr/exclusion constraints are not supported on partitioned tables/, 'a partitioned table has no such constraint');
}

# ---- ON CONFLICT DO SELECT ----

if ($version >= 19)
{
	(undef, undef, $refusal) = $node->psql('postgres', q{
		CREATE TABLE kept (fp bigint, CONSTRAINT kept_near EXCLUDE USING simhash (fp WITH ~=));
		INSERT INTO kept VALUES (4711) ON CONFLICT ON CONSTRAINT kept_near DO SELECT RETURNING fp});
	like($refusal, qr/DO SELECT not supported with exclusion constraints/, 'docs/constraints.md: DO SELECT takes no exclusion constraint');
}

$node->stop;
done_testing();
