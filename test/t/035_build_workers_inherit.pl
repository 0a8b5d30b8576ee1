# What a worker of CREATE INDEX has from its leader: the index's options and layout, which decide how it fills leaves; and lock modes, which
# only other sessions see.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = start_node('build_workers', conf => "max_parallel_maintenance_workers = 2\nmaintenance_work_mem = 128MB\n");
use_library($node, testing_library());
$node->safe_psql('postgres', q{
	CREATE TABLE docs WITH (parallel_workers = 2, autovacuum_enabled = off) AS
		SELECT i AS id, ('x' || md5(i::text))::bit(64)::bigint AS fp, (i % 5 - 2)::smallint AS tenant,
			('x' || md5(i || 'a') || md5(i || 'b'))::bit(256) AS code FROM generate_series(1, 60000) i;
	CREATE FUNCTION workers_are_gone() RETURNS boolean LANGUAGE sql AS
		$$ SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'parallel worker') $$;
	CREATE TABLE locks_seen (statement text, kind text, mode text);
	-- The locks of workers on the table and on the index that is being built, whose row of pg_class nobody else may see yet.
	CREATE PROCEDURE look_at_locks(statement text) LANGUAGE sql AS $$
		INSERT INTO locks_seen SELECT DISTINCT statement, CASE relation WHEN 'docs'::regclass THEN 'table' ELSE 'index' END, mode
		FROM pg_locks l JOIN pg_stat_activity USING (pid) WHERE backend_type = 'parallel worker' AND granted AND relation >= 16384 $$});

# Runs a build with pause points {point => number of its lock} beside a session that runs $script.
sub conducted
{
	my ($points, $script, $sql) = @_;
	my ($prepare, $finish) = start_conductor($node, [ sort values %$points ], $script);
	my $list = join(',', map { "$_/$points->{$_}" } sort keys %$points);
	my (undef, undef, $errors) = $node->psql('postgres', "$prepare SET simhash_test.pause_at = '$list';\n$sql");
	is($errors, '', "$sql: no error");
	is($finish->(), '', "$sql: the other session sees what it waits for");
	return;
}

# ---- options: leaves of workers are those of one backend ----

# The leader writes one key range, and workers all others.
my $workers_write = q{
	CALL wait_until('waits_at(2)');
	SELECT go(4);
	CALL wait_until('workers_are_gone()');
	SELECT go(2);
};

# Of each tree: what it is, and how full its leaves are, in steps of a twentieth: a worker's last leaf is less full.
sub leaves
{
	my ($index) = @_;
	return $node->safe_psql('postgres', qq{
		SELECT contents, tree, radius, prefix_mask, entries, round(fill::numeric * 20) / 20 FROM simhash_index_info('$index')
		WHERE level = 0 ORDER BY tree});
}

for my $columns ('fp', 'fp, tenant', 'code', '(fp # 1)')
{
	for my $options ('fillfactor = 20', 'fillfactor = 100', 'radius = 5, tables = 7, fillfactor = 50', '')
	{
		my $with = $options ? " WITH ($options)" : '';
		$node->safe_psql('postgres', "SET max_parallel_maintenance_workers = 0;\nCREATE INDEX alone ON docs USING simhash ($columns)$with");
		conducted({ 'build-leader-writes' => 2, 'build-worker-writes' => 4 }, $workers_write, "CREATE INDEX built ON docs USING simhash ($columns)$with");
		is(leaves('built'), leaves('alone'), "$columns, $options: leaves as one backend fills them");
		$node->safe_psql('postgres', 'DROP INDEX alone, built');
	}
}

# ---- locks ----

$node->safe_psql('postgres', 'CREATE INDEX built_before ON docs USING simhash (fp)');
for my $statement ('CREATE INDEX built ON docs USING simhash (fp)', 'CREATE INDEX CONCURRENTLY built ON docs USING simhash (fp)', 'REINDEX INDEX built_before',
	'REINDEX INDEX CONCURRENTLY built_before')
{
	my $is_concurrent = $statement =~ /CONCURRENTLY/;
	# Where others may write meanwhile, they do so while workers wait.
	my $write = $is_concurrent ? q{SET lock_timeout = '20s'; INSERT INTO docs (id, fp) VALUES (-1, -1); DELETE FROM docs WHERE id = -1;} : '';
	conducted({ 'build-worker' => 3 }, qq{
		CALL wait_until('waits_at(3)');
		CALL look_at_locks('$statement');
		$write
		SELECT go(3);
	}, $statement);
	is($node->safe_psql('postgres', "SELECT kind, mode FROM locks_seen WHERE statement = '$statement' ORDER BY kind, mode"),
		$is_concurrent ? "index|RowExclusiveLock\ntable|ShareUpdateExclusiveLock" : "index|AccessExclusiveLock\ntable|ShareLock", "$statement: locks of a worker");
	$node->safe_psql('postgres', 'DROP INDEX IF EXISTS built');
}
is($node->safe_psql('postgres', "SELECT rows, orphans FROM simhash_index_check('built_before', true)"), "60000|0", 'the index has every row');
$node->stop;
done_testing();
