# CREATE INDEX with workers: what it builds equals what one backend builds, and brute force finds the same. When workers are used and
# when not; errors, cancellations and crashes; what is left behind.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;
use Time::HiRes qw(usleep);

my $node = start_node('parallel_build', conf => "max_parallel_maintenance_workers = 2\nmaintenance_work_mem = 128MB\nlog_temp_files = 0\n");
my $rows = 400_000;

# Runs a statement with the build's messages, and returns them and the error, if any.
sub build_messages
{
	my ($sql, $settings) = @_;
	my (undef, undef, $messages) = $node->psql('postgres', ($settings // '') . "; SET client_min_messages = debug1; $sql");
	return $messages;
}

# How many rows workers read, and how many key ranges they wrote; nothing where none was asked for.
sub work_of_workers
{
	my ($messages) = @_;
	return unless $messages =~ /simhash build: \d+ of \d+ workers/;
	my ($read, $written) = (0, 0);
	$read += $1 while $messages =~ /participant [1-9]\d* read (\d+) rows/g;
	$written += $1 while $messages =~ /participant [1-9]\d* wrote (\d+) key ranges/g;
	return ($read, $written);
}

# Builds until workers have done a part of all that there is: on a busy machine they may come when all is done.
sub build_with_workers
{
	my ($drop, $create, $settings) = @_;
	my ($read, $written) = (0, 0);
	for my $try (1 .. 20)
	{
		$node->safe_psql('postgres', $drop) if $drop;
		my $messages = build_messages($create, $settings);
		unlike($messages, qr/ERROR|WARNING/, "$create: no error") or last;
		($read, $written) = work_of_workers($messages) or last;
		last if $read && $written;
	}
	cmp_ok($read, '>', 0, "$create: workers read rows");
	cmp_ok($written, '>', 0, "$create: workers wrote key ranges");
	return;
}

sub checked
{
	my ($index) = @_;
	return $node->safe_psql('postgres', "SELECT rows, fingerprints, orphans FROM simhash_index_check('$index', true)");
}

sub no_temporary_files
{
	my ($what) = @_;
	my @files;
	# Workers that were ended may take a moment.
	for (1 .. 100)
	{
		@files = glob($node->data_dir . '/base/pgsql_tmp/*');
		last unless @files;
		usleep(50_000);
	}
	is("@files", '', "$what: no temporary file is left");
	return;
}

# ---- the same index ----
for my $kind (qw(random clustered repeated))
{
	create_data($node, $kind, $kind, $rows);
	$node->safe_psql('postgres', "INSERT INTO $kind SELECT i, NULL FROM generate_series(1, 20000) i; ALTER TABLE $kind SET (parallel_workers = 2); VACUUM ANALYZE $kind");
	unlike(build_messages("CREATE INDEX ${kind}_alone ON $kind USING simhash (fp)", 'SET max_parallel_maintenance_workers = 0'), qr/workers$/m, "$kind: no workers");
	my $alone = checked("${kind}_alone");
	my $size = $node->safe_psql('postgres', "SELECT pg_relation_size('${kind}_alone')");
	$node->safe_psql('postgres', "DROP INDEX ${kind}_alone");
	# With little memory there are many runs to be merged.
	for my $memory ('128MB', '1MB')
	{
		build_with_workers("DROP INDEX IF EXISTS ${kind}_fp", "CREATE INDEX ${kind}_fp ON $kind USING simhash (fp)", "SET maintenance_work_mem = '$memory'");
		is(checked("${kind}_fp"), $alone, "$kind, $memory: as many entries as one backend writes");
		cmp_ok($node->safe_psql('postgres', "SELECT pg_relation_size('${kind}_fp')"), '<=', 1.02 * $size, "$kind, $memory: about as large");
	}
	my ($compared, $different) = compare_radii($node, $kind, 20, 0, 1, 3, 8);
	is($different, 0, "$kind: $compared queries find what brute force finds");
	(undef, $different) = compare_nearest($node, $kind, 5, 20);
	is($different, 0, "$kind: nearest");
}
no_temporary_files('builds');

# ---- other indexes, other statements ----
build_with_workers('DROP INDEX IF EXISTS parts', 'CREATE INDEX parts ON clustered USING simhash ((fp # 1), id) WITH (radius = 2, tables = 6, fillfactor = 70) WHERE id % 3 > 0');
is(checked('parts'), $node->safe_psql('postgres', 'SELECT count(*), 0, 0 FROM clustered WHERE id % 3 > 0') =~ s/\|.*//r . '|' . (checked('parts') =~ s/^\d+\|//r), 'expression, predicate and scope: every row');
$node->safe_psql('postgres', 'DROP INDEX parts');
build_with_workers('DROP INDEX IF EXISTS again', 'CREATE INDEX CONCURRENTLY again ON clustered USING simhash (fp)');
is(checked('again'), checked('clustered_fp'), 'CONCURRENTLY');
build_with_workers('', 'REINDEX INDEX again');
is(checked('again'), checked('clustered_fp'), 'REINDEX');
build_with_workers('', 'REINDEX INDEX CONCURRENTLY again');
is(checked('again'), checked('clustered_fp'), 'REINDEX CONCURRENTLY');
$node->safe_psql('postgres', 'DROP INDEX again');
$node->safe_psql('postgres', 'CREATE TABLE different WITH (parallel_workers = 2) AS SELECT DISTINCT fp FROM random');
build_with_workers('ALTER TABLE different DROP CONSTRAINT IF EXISTS different_fp', 'ALTER TABLE different ADD CONSTRAINT different_fp EXCLUDE USING simhash (fp WITH =)');
like(build_messages('INSERT INTO different SELECT * FROM different LIMIT 1'), qr/conflicting key value violates exclusion constraint/, 'a constraint');
# What participants added to the index and did not need is little, and is used before the index grows.
sub free_pages { return split /\|/, $node->safe_psql('postgres', "SELECT free_pages, pages FROM simhash_index_check('growing_fp')") }
$node->safe_psql('postgres', 'CREATE TABLE growing WITH (parallel_workers = 2) AS SELECT id, fp FROM random');
build_with_workers('DROP INDEX IF EXISTS growing_fp', 'CREATE INDEX growing_fp ON growing USING simhash (fp)');
my ($free, $pages) = free_pages();
cmp_ok($free, '<=', $pages / 64 + 3, "pages that are left over: $free beside $pages");
$node->safe_psql('postgres', 'INSERT INTO growing SELECT id, fp # 4711 FROM random LIMIT 100000');
($free, my $grown) = free_pages();
is($free, 0, 'they are used');
cmp_ok($grown, '>', $pages, 'before the index grows');
$node->safe_psql('postgres', 'DROP TABLE growing');
for my $rows (0, 1, 2000)
{
	my $messages = build_messages("CREATE TABLE few WITH (parallel_workers = 2) AS SELECT * FROM clustered LIMIT $rows; CREATE INDEX few_fp ON few USING simhash (fp)");
	# Of an empty table it depends on the server.
	like($messages, qr/\d of 2 workers/, "$rows rows: workers") if $rows;
	like(checked('few_fp'), qr/^$rows\|/, "$rows rows");
	$node->safe_psql('postgres', 'DROP TABLE few');
}

# ---- without workers ----
$node->safe_psql('postgres', q{
	CREATE FUNCTION unsafe(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED AS 'BEGIN RETURN $1; END';
	CREATE FUNCTION unsafe_hash(text, bigint) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT PARALLEL UNSAFE AS 'hashtextextended';
	CREATE OPERATOR CLASS unsafe_text FOR TYPE text USING simhash AS OPERATOR 2 =, FUNCTION 1 unsafe_hash(text, bigint);
	CREATE TABLE small WITH (parallel_workers = 2) AS SELECT id, fp, id::text AS words FROM random LIMIT 20000});
for my $columns ('(unsafe(fp))', '(fp) WHERE unsafe(fp) > 0', '(fp, words unsafe_text)')
{
	my $messages = build_messages("CREATE INDEX small_fp ON small USING simhash $columns");
	unlike($messages, qr/ERROR|of \d workers/, "$columns: not parallel safe, no workers");
	checked('small_fp');
	$node->safe_psql('postgres', 'DROP INDEX small_fp');
}
unlike(build_messages('CREATE TEMP TABLE brief WITH (parallel_workers = 2) AS SELECT * FROM small; CREATE INDEX ON brief USING simhash (fp)'),
	qr/ERROR|of \d workers/, 'a temporary table: no workers');
like(build_messages('CREATE INDEX small_fp ON small USING simhash (fp)', 'SET max_parallel_workers = 0'), qr/0 of 2 workers/, 'no worker can be had');
like(checked('small_fp'), qr/^20000\|/, 'no worker can be had: the leader does it all');

# ---- errors ----
# Each function fails, or waits, for row 300000 where one is in a worker, or in the leader.
$node->safe_psql('postgres', q{
	CREATE FUNCTION in_worker() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS
		'SELECT coalesce((SELECT leader_pid IS NOT NULL FROM pg_stat_activity WHERE pid = pg_backend_pid()), false)';
	CREATE FUNCTION fails(fp bigint, id integer, worker boolean) RETURNS bigint LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
	BEGIN
		IF id % 1000 = 0 AND public.in_worker() = worker THEN
			RAISE EXCEPTION 'row % fails', id;
		ELSIF id % 1000 = 0 THEN
			PERFORM pg_sleep(0.1);
		END IF;
		RETURN fp;
	END $$;
	CREATE FUNCTION waits(fp bigint, id integer) RETURNS bigint LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
	BEGIN
		IF id % 1000 = 0 THEN
			PERFORM pg_sleep(CASE WHEN public.in_worker() THEN 60 ELSE 0.01 END);
		END IF;
		RETURN fp;
	END $$});
for my $worker ('true', 'false')
{
	my $messages = build_messages("CREATE INDEX failed ON random USING simhash (fails(fp, id, $worker))", "SET maintenance_work_mem = '1MB'");
	like($messages, qr/ERROR:  row \d+ fails/, "an error where in_worker() is $worker");
	$worker eq 'true' ? like($messages, qr/(^|  )parallel worker$/m, 'it is the worker\'s') : unlike($messages, qr/(^|  )parallel worker$/m, 'it is the leader\'s');
	no_temporary_files('an error');
}
my $builder = IPC::Run::start([ 'psql', '-X', '-d', $node->connstr('postgres'), '-c', 'CREATE INDEX failed ON random USING simhash (waits(fp, id))' ], '>', \my $output, '2>', \my $errors);
my $workers = q{FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND wait_event = 'PgSleep'};
ok($node->poll_query_until('postgres', "SELECT count(*) > 0 $workers"), 'a worker waits');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $workers LIMIT 1");
IPC::Run::finish($builder);
like($errors, qr/ERROR:|terminating/, 'a worker that is ended ends the build');
no_temporary_files('a worker that was ended');
$builder = IPC::Run::start([ 'psql', '-X', '-d', $node->connstr('postgres'), '-c', 'CREATE INDEX failed ON random USING simhash (waits(fp, id))' ], '>', \$output, '2>', \$errors);
ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'ParallelCreateIndexScan'}), 'the leader waits for workers');
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'ParallelCreateIndexScan' AND backend_type = 'client backend'});
IPC::Run::finish($builder);
like($errors, qr/canceling statement due to user request/, 'the leader is cancelled while it waits');
my $cancelled = 0;
for my $moment (30, 60, 100, 150, 200, 300, 400, 600)
{
	my $messages = build_messages("CREATE INDEX failed ON random USING simhash (fp) WITH (tables = 12)", "SET maintenance_work_mem = '1MB'; SET statement_timeout = $moment");
	$cancelled++ if $messages =~ /canceling statement due to statement timeout/;
	$node->safe_psql('postgres', 'DROP INDEX IF EXISTS failed');
}
cmp_ok($cancelled, '>', 2, 'cancelled at several moments');
no_temporary_files('cancelled');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname = 'failed'"), 0, 'no index is left behind');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker'}), 'no worker is left behind');

# ---- where temporary files are ----
for my $workers (0, 2)
{
	my $from = -s $node->logfile;
	$node->safe_psql('postgres', "SET allow_in_place_tablespaces = on;\nCREATE TABLESPACE files$workers LOCATION '';\nDROP INDEX IF EXISTS random_fp");
	build_messages('CREATE INDEX random_fp ON random USING simhash (fp)', "SET temp_tablespaces = files$workers; SET maintenance_work_mem = '1MB'; SET max_parallel_maintenance_workers = $workers");
	my @paths = slurp_file($node->logfile, $from) =~ /temporary file: path "([^"]*)"/g;
	cmp_ok(scalar(@paths), '>', 0, "$workers workers: there are temporary files");
	is_deeply([ grep { !/pg_tblspc/ } @paths ], [], "$workers workers: they are where temp_tablespaces says");
}

# ---- crashes ----
build_with_workers('DROP INDEX IF EXISTS random_fp', 'CREATE INDEX random_fp ON random USING simhash (fp)');
my $before = checked('random_fp');
$node->stop('immediate');
$node->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0\n");
$node->start;
is(checked('random_fp'), $before, 'after a crash');
build_with_workers('DROP TABLE IF EXISTS unlogged', 'BEGIN; CREATE TABLE unlogged WITH (parallel_workers = 2) AS SELECT * FROM random; CREATE INDEX unlogged_fp ON unlogged USING simhash (fp); COMMIT');
$node->stop('immediate');
$node->start;
is(checked('unlogged_fp'), $before, 'with wal_level = minimal, after a crash');
$node->stop;
done_testing();
