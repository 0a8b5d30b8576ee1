# A free space map that is older than the index. kill -9 in the middle of inserts, updates, deletes and vacuum: after each restart the index answers
# as brute force does.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;
use Time::HiRes qw(usleep);

my $rounds = $ENV{SIMHASH_CRASH_ROUNDS} // 3;
srand($ENV{SIMHASH_CRASH_SEED} // 20240611);
my $node = start_node('crash', conf => "wal_consistency_checking = 'generic'\nrestart_after_crash = off\ncheckpoint_timeout = 30s\n");
# The free space map is not logged: after a crash it is that of the last checkpoint, and names pages that are in use since.
$node->safe_psql('postgres', $_) for (
	q{CREATE TABLE reused (id integer, fp bigint)},
	q{CREATE INDEX reused_fp ON reused USING simhash (fp)},
	q{INSERT INTO reused SELECT i, hashint8extended(i, 1) FROM generate_series(1, 20000) i},
	q{DELETE FROM reused}, 'VACUUM reused', 'SELECT pg_current_xact_id()', 'VACUUM reused');
my $free_pages = q{SELECT free_pages FROM simhash_index_check('reused_fp', true)};
cmp_ok($node->safe_psql('postgres', $free_pages), '>', 50, 'pages are free at the checkpoint');
$node->safe_psql('postgres', $_) for ('CHECKPOINT', q{INSERT INTO reused SELECT i, hashint8extended(i, 2) FROM generate_series(1, 20000) i});
cmp_ok($node->safe_psql('postgres', $free_pages), '<', 10, 'pages are used after it');
$node->stop('immediate');
$node->start;
my ($reused_code, $reused, $reused_message) = $node->psql('postgres', q{
	INSERT INTO reused SELECT i, hashint8extended(i, 3) FROM generate_series(20001, 40000) i;
	SELECT rows, orphans FROM simhash_index_check('reused_fp', true)});
is("$reused_code $reused", '0 40000|0', 'pages that an old free space map names, and that are in use, are left alone') or diag($reused_message);
$node->safe_psql('postgres', 'DROP TABLE reused');

create_data($node, 'docs', 'clustered', 20_000);
$node->safe_psql('postgres', 'CREATE INDEX docs_fp ON docs USING simhash (fp); CREATE INDEX ON docs (id)');
add_codes($node, 'docs');

my $dir = PostgreSQL::Test::Utils::tempdir;
PostgreSQL::Test::Utils::append_to_file("$dir/write.sql", <<'SQL');
\set i random(1, 1000000000)
\set old random(1, 20000)
BEGIN;
INSERT INTO docs SELECT 100000 + :i + j, ('x' || md5((:i + j)::text))::bit(64)::bigint FROM generate_series(1, 20) j;
INSERT INTO docs VALUES (:i, 42), (:i, NULL);
UPDATE docs SET fp = fp # 6 WHERE id = :old;
DELETE FROM docs WHERE id = :old + 1;
END;
SQL
PostgreSQL::Test::Utils::append_to_file("$dir/vacuum.sql", "VACUUM docs;\n");

keep_beginning($node);
my %compared = (docs_fp => 'docs', docs_code => 'docs.code');
my ($total, $orphans) = (0, 0);
for my $round (1 .. $rounds)
{
	begin_with_as_many($node) if $round > 1;
	my @writers = map {
		my $output = '';
		IPC::Run::start([ 'pgbench', '-n', '-c', $_->[1], '-T', '60', '-f', "$dir/$_->[0].sql", $node->connstr('postgres') ], '>&', \$output)
	} ([ 'write', 4 ], [ 'vacuum', 1 ]);
	# The writers are at work, however long they took to connect.
	my $idle = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
	$node->poll_query_until('postgres', "SELECT pg_current_wal_insert_lsn() - '$idle' > 1000000") or die 'nothing is written';
	usleep(int(rand(800_000)));
	my $postmaster = $node->{_pid};
	$node->kill9;
	IPC::Run::finish($_) for @writers;
	my $patience = 3600;
	usleep(50_000) while kill(0, $postmaster) && --$patience;
	# A new server does not start before the old one's last process has noticed its end: then it is tried again.
	until ($node->start(fail_ok => 1))
	{
		die 'the server does not start' unless --$patience > 0;
		$node->{_pid} = undef;
		usleep(50_000);
	}
	# Every invariant, every row, orphans allowed; before anything else touches the index.
	for my $index (sort keys %compared)
	{
		my ($code, $found, $message) = $node->psql('postgres', "SELECT rows, orphans FROM simhash_index_check('$index', true)");
		is($code, 0, "round $round: check of $index right after the crash") or diag($message);
		$orphans += (split /\|/, $found)[1] if $code == 0;
		my ($compared, $wrong) = compare_radii($node, $compared{$index}, 50, 0, 1, 3, 5);
		is($wrong, 0, "round $round: $compared queries of $index right after the crash");
		$total += $compared;
	}
	my $rows = $node->safe_psql('postgres', 'SELECT count(*) FROM docs');
	is($node->safe_psql('postgres', 'SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM (SELECT FROM docs ORDER BY fp <~> 1) d'),
		$rows, "round $round: all rows in the index");
	$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) docs');
	for my $index (sort keys %compared)
	{
		my ($compared, $wrong) = compare_radii($node, $compared{$index}, 50, 0, 3);
		is($wrong, 0, "round $round: $index right after VACUUM");
		$total += $compared;
		my ($code, $found, $message) = $node->psql('postgres', "SELECT rows, orphans FROM simhash_index_check('$index', true)");
		is($code, 0, "round $round: check of $index after VACUUM") or diag($message);
		like($found, qr/\|0$/, "round $round: no orphans in $index after VACUUM");
	}
}
note("measured: $rounds crashes, $total queries compared, $orphans orphans met");
$node->stop;
done_testing();
