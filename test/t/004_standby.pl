# A streaming standby under load, every page compared with the primary's by wal_consistency_checking: its answers equal the primary's, the
# check passes there, and again after it was promoted. Then: a base backup, and dump and restore.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $rounds = $ENV{SIMHASH_STANDBY_ROUNDS} // 2;
my $seconds = $ENV{SIMHASH_STANDBY_SECONDS} // 3;
my @indexes = qw(docs_fp docs_wide docs_code);
my $primary = start_node('primary', init => { allows_streaming => 1 }, conf => "wal_consistency_checking = 'all'\nlog_statement = none\n");
create_data($primary, 'docs', 'clustered', 20_000);
$primary->safe_psql('postgres', 'CREATE INDEX docs_fp ON docs USING simhash (fp); CREATE INDEX ON docs (id)');
add_codes($primary, 'docs');
$primary->safe_psql('postgres', 'CREATE TABLE fingerprints AS SELECT fp FROM docs; CREATE INDEX ON fingerprints USING simhash (fp); VACUUM fingerprints');
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
# On a busy machine replay may be far behind.
$primary->safe_psql('postgres', q{SELECT pg_create_physical_replication_slot('standby', true)});
$standby->append_conf('postgresql.conf', "primary_slot_name = 'standby'\n");
$standby->start;
# What is built now the standby has from WAL: by one backend, with more tables than one record has pages, so that insertions take several
# records; and by several.
$primary->safe_psql('postgres', q{
	CREATE INDEX docs_wide ON docs USING simhash (fp) WITH (radius = 9, tables = 10);
	ALTER TABLE docs SET (parallel_workers = 2);
	REINDEX INDEX docs_code;
	ALTER TABLE docs RESET (parallel_workers)});

my $dir = PostgreSQL::Test::Utils::tempdir;
PostgreSQL::Test::Utils::append_to_file("$dir/write.sql", <<'SQL');
\set i random(1, 1000000000)
\set old random(1, 20000)
INSERT INTO docs SELECT 100000 + :i + j, ('x' || md5((:i + j)::text))::bit(64)::bigint FROM generate_series(1, 20) j;
INSERT INTO docs VALUES (:i, 42), (:i, NULL);
UPDATE docs SET fp = fp # 6 WHERE id = :old;
DELETE FROM docs WHERE id BETWEEN :old AND :old + 20;
SQL
PostgreSQL::Test::Utils::append_to_file("$dir/vacuum.sql", "VACUUM docs;\n");
# On the standby while it replays: answers by index and by scan within one snapshot.
PostgreSQL::Test::Utils::append_to_file("$dir/read.sql", <<'SQL');
\set i random(1, 20000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SET LOCAL enable_bitmapscan = off;
SELECT ('x' || md5('clustered' || :i))::bit(64)::bigint AS q \gset
SET LOCAL enable_seqscan = off;
SELECT count(*) AS by_index, coalesce(sum(hashint4(id)::numeric), 0) AS ids FROM docs WHERE fp <~> :q <= 3 \gset i_
SET LOCAL enable_seqscan = on;
SET LOCAL enable_indexscan = off;
SELECT 1 / (count(*) = :i_by_index AND coalesce(sum(hashint4(id)::numeric), 0) = :i_ids)::integer FROM docs WHERE fp <~> :q <= 3;
END;
SQL

# The same queries on both; their answers as one text.
sub answers
{
	my ($node) = @_;
	return $node->safe_psql('postgres', q{
		SET enable_seqscan = off;
		SELECT string_agg(found::text, ',' ORDER BY i, radius) FROM generate_series(1, 50) i, unnest(ARRAY[0, 2, 3, 5]) radius,
			LATERAL (SELECT (count(*), sum(hashint4(id)::numeric)) AS found FROM docs
				WHERE fp <~> ('x' || md5('clustered' || (i * 397)))::bit(64)::bigint <= radius) d;
		SELECT count(*), sum(hashint4(d.id)::numeric) FROM (SELECT code FROM docs ORDER BY id LIMIT 50) q, docs d WHERE d.code =~~ q.code;
		SELECT radius, count(*), sum(hashint4(id)::numeric) FROM docs, unnest(ARRAY[8, 20, 64]) radius WHERE fp <~> 42 <= radius GROUP BY 1 ORDER BY 1;
		SELECT fp <~> 42 FROM docs ORDER BY fp <~> 42 LIMIT 1000});
}

keep_beginning($primary);
my ($reads, $compared) = (0, 0);
for my $round (1 .. $rounds)
{
	begin_with_as_many($primary) if $round > 1;
	my ($read_output, $read_errors) = ('', '');
	my @writers = map {
		my $output = '';
		IPC::Run::start([ 'pgbench', '-n', '-c', $_->[1], '-T', $seconds, '-f', "$dir/$_->[0].sql", $primary->connstr('postgres') ], '>&', \$output)
	} ([ 'write', 3 ], [ 'vacuum', 1 ]);
	my $reader = IPC::Run::start([ 'pgbench', '-n', '-c', 2, '-T', $seconds, '-f', "$dir/read.sql", $standby->connstr('postgres') ],
		'>', \$read_output, '2>', \$read_errors);
	IPC::Run::finish($_) for @writers, $reader;
	# A query that replay had to cancel says so; anything else is a wrong answer or a fault.
	my @faults = grep { /ERROR|FATAL/ && !/conflict with recovery/ } split /\n/, $read_errors;
	is(scalar(@faults), 0, "round $round: answers on the standby while it replays") or diag($faults[0]);
	$reads += $1 if $read_output =~ /transactions actually processed: (\d+)/;
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
	is(answers($standby), answers($primary), "round $round: standby answers as the primary");
	$compared += 200;
	for my $index (@indexes)
	{
		my ($code, $found, $message) = $standby->psql('postgres', "SELECT simhash_index_check('$index', true)");
		like($message, qr/pg_wal_replay_pause/, 'a check under replay is refused') if $round == 1;
		$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
		$standby->poll_query_until('postgres', "SELECT pg_get_wal_replay_pause_state() = 'paused'");
		($code, $found, $message) = $standby->psql('postgres', "SELECT simhash_index_check('$index', true)");
		is($code, 0, "round $round: check of $index on the standby") or diag($message);
		$standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
	}
}

for my $query ('SELECT fp FROM docs WHERE fp <~> 42 <= 3', 'SELECT count(*) FROM fingerprints')
{
	unlike($standby->safe_psql('postgres', "SET enable_seqscan = off; EXPLAIN (COSTS OFF) $query"),
		qr/Index Only/, "no index-only scan on a standby: $query");
}
my $before = answers($primary);
$primary->backup('later');
$standby->promote;
is(answers($standby), $before, 'answers after promotion');
for my $index (@indexes)
{
	my ($code, $found, $message) = $standby->psql('postgres', "SELECT simhash_index_check('$index', true)");
	is($code, 0, "check of $index after promotion") or diag($message);
}
$standby->safe_psql('postgres', q{DELETE FROM docs WHERE id % 3 = 0; INSERT INTO docs SELECT i, hashint8extended(i, 1) FROM generate_series(1, 5000) i; VACUUM docs});
is($standby->safe_psql('postgres', q{SELECT count(*) FROM (SELECT simhash_index_check('docs_fp', true), simhash_index_check('docs_wide', true), simhash_index_check('docs_code', true)) c}), 1,
	'the promoted standby goes on');

my $restored = PostgreSQL::Test::Cluster->new('restored');
$restored->init_from_backup($primary, 'later');
$restored->start;
is(answers($restored), $before, 'answers from a base backup');
is($restored->safe_psql('postgres', q{SELECT orphans >= 0 FROM simhash_index_check('docs_fp', true)}), 't', 'check of a base backup');
$primary->safe_psql('postgres', 'CREATE DATABASE copy');
PostgreSQL::Test::Utils::system_or_bail('sh', '-c', sprintf(q{pg_dump '%s' | psql -q -X -v ON_ERROR_STOP=1 -d '%s' >/dev/null}, $primary->connstr('postgres'), $primary->connstr('copy')));
is($primary->safe_psql('copy', q{SELECT rows = (SELECT count(*) FROM docs), orphans FROM simhash_index_check('docs_fp', true)}), 't|0', 'dump and restore');
my $logs = PostgreSQL::Test::Utils::slurp_file($standby->logfile);
unlike($logs, qr/inconsistent page found|PANIC/, 'every replayed page equals the primary\'s');
note("measured: $rounds rounds, $compared answers compared with the primary's, $reads transactions on the standby under replay");
$_->stop for $restored, $standby, $primary;
done_testing();
