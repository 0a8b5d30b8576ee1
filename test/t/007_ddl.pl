# What an administrator does to tables and indexes: the index is right after each.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = start_node('ddl');
create_data($node, 'docs', 'clustered', 20_000);

sub right
{
	my ($table, $what) = @_;
	my ($compared, $wrong) = compare_radii($node, $table, 20, 0, 3, 7);
	is($wrong, 0, "$what: right");
	my $indexes = $node->safe_psql('postgres', "SELECT indexrelid::regclass FROM pg_index i JOIN pg_class c ON c.oid = indexrelid
		JOIN pg_am a ON a.oid = relam WHERE amname = 'simhash' AND indrelid = '$table'::regclass");
	for my $index (split /\n/, $indexes)
	{
		my ($status, $output, $errors) = $node->psql('postgres', "SELECT FROM simhash_index_check('$index', true)");
		is($errors, '', "$what: checks");
	}
	return;
}

$node->safe_psql('postgres', 'CREATE INDEX CONCURRENTLY docs_fp ON docs USING simhash (fp)');
right('docs', 'CREATE INDEX CONCURRENTLY');
$node->safe_psql('postgres', 'DELETE FROM docs WHERE id % 4 = 0');
$node->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY docs_fp');
right('docs', 'REINDEX CONCURRENTLY');
$node->safe_psql('postgres', 'VACUUM FULL docs');
right('docs', 'VACUUM FULL');
$node->safe_psql('postgres', 'CREATE INDEX docs_id ON docs (id); CLUSTER docs USING docs_id');
right('docs', 'CLUSTER');
my $folder = PostgreSQL::Test::Utils::tempdir;
$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$folder'");
$node->safe_psql('postgres', 'ALTER INDEX docs_fp SET TABLESPACE elsewhere');
right('docs', 'SET TABLESPACE');
$node->safe_psql('postgres', 'ALTER TABLE docs ADD COLUMN more int DEFAULT 3; ALTER TABLE docs ALTER more TYPE bigint');
right('docs', 'a rewritten table');
$node->safe_psql('postgres', "BEGIN; TRUNCATE docs; INSERT INTO docs VALUES (1, 1); ROLLBACK");
right('docs', 'a TRUNCATE rolled back');
$node->safe_psql('postgres', 'TRUNCATE docs; INSERT INTO docs SELECT i, i FROM generate_series(1, 5000) i');
right('docs', 'TRUNCATE');
$node->safe_psql('postgres', 'ALTER INDEX docs_fp SET (fillfactor = 60, radius = 2); REINDEX INDEX docs_fp');
right('docs', 'options changed');

# Unlogged: empty after a crash, and then usable.
$node->safe_psql('postgres', 'CREATE UNLOGGED TABLE quick (id integer, fp bigint); CREATE INDEX ON quick USING simhash (fp);
	INSERT INTO quick SELECT i, i FROM generate_series(1, 3000) i');
right('quick', 'unlogged');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', 'SELECT count(*) FROM quick'), 0, 'unlogged: empty after a crash');
$node->safe_psql('postgres', 'INSERT INTO quick SELECT i, i * 77 FROM generate_series(1, 3000) i');
right('quick', 'unlogged, after a crash');
$node->safe_psql('postgres', 'ALTER TABLE quick SET LOGGED');
right('quick', 'set logged');
is($node->safe_psql('postgres', q{CREATE TEMP TABLE t (fp bigint); CREATE INDEX ON t USING simhash (fp);
	INSERT INTO t SELECT generate_series(1, 2000); SET enable_seqscan = off; DELETE FROM t WHERE fp > 1000;
	SELECT count(*) FROM t WHERE fp <~> 0 <= 64}), 1000, 'temporary table');

# Built with less memory than the data: sorted runs on disk.
create_data($node, 'large', 'random', 300_000);
$node->safe_psql('postgres', "SET maintenance_work_mem = '1MB'; SET log_temp_files = 0; CREATE INDEX large_fp ON large USING simhash (fp)");
right('large', 'built with 1 MB of memory');

# Cancelled in the middle: quickly, and nothing remains.
for my $statement ('CREATE INDEX cancelled ON large USING simhash (fp) WITH (tables = 20)',
	'SET enable_seqscan = off; SELECT count(*) FROM large a JOIN large b ON a.fp <~> b.fp <= 12')
{
	my ($status, $output, $errors) = $node->psql('postgres', "SET statement_timeout = 150; $statement");
	like($errors, qr/canceling statement due to statement timeout/, 'cancelled');
}
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname = 'cancelled'"), 0, 'no index is left behind');
right('large', 'after cancellation');

# pg_stat_progress_create_index names the phases.
my $phases = '';
my $build = IPC::Run::start([ 'psql', '-X', '-c', 'CREATE INDEX slow ON large USING simhash (fp) WITH (tables = 64)', $node->connstr('postgres') ]);
for (1 .. 400)
{
	$phases .= $node->safe_psql('postgres', 'SELECT phase, blocks_total > 0 FROM pg_stat_progress_create_index') . "\n";
	last if $phases =~ /writing block tables/;
}
IPC::Run::finish($build);
like($phases, qr/building index: (scanning table|writing (posting|block) tables?)/, 'phases of the build are shown');
$node->stop;
done_testing();
