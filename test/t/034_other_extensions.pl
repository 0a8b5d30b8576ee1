# This extension and others that also index texts or numbers, in one database, created in either order: the answers are those of a
# database with this extension alone, and each extension's index serves its own. pgvector has a test of its own (029). Those that
# are not installed are left out; contrib's always are.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = start_node('others', no_extension => 1);
sub available
{
	return $node->safe_psql('postgres', "SELECT name FROM pg_available_extensions WHERE name = '$_[0]'") ne '';
}
if (available('timescaledb'))
{
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'timescaledb'\ntimescaledb.telemetry_level = off\n");
	$node->restart;
}

# Three texts of each ten are like the one before them, and one of each seven has twenty words of another one.
my $data = q{
	CREATE FUNCTION words(seed text, first int, last int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
		SELECT string_agg(left(md5(seed || ' ' || w), 5), ' ' ORDER BY w) FROM generate_series(first, last) w $$;
	CREATE TABLE doc (id bigint, body text, fp bigint, code bit(128));
	INSERT INTO doc SELECT id, body, minhash(body), minhash_code(body)
	FROM (SELECT id, concat_ws(' ', words('own' || id - greatest(id % 10 - 6, 0), 1, 40), CASE WHEN id % 10 > 6 THEN id END,
			CASE WHEN id % 7 = 0 THEN words('piece' || id / 70, 1, 20) END) AS body FROM generate_series(1, 1400) id) d;
	CREATE INDEX doc_body ON doc USING simhash (body);
	CREATE INDEX doc_passages ON doc USING simhash (body passage_ops);
	CREATE INDEX doc_fp ON doc USING simhash (fp);
	CREATE INDEX doc_code ON doc USING simhash (code);
	ANALYZE doc};
my $body = '(SELECT body FROM doc WHERE id = 497)';
my $ids = "string_agg(id::text, ' ' ORDER BY id)";
my $sum = 'count(*), sum(hashint8(id * 1000003';

# Each statement, and the index that its plan names.
my @statements = (
	[ "SELECT $ids FROM doc WHERE body =~~ $body",                              'doc_body' ],
	[ "SELECT $ids FROM doc WHERE near_duplicate(body, $body, .5)",              'doc_body' ],
	[ "SELECT $ids FROM doc WHERE body &~~ $body",                              'doc_passages' ],
	[ "SELECT $ids FROM doc WHERE fp <~> minhash($body) <= 3",                   'doc_fp' ],
	[ "SELECT $ids FROM (SELECT id FROM doc ORDER BY fp <~> minhash($body) LIMIT 3) d", 'doc_fp' ],
	[ "SELECT $ids FROM doc WHERE code <~~> minhash_code($body) <= 9",           'doc_code' ],
	[ "SELECT $sum + other)::numeric) FROM near_duplicate_pairs('SELECT id, body FROM doc')" ],
	[ "SELECT $sum + original)::numeric) FROM near_duplicate_groups('SELECT id, body FROM doc ORDER BY id')" ],
	[ "SELECT $sum + other)::numeric) FROM passage_pairs('SELECT id, body FROM doc')" ],
	[ "SELECT $sum + original)::numeric) FROM simhash_groups('SELECT id, fp FROM doc ORDER BY id', 3)" ],
	[ "SELECT hamming(5, 6), hamming(x'f0', x'0f'), hamming(code, ~code), code <~~> ~code, fp <~> ~fp FROM doc WHERE id = 7" ],
	[ q{CREATE TEMPORARY TABLE kept (n int, body text, EXCLUDE USING simhash (body WITH =~~, n WITH =));
		WITH inserted AS (INSERT INTO kept SELECT n, body FROM doc, generate_series(1, 2) n WHERE id <= 40 ON CONFLICT DO NOTHING RETURNING n)
		SELECT count(*) FROM inserted} ]);

# What others do: [ preparation, statement, its index ].
my %others = (
	btree_gist => [ 'CREATE INDEX doc_gist ON doc USING gist (fp)', 'SELECT id FROM doc ORDER BY fp <-> 0::bigint LIMIT 1', 'doc_gist' ],
	intarray   => [ '', q{SELECT '{1,2}'::int[] & '{2,3}'::int[]} ],
	pg_trgm    => [ 'CREATE INDEX doc_trgm ON doc USING gin (body gin_trgm_ops)', "SELECT $ids FROM doc WHERE body % $body", 'doc_trgm' ],
	rum        => [ q{CREATE INDEX doc_rum ON doc USING rum (to_tsvector('simple', body))},
		"SELECT $ids FROM doc WHERE to_tsvector('simple', body) @@ to_tsquery('simple', left($body, 5))", 'doc_rum' ],
	pg_similarity => [ '', q{SELECT jaccard('the boat house', 'the boat'), cosine('the boat house', 'the boat') > .5} ],
	timescaledb   => [ q{CREATE TABLE series (id bigint, at timestamptz NOT NULL, body text);
		SELECT count(*) FROM create_hypertable('series', 'at');
		INSERT INTO series SELECT id, timestamptz '2026-01-01' + id * interval '1 hour', body FROM doc;
		CREATE INDEX series_body ON series USING simhash (body); CREATE INDEX series_passages ON series USING simhash (body passage_ops);
		ANALYZE series},
		"SELECT (SELECT $ids FROM series WHERE body =~~ $body), (SELECT $ids FROM series WHERE body &~~ $body)", '\w*series_body' ]);
my @installed = grep { available($_) } sort keys %others;
note("not installed: $_") for grep { !available($_) } sort keys %others;

sub by_scan
{
	return $node->safe_psql($_[0], "SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; $_[1]");
}
sub check_statement
{
	my ($database, $name, $statement, $result, $index) = @_;
	is($node->safe_psql($database, "SET enable_seqscan = off; $statement"), $result, "$name: $statement");
	like($node->safe_psql($database, "SET enable_seqscan = off; EXPLAIN (COSTS OFF) $statement"), qr/Scan (using|on) $index\b/, "$name: by $index")
		if $index;
	return;
}

$node->safe_psql('postgres', 'CREATE DATABASE alone');
$node->safe_psql('alone', 'CREATE EXTENSION simhash');
$node->safe_psql('alone', $data);
$_->[2] = by_scan('alone', $_->[0]) for @statements;
isnt($_->[2], '', "there is an answer: $_->[0]") for @statements;

for my $is_first (1, 0)
{
	my $order = $is_first ? 'simhash first' : 'simhash last';
	my $database = $is_first ? 'first' : 'last';
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	# With its library in shared_preload_libraries, the server wants this one in a new session.
	$node->safe_psql($database, "CREATE EXTENSION $_") for $is_first ? ('simhash', @installed) : (@installed, 'simhash');
	$node->safe_psql($database, $data);
	for my $other (@installed)
	{
		my ($preparation, $statement, $index) = @{ $others{$other} };
		$node->safe_psql($database, $preparation) if $preparation;
		check_statement($database, "$order, $other", $statement, by_scan($database, $statement), $index);
	}
	check_statement($database, $order, $_->[0], $_->[2], $_->[1]) for @statements;
	# Each goes without the others.
	if ($is_first)
	{
		$node->safe_psql($database, "DROP EXTENSION $_ CASCADE") for @installed;
		check_statement($database, 'without the others', $_->[0], $_->[2], $_->[1]) for @statements;
	}
	else
	{
		my $statement = $others{pg_trgm}[1];
		my $result = by_scan($database, $statement);
		$node->safe_psql($database, 'DROP EXTENSION simhash CASCADE');
		check_statement($database, 'without simhash', $statement, $result, 'doc_trgm');
	}
}

$node->stop;
done_testing();
