# A streaming standby under load: every replayed page equals the primary's (wal_consistency_checking), the answers
# are equal, the index checks, also after promotion. Then a base backup and a dump, restored.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seconds = $ENV{SIMHASH_STANDBY_SECONDS} // 8;
my $primary = start_node('primary', init => { allows_streaming => 1 },
	conf => "wal_consistency_checking = 'all'\nmax_connections = 20\n");
create_data($primary, 'docs', 'clustered', 20_000);
$primary->safe_psql('postgres', 'CREATE INDEX docs_fp ON docs USING simhash (fp); CREATE INDEX ON docs (id)');
$primary->backup('start');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'start', has_streaming => 1);
$standby->start;

my $dir = PostgreSQL::Test::Utils::tempdir;
PostgreSQL::Test::Utils::append_to_file("$dir/write.sql", <<'SQL');
\set i random(1, 1000000000)
\set old random(1, 20000)
BEGIN;
INSERT INTO docs SELECT 100000 + :i + j, ('x' || md5((:i + j)::text))::bit(64)::bigint FROM generate_series(1, 20) j;
INSERT INTO docs VALUES (:i, 42), (:i, NULL);
UPDATE docs SET fp = fp # 6 WHERE id = :old;
DELETE FROM docs WHERE id BETWEEN :old + 1 AND :old + 20;
END;
SQL
PostgreSQL::Test::Utils::append_to_file("$dir/vacuum.sql", "VACUUM docs;\n");
PostgreSQL::Test::Utils::append_to_file("$dir/read.sql", "SET enable_seqscan = off;\nSELECT count(*) FROM docs WHERE fp <~> 42 <= 3;\n"
	. "SELECT fp <~> 42 FROM docs ORDER BY fp <~> 42 LIMIT 100;\n");
my @clients = map {
	my ($script, $clients, $node) = @$_;
	my $output = '';
	IPC::Run::start([ 'pgbench', '-n', '-c', $clients, '-T', $seconds, '-f', "$dir/$script.sql", $node->connstr('postgres') ], '>&', \$output)
} ([ 'write', 4, $primary ], [ 'vacuum', 1, $primary ], [ 'read', 2, $standby ]);
ok(IPC::Run::finish($_), 'a client under load ended well') for @clients;

sub answers
{
	my ($node) = @_;
	return $node->safe_psql('postgres', q{
		SET enable_seqscan = off; SET enable_bitmapscan = off; SET max_parallel_workers_per_gather = 0;
		SELECT q, radius, (SELECT count(*) || ' ' || coalesce(sum(hashint4(id)::numeric), 0) FROM docs WHERE fp <~> q <= radius)
		FROM (VALUES (42::bigint), (0), (-1), (1234567890123456789)) v (q), unnest(ARRAY[0, 3, 5, 8, 20, 64]) radius;
		SELECT fp <~> 42 FROM docs ORDER BY fp <~> 42 LIMIT 1000});
}
sub check_index
{
	my ($node, $what) = @_;
	my ($status, $output, $errors) = $node->psql('postgres', "SELECT FROM simhash_index_check('docs_fp', true)");
	is($errors, '', "$what: the index checks, every row is in it");
	return;
}

$primary->wait_for_catchup($standby, 'replay');
is(answers($standby), answers($primary), 'the standby answers as the primary does');
check_index($primary, 'primary');
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
$standby->poll_query_until('postgres', "SELECT pg_get_wal_replay_pause_state() = 'paused'");
check_index($standby, 'standby');
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
my $plan = $standby->safe_psql('postgres', 'SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT fp FROM docs WHERE fp <~> 42 <= 3');
unlike($plan, qr/Index Only/, 'no index-only scan on a standby');
unlike(PostgreSQL::Test::Utils::slurp_file($standby->logfile), qr/inconsistent page|PANIC|TRAP/, 'replay found every page consistent');

my $before = answers($standby);
$standby->promote;
is(answers($standby), $before, 'promoted: the same answers');
$standby->safe_psql('postgres', 'VACUUM docs; INSERT INTO docs SELECT id, fp # 1 FROM docs LIMIT 5000');
check_index($standby, 'promoted and written to');
my ($compared, $wrong) = compare_radii($standby, 'docs', 30, 0, 3, 6);
is($wrong, 0, 'promoted: as brute force');

$primary->backup('later');
my $restored = PostgreSQL::Test::Cluster->new('restored');
$restored->init_from_backup($primary, 'later');
$restored->start;
is(answers($restored), answers($primary), 'a base backup, restored, answers alike');
check_index($restored, 'restored');
$primary->command_ok([ 'pg_dump', '-Fc', '-f', "$dir/dump", $primary->connstr('postgres') ], 'dump');
$restored->safe_psql('postgres', 'CREATE DATABASE loaded');
$restored->command_ok([ 'pg_restore', '-d', $restored->connstr('loaded'), "$dir/dump" ], 'restore');
is($restored->safe_psql('loaded', "SELECT count(*) FROM docs"), $primary->safe_psql('postgres', 'SELECT count(*) FROM docs'), 'all rows are there');
is($restored->safe_psql('loaded', "SELECT count(*) FROM simhash_index_check('docs_fp', true)") ne '', 1, 'and the index checks');
$_->stop for $standby, $restored, $primary;
done_testing();
