# Indexes with a scope: one, ten and 100 000 scopes of very unequal size. Within each of them the index's answers equal brute force,
# before and after changes, VACUUM, a crash, and in a database restored from a dump. Eight writers keep a constraint within scopes.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $rows = 120_000;
my @scopes = qw(one ten many);    # columns of the table, and how many scopes each makes

my $node = start_node('scopes', conf => "max_parallel_workers_per_gather = 0\njit = off\n");

# Of ten scopes the largest has half of the rows, the next a quarter; of 100 000 the largest has a sixth, and nearly all others one.
# Near-duplicates are one after the other, so they share a scope or do not; each fingerprint's scopes include NULL.
$node->safe_psql('postgres', qq{
	CREATE TABLE docs (id int PRIMARY KEY, fp bigint, one int, ten text, many bigint);
	INSERT INTO docs
		SELECT i, hashint8extended(i / 6, 3) # (1::bigint << (i % 64)) # (1::bigint << (i / 7 % 64)), 1,
			'ten ' || (10 - least(9, floor(log(2, 1 + (hashint4extended(i, 1) & 1023))))),
			CASE WHEN i % 6 > 0 THEN i WHEN i % 4 > 0 THEN -1 END
		FROM generate_series(1, $rows) i;
	CREATE INDEX docs_one ON docs USING simhash (fp, one);
	CREATE INDEX docs_ten ON docs USING simhash (fp, ten);
	CREATE INDEX docs_many ON docs USING simhash (fp, many);
	CREATE INDEX docs_ten_many ON docs USING simhash (fp, ten, many);
	VACUUM ANALYZE docs});
is($node->safe_psql('postgres', 'SELECT count(DISTINCT one), count(DISTINCT ten), count(DISTINCT many) > 100000 FROM docs'),
	'1|10|t', 'there are one, ten and more than 100 000 scopes');

# What a query returns that must have this plan.
sub by_plan
{
	my ($database, $settings, $select, $plan, $what) = @_;
	my $output = $node->safe_psql($database, "$settings; EXPLAIN (COSTS OFF) $select; $select");
	my ($lines, $row) = $output =~ /\A(.*)\n(.*)\z/s;
	like($lines, $plan, "$what: the plan is the one to be tested");
	return $row;
}

# The rows that are found, as their number and a checksum.
my $summary = 'SELECT count(*), count(DISTINCT asked.id), sum(hashint8(radius * asked.id::bigint * 1000003 + d.id)::numeric)';

# Table `asked`: rows of docs, each with its own scope and with that of the row after it. Table `near`: all pairs within 8 bits of
# what is asked about and a row, whatever their scopes, by brute force.
sub make_queries
{
	my ($database) = @_;
	$node->safe_psql($database, q{
		DROP TABLE IF EXISTS asked, near;
		CREATE TABLE asked AS SELECT q.id, q.fp # 2 AS fp, s.one, s.ten, s.many
			FROM generate_series(0, 120000, 5000) n CROSS JOIN generate_series(0, 6) i CROSS JOIN generate_series(0, 1) next
			JOIN docs q ON q.id = n + i JOIN docs s ON s.id = n + i + next;
		CREATE TABLE near AS SELECT asked.id AS query, hamming(asked.fp, d.fp) AS distance, d.*
			FROM (SELECT DISTINCT id, fp FROM asked) asked JOIN docs d ON bit_count((asked.fp # d.fp)::bit(64)) <= 8;
		ANALYZE asked});
	return;
}

sub expected_rows
{
	my ($database, $scope) = @_;
	return $node->safe_psql($database, qq{
		$summary FROM asked CROSS JOIN unnest(ARRAY[0, 1, 3, 8]) radius
		JOIN near d ON d.query = asked.id AND d.distance <= radius AND $scope});
}

sub found_rows
{
	my ($database, $settings, $scope, $plan, $what) = @_;
	return by_plan($database, $settings, qq{
		$summary FROM asked CROSS JOIN unnest(ARRAY[0, 1, 3, 8]) radius
		CROSS JOIN LATERAL (SELECT id FROM docs d WHERE d.fp <~> asked.fp <= radius AND $scope) d}, $plan, $what);
}

# The distances of the nearest, in their order.
sub nearest
{
	my ($scope) = @_;
	return qq{
		SELECT string_agg(distances, ' ' ORDER BY id, distances) FROM (SELECT * FROM asked WHERE id % 5000 = 3) asked
		CROSS JOIN LATERAL (SELECT string_agg(d.distance::text, ',') AS distances
			FROM (SELECT d.fp <~> asked.fp AS distance FROM docs d WHERE $scope ORDER BY d.fp <~> asked.fp LIMIT 5) d) d};
}

my $joins = 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off';
my $by_scan = 'SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off';
my $by_index = "$joins; SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off";
my $by_bitmap = "$joins; SET enable_seqscan = off; SET enable_indexscan = off";
my %condition = (
	docs_one => 'd.one = asked.one',
	docs_ten => 'd.ten = asked.ten',
	docs_many => 'd.many = asked.many',
	docs_ten_many => 'd.ten = asked.ten AND d.many = asked.many');

sub compare
{
	my ($when, $database) = @_;
	make_queries($database);
	for my $index (sort keys %condition)
	{
		my $what = "$when, $index";
		my $scope = $condition{$index};
		# The other indexes could answer, too.
		my $alone = join '; ', 'BEGIN', map { "DROP INDEX $_" } grep { $_ ne $index } sort keys %condition;
		my $expected = expected_rows($database, $scope);
		like($expected, qr/^[1-9]\d\d/, "$what: there is something to find");
		is(found_rows($database, "$alone; $by_index", $scope, qr/Index Scan using $index on docs d/, $what),
			$expected, "$what: its rows are those of brute force");
		is(found_rows($database, "$alone; $by_bitmap", $scope, qr/Bitmap Index Scan on $index/, $what),
			$expected, "$what: and by a bitmap");
		next if $index =~ /many/;    # an order of so small scopes goes through the whole table
		is(by_plan($database, "$alone; $by_index", nearest($scope), qr/Index Scan using $index on docs d\b.*\n.*\n\s+Order By/, "$what, nearest"),
			$node->safe_psql($database, "$by_scan; " . nearest($scope)), "$what: the nearest are those of the sequential scan");
	}
	for my $index (sort keys %condition)
	{
		like($node->safe_psql($database, "SELECT rows FROM simhash_index_check('$index', true)"), qr/^[1-9]/, "$when, $index is sound");
	}
	return;
}

compare('built', 'postgres');

$node->safe_psql('postgres', q{
	DELETE FROM docs WHERE id % 7 = 0;
	VACUUM docs;
	UPDATE docs SET ten = 'ten 4', many = id + 1 WHERE id % 11 = 0;
	INSERT INTO docs SELECT 200000 + i, hashint8extended(i / 6, 3), 1, 'ten ' || i % 10 + 1, i / 2 FROM generate_series(1, 9000) i});
$node->stop('immediate');
$node->start;
compare('changed, and after a crash', 'postgres');
$node->safe_psql('postgres', 'VACUUM docs');
compare('vacuumed', 'postgres');

# A constraint for each of 100 000 scopes; attempts lie within 0..2 bits of a centre that all scopes share.
$node->safe_psql('postgres', q{
	CREATE TABLE pages (id serial, fp bigint, tenant int, EXCLUDE USING simhash (fp WITH ~=, tenant WITH =));
	INSERT INTO pages (fp, tenant) SELECT ('x' || md5((i % 20)::text))::bit(64)::bigint, i FROM generate_series(1001, 100000) i;
	CREATE TABLE tried (fp bigint, tenant int)});
my $dir = PostgreSQL::Test::Utils::tempdir;
PostgreSQL::Test::Utils::append_to_file("$dir/insert.sql", <<'SQL');
\set centre random(1, 20)
\set tenant random_zipfian(1, 1000, 1.1)
\set a random(0, 63)
\set b random(0, 63)
WITH attempt AS (
	INSERT INTO tried
		VALUES (('x' || md5(:centre::text))::bit(64)::bigint # (1::bigint << :a) # (1::bigint << :b), nullif(:tenant, 7))
		RETURNING fp, tenant)
INSERT INTO pages (fp, tenant) SELECT fp, tenant FROM attempt ON CONFLICT DO NOTHING;
SQL
$node->command_ok([ 'pgbench', '-n', '-c', '8', '-j', '2', '-t', '2500', '-f', "$dir/insert.sql", $node->connstr('postgres') ],
	'eight writers are done');
is($node->safe_psql('postgres', 'SELECT count(*) FROM tried'), 20_000, 'every attempt ended');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pages a JOIN pages b USING (tenant) WHERE a.id < b.id AND hamming(a.fp, b.fp) <= 3'),
	0, 'no two rows of a scope are near-duplicates');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM tried t
		WHERE NOT EXISTS (SELECT FROM pages p WHERE p.tenant = t.tenant AND hamming(p.fp, t.fp) <= 3) AND tenant IS NOT NULL}),
	0, 'every attempt that was refused has a row of its scope that it is near to');
is($node->safe_psql('postgres', q{
		SELECT (SELECT count(*) FROM tried WHERE tenant IS NULL) = (SELECT count(*) FROM pages WHERE tenant IS NULL)}),
	't', 'no row without a scope is refused');

# Dump and restore.
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$dir/dump", $node->connstr('postgres') ], 'the database is dumped');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('restored'), "$dir/dump" ], 'and restored');
$node->safe_psql('restored', 'ANALYZE');
compare('restored', 'restored');
my ($status, undef, $error) = $node->psql('restored', 'INSERT INTO pages (fp, tenant) SELECT fp # 3, tenant FROM pages WHERE tenant = 5000');
isnt($status, 0, 'the restored constraint refuses a near-duplicate');
like($error, qr/conflicting key value violates exclusion constraint "pages_fp_tenant_excl"/, 'and says so');

$node->stop;
done_testing();
