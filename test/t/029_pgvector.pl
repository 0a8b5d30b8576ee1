# pgvector, which has operators of bit strings as well, and this extension in one database, created
# in either order: every operator is found by its name, and each extension's index serves its own.
# Skipped where pgvector is not installed (Debian's package postgresql-NN-pgvector).
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = start_node('pgvector', no_extension => 1);
my $version = $node->safe_psql('postgres', "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'");
plan skip_all => 'pgvector is not installed' if $version eq '';
my ($major, $minor) = split /\./, $version;
plan skip_all => "pgvector $version has no operators of bit strings" if $major == 0 && $minor < 7;

my $rows = 2000;

# Codes of 256 bits, of which the last digit of the id says how many bits they are from the first of
# their ten, and fingerprints of their first 64 bits.
my $data = qq{
	CREATE TABLE picture (id integer, code bit(256), fp bigint);
	INSERT INTO picture SELECT id, code, substring(code FROM 1 FOR 64)::bigint
	FROM (SELECT id, code # (repeat('1', id % 10) || repeat('0', 256 - id % 10))::bit(256) AS code
		FROM generate_series(0, $rows - 1) id,
			LATERAL (SELECT (string_agg(('x' || md5(id / 10 || ' ' || part))::bit(128)::text, ''))::bit(256) AS code
				FROM generate_series(1, 2) part) base) made;
	CREATE INDEX picture_code ON picture USING simhash (code);
	CREATE INDEX picture_fp ON picture USING simhash (fp);
	CREATE INDEX picture_near ON picture USING hnsw (code bit_hamming_ops);
	ANALYZE picture};
my $query = '(SELECT code FROM picture WHERE id = 500)';

# What each statement gives, and the index that its plan names.
my @statements = (
	[ "SELECT count(*) FROM picture WHERE code <~~> $query <= 31", '10', 'picture_code' ],
	[ "SELECT count(*) FROM picture WHERE code =~~ $query",        '10', 'picture_code' ],
	[ "SELECT string_agg(id::text, ' ') FROM (SELECT id FROM picture ORDER BY code <~~> $query LIMIT 3) near", '500 501 502', 'picture_code' ],
	[ "SELECT string_agg(id::text, ' ') FROM (SELECT id FROM picture ORDER BY code <~> $query LIMIT 3) near",  '500 501 502', 'picture_near' ],
	[ 'SELECT count(*) FROM picture WHERE fp <~> (SELECT fp FROM picture WHERE id = 500) <= 3',               '4',           'picture_fp' ],
	[ "SELECT bool_and(code <~~> $query = code <~> $query AND hamming(code, $query) = hamming_distance(code, $query)) FROM picture", 't' ],
	[ "SELECT bool_and(jaccard_distance(code, $query) = code <%> $query) FROM picture", 't' ],
	[ "SELECT x'f0' <~~> x'0f', x'f0' <~> x'0f', 5::bigint <~> 6, hamming(x'f0', x'0f'), hamming(5, 6)", '8|8|2|8|2' ],
);

for my $order ([ 'simhash', 'vector' ], [ 'vector', 'simhash' ])
{
	my $words = join ', then ', @$order;
	my $database = join '_', @$order;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, "CREATE EXTENSION $_") for @$order;
	$node->safe_psql($database, $data);
	for (@statements)
	{
		my ($statement, $result, $index) = @$_;
		is($node->safe_psql($database, $statement), $result, "$words: $statement");
		next unless $index;
		like($node->safe_psql($database, "SET enable_seqscan = off; EXPLAIN (COSTS OFF) $statement"), qr/Scan (using|on) $index\b/, "$words: by $index");
	}
	# Only two literals without a type are ambiguous.
	my ($status, undef, $errors) = $node->psql($database, q{SELECT '1' <~> '2'});
	like($errors, qr/operator is not unique: unknown <~> unknown/, "$words: two literals without a type");
	# Either goes without the other.
	$node->safe_psql($database, "DROP EXTENSION $order->[0] CASCADE");
	my ($operator, $gone) = $order->[0] eq 'vector' ? ('<~~>', '<%>') : ('<%>', '<~~>');
	isnt($node->safe_psql($database, "SELECT x'f0' $operator x'0f'"), '', "$words: without $order->[0], $operator is there");
	like(($node->psql($database, "SELECT x'f0' $gone x'0f'"))[2], qr/operator does not exist/, "$words: and $gone is not");
}

$node->stop;
done_testing();
