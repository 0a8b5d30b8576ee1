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

my $node = start_node('parallel_build', conf => "max_parallel_maintenance_workers = 2\nmaintenance_work_mem = 128MB\nlog_temp_files = 0\nmax_prepared_transactions = 1\n");
my $rows = 400_000;
# Leader and workers stop at pause points: so it is certain who does what, however late a worker starts.
use_library($node, testing_library());
$node->safe_psql('postgres', q{
	CREATE FUNCTION workers_wait(event text) RETURNS boolean LANGUAGE sql AS
		$$ SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND wait_event = event) $$;
	CREATE FUNCTION workers_are_gone() RETURNS boolean LANGUAGE sql AS
		$$ SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'parallel worker') $$;
	CREATE TABLE progress (step serial, done bigint, total bigint);
	CREATE FUNCTION look_at_progress() RETURNS boolean LANGUAGE sql AS
		$$ INSERT INTO progress (done, total) SELECT tuples_done, tuples_total FROM pg_stat_progress_create_index; SELECT true $$;
	CREATE FUNCTION builder_waits(event text) RETURNS boolean LANGUAGE sql AS
		$$ SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND wait_event = event) $$});

# Runs a statement with the build's messages, and returns them and the error, if any.
sub build_messages
{
	my ($sql, $settings) = @_;
	my (undef, undef, $messages) = $node->psql('postgres', ($settings // '') . "; SET client_min_messages = debug1; $sql");
	return $messages;
}

# The same with pause points {point => number of its lock}, beside a session that runs $script (start_conductor).
sub conducted_messages
{
	my ($points, $script, $sql, $settings) = @_;
	my ($prepare, $finish) = start_conductor($node, [ sort values %$points ], $script);
	my $list = join(',', map { "$_/$points->{$_}" } sort keys %$points);
	my $messages = build_messages($sql, "$prepare SET simhash_test.pause_at = '$list'; " . ($settings // ''));
	is($finish->(), '', ($sql =~ s/.*;\s*(?=CREATE)//sr) . ': leader and workers do what the test waits for');
	return $messages;
}

# What is wrong with the progress that was seen last: steps that went back, or an end before the total.
sub faults_of_progress
{
	return $node->safe_psql('postgres', q{
		SELECT * FROM (SELECT *, lag(done) OVER w AS before, lead(step) OVER w IS NULL AS is_last FROM progress WINDOW w AS (ORDER BY step)) s
		WHERE done < before OR total = 0 OR is_last AND done <> total});
}

# How many rows leader and workers read, and how many key ranges they wrote: (leader, workers, leader, workers).
sub shares
{
	my ($messages) = @_;
	my ($read) = $messages =~ /participant 0 read (\d+) rows/;
	my ($written) = $messages =~ /participant 0 wrote (\d+) key ranges/;
	my ($workers_read, $workers_wrote) = (0, 0);
	$workers_read += $1 while $messages =~ /participant [1-9]\d* read (\d+) rows/g;
	$workers_wrote += $1 while $messages =~ /participant [1-9]\d* wrote (\d+) key ranges/g;
	return ($read // 0, $workers_read, $written // 0, $workers_wrote);
}

my %points = ('build-leader-reads' => 1, 'build-leader-writes' => 2, 'build-worker' => 3, 'build-worker-writes' => 4, 'build-upper-levels' => 5);

# Builds so that leader and workers both read rows and both write key ranges.
sub build_with_workers
{
	my ($create, $settings) = @_;
	my $messages = conducted_messages(\%points, q{
		CALL wait_until('waits_at(1)');                             -- the leader has a share of the rows;
		SELECT go(3);
		CALL wait_until($$workers_wait('ParallelCreateIndexScan')$$);  -- workers have all others;
		SELECT go(1);
		CALL wait_until('waits_at(2)');                             -- the leader has written a key range,
		TRUNCATE progress;
		SELECT go(4);
		CALL wait_until('look_at_progress() AND workers_are_gone()');  -- and workers all others.
		SELECT go(2);
		CALL wait_until('waits_at(5)');
		SELECT look_at_progress(), go(5);
	}, $create, $settings);
	is(faults_of_progress(), '', "$create: its progress never goes back, and reaches the total");
	unlike($messages, qr/ERROR|WARNING/, "$create: no error");
	my ($read, $workers_read, $wrote, $workers_wrote) = shares($messages);
	cmp_ok($read, '>', 0, "$create: the leader read rows");
	cmp_ok($workers_read, '>', 0, "$create: workers read rows");
	cmp_ok($wrote, '>', 0, "$create: the leader wrote key ranges");
	cmp_ok($workers_wrote, '>', 0, "$create: workers wrote key ranges");
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
		$node->safe_psql('postgres', "DROP INDEX IF EXISTS ${kind}_fp");
		build_with_workers("CREATE INDEX ${kind}_fp ON $kind USING simhash (fp)", "SET maintenance_work_mem = '$memory'");
		is(checked("${kind}_fp"), $alone, "$kind, $memory: as many entries as one backend writes");
		cmp_ok($node->safe_psql('postgres', "SELECT pg_relation_size('${kind}_fp')"), '<=', 1.02 * $size, "$kind, $memory: about as large");
		is($node->safe_psql("postgres", "SELECT reltuples = (SELECT count(*) FROM $kind) FROM pg_class WHERE oid = '${kind}_fp'::regclass"), "t", "$kind, $memory: the server knows the rows of all participants");
	}
	my ($compared, $different) = compare_radii($node, $kind, 20, 0, 1, 3, 8);
	is($different, 0, "$kind: $compared queries find what brute force finds");
	(undef, $different) = compare_nearest($node, $kind, 5, 20);
	is($different, 0, "$kind: nearest");
}
no_temporary_files('builds');

# ---- the progress of one backend ----
for my $memory ('128MB', '1MB')
{
	$node->safe_psql('postgres', 'DROP INDEX repeated_fp; TRUNCATE progress');
	conducted_messages({ 'build-ends' => 5 }, q{CALL wait_until('waits_at(5)'); SELECT look_at_progress(), go(5);},
		'CREATE INDEX repeated_fp ON repeated USING simhash (fp)', "SET max_parallel_maintenance_workers = 0; SET maintenance_work_mem = '$memory'");
	is(faults_of_progress(), '', "one backend, $memory: the progress reaches the total");
}

# ---- workers that come late ----
$node->safe_psql('postgres', 'DROP INDEX clustered_fp');
my $create = 'CREATE INDEX clustered_fp ON clustered USING simhash (fp)';
my $messages = conducted_messages({ 'build-worker' => 3, 'build-leader-writes' => 2 }, q{
	CALL wait_until('waits_at(2)');
	CALL wait_until($$(SELECT phase = 'building index: writing tables' FROM pg_stat_progress_create_index)$$);
	CALL wait_until('waits_at(3)');
	SELECT go(3);
	CALL wait_until('workers_are_gone()');
	SELECT go(2);
}, $create);
my (undef, $late_read, undef, $late_wrote) = shares($messages);
is($late_read, 0, 'workers come when all rows are read');
cmp_ok($late_wrote, '>', 0, 'they write key ranges');
my $first = checked('clustered_fp');
$node->safe_psql('postgres', 'DROP INDEX clustered_fp');
$messages = conducted_messages({ 'build-worker' => 3 }, q{
	CALL wait_until($$builder_waits('ParallelFinish')$$);
	SELECT go(3);
}, $create);
is_deeply([ (shares($messages))[ 1, 3 ] ], [ 0, 0 ], 'workers come when all is written, and have nothing to do');
is(checked('clustered_fp'), $first, 'as many entries');

$node->safe_psql('postgres', 'DROP INDEX clustered_fp');
$messages = conducted_messages({ 'build-worker' => 3, 'build-cuts' => 1 }, q{
	CALL wait_until('waits_at(1)');
	SELECT go(3);
	CALL wait_until($$(SELECT count(*) = 3 FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND NOT granted)$$);
	SELECT go(1);
}, $create);
is((shares($messages))[1], 0, 'workers come while the trees are cut, and cut with the leader');
is(checked('clustered_fp'), $first, 'as many entries');

# ---- other indexes, other statements ----
build_with_workers('CREATE INDEX parts ON clustered USING simhash ((fp # 1), id) WITH (radius = 2, tables = 6, fillfactor = 70) WHERE id % 3 > 0');
is(checked('parts'), $node->safe_psql('postgres', 'SELECT count(*), 0, 0 FROM clustered WHERE id % 3 > 0') =~ s/\|.*//r . '|' . (checked('parts') =~ s/^\d+\|//r), 'expression, predicate and scope: every row');
$node->safe_psql('postgres', 'DROP INDEX parts');
build_with_workers('CREATE INDEX CONCURRENTLY again ON clustered USING simhash (fp)');
is(checked('again'), checked('clustered_fp'), 'CONCURRENTLY');
build_with_workers('REINDEX INDEX again');
is(checked('again'), checked('clustered_fp'), 'REINDEX');
build_with_workers('REINDEX INDEX CONCURRENTLY again');
is(checked('again'), checked('clustered_fp'), 'REINDEX CONCURRENTLY');
$node->safe_psql('postgres', 'DROP INDEX again');
$node->safe_psql('postgres', 'CREATE TABLE different WITH (parallel_workers = 2) AS SELECT DISTINCT fp FROM random');
build_with_workers('ALTER TABLE different ADD CONSTRAINT different_fp EXCLUDE USING simhash (fp WITH =)');
like(build_messages('INSERT INTO different SELECT * FROM different LIMIT 1'), qr/conflicting key value violates exclusion constraint/, 'a constraint');
# What participants added to the index and did not need is little, and is used before the index grows.
sub free_pages { return split /\|/, $node->safe_psql('postgres', "SELECT free_pages, pages FROM simhash_index_check('growing_fp')") }
$node->safe_psql('postgres', 'CREATE TABLE growing WITH (parallel_workers = 2) AS SELECT id, fp FROM random');
build_with_workers('CREATE INDEX growing_fp ON growing USING simhash (fp)');
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
# A worker reads the table's end. There a row got another fingerprint, on its page, after the oldest transaction began, which must not
# use the index.
$node->safe_psql('postgres', q{
	CREATE TABLE changed WITH (parallel_workers = 2, fillfactor = 90) AS SELECT id, fp FROM random;
	BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'oldest'});
$node->safe_psql('postgres', 'UPDATE changed SET fp = fp # 1 WHERE ctid = (SELECT max(ctid) FROM changed)');
build_with_workers('CREATE INDEX changed_fp ON changed USING simhash (fp)');
is($node->safe_psql('postgres', q{SELECT indcheckxmin FROM pg_index WHERE indexrelid = 'changed_fp'::regclass}), 't', 'an update that only a worker saw');
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'oldest'});
$node->safe_psql('postgres', 'DROP TABLE changed');
# A key range begins between two rows of one fingerprint.
$node->safe_psql('postgres', 'CREATE TABLE same WITH (parallel_workers = 2) AS SELECT i AS id, 42::bigint AS fp FROM generate_series(1, 300000) i');
like(build_messages('CREATE INDEX same_fp ON same USING simhash (fp)'), qr/\d of 2 workers/, 'one fingerprint: workers');
is(checked('same_fp'), '300000|1|0', 'one fingerprint: every row');
$node->safe_psql('postgres', 'DROP TABLE same');

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
# Each function fails, or waits, for one row of 20000 where it is in a worker, or in the leader.
$node->safe_psql('postgres', q{
	CREATE FUNCTION in_worker() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS
		'SELECT coalesce((SELECT leader_pid IS NOT NULL FROM pg_stat_activity WHERE pid = pg_backend_pid()), false)';
	CREATE FUNCTION fails(fp bigint, id integer, worker boolean) RETURNS bigint LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
	BEGIN
		IF id % 20000 = 0 AND public.in_worker() = worker THEN
			RAISE EXCEPTION 'row % fails', id;
		END IF;
		RETURN fp;
	END $$;
	CREATE FUNCTION waits(fp bigint, id integer) RETURNS bigint LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
	BEGIN
		IF id % 20000 = 0 AND public.in_worker() THEN
			PERFORM pg_sleep(3600);
		END IF;
		RETURN fp;
	END $$});
my $little = "SET maintenance_work_mem = '1MB'";
# The leader waits, with a share of the rows read, until the worker's error comes.
my $failed = conducted_messages({ 'build-leader-reads' => 1, 'build-worker' => 3 }, q{CALL wait_until('waits_at(1)'); SELECT go(3); CALL wait_until('NOT waits_at(1)');},
	'CREATE INDEX failed ON random USING simhash (fails(fp, id, true))', $little);
like($failed, qr/ERROR:  row \d+ fails/, 'an error in a worker');
like($failed, qr/(^|  )parallel worker$/m, 'it is the worker\'s');
no_temporary_files('an error in a worker');
# Workers wait until the leader's error ends them, and with it the session that has lock 5.
my (undef, $finish) = start_conductor($node, [], q{
	CALL wait_until('is_taken(5)');
	SELECT pg_advisory_lock(3);
	CALL wait_until('NOT is_taken(5)');
});
$failed = build_messages('CREATE INDEX failed ON random USING simhash (fails(fp, id, false))',
	"SELECT pg_advisory_lock(5); CALL wait_until('is_taken(3)'); SET simhash_test.pause_at = 'build-worker/3'; $little");
is($finish->(), '', 'workers waited');
like($failed, qr/ERROR:  row \d+ fails/, 'an error in the leader');
unlike($failed, qr/(^|  )parallel worker$/m, 'it is the leader\'s');
no_temporary_files('an error in the leader');
$failed = conducted_messages({ 'build-leader-reads' => 1 }, q{
	CALL wait_until($$waits_at(1) AND workers_wait('PgSleep')$$);
	SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND wait_event = 'PgSleep' LIMIT 1;
	CALL wait_until('NOT waits_at(1)');
}, 'CREATE INDEX failed ON random USING simhash (waits(fp, id))', $little);
like($failed, qr/ERROR:|terminating/, 'a worker that is ended ends the build');
no_temporary_files('a worker that was ended');

# The leader is cancelled at each step: [step, pause points, what brings it there].
my $cancel = q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND query LIKE 'CREATE INDEX failed%';};
for my $moment (
	[ 'when workers have not begun', { 'build-leader-reads' => 1, 'build-worker' => 3 }, q{CALL wait_until('waits_at(1) AND waits_at(3)');} ],
	[ 'when workers have read', { 'build-leader-reads' => 1, 'build-worker' => 3 },
		q{CALL wait_until('waits_at(1)'); SELECT go(3); CALL wait_until($$workers_wait('ParallelCreateIndexScan')$$);} ],
	[ 'while key ranges are cut', { 'build-cuts' => 1 }, q{CALL wait_until('waits_at(1)');} ],
	[ 'while key ranges are written', { 'build-leader-writes' => 1, 'build-worker-writes' => 4 }, q{CALL wait_until('waits_at(1) AND waits_at(4)');} ],
	[ 'when workers are gone', { 'build-upper-levels' => 1 }, q{CALL wait_until('waits_at(1) AND workers_are_gone()');} ])
{
	my ($when, $points, $script) = @$moment;
	$failed = conducted_messages($points, "$script $cancel CALL wait_until('NOT waits_at(1)');",
		'CREATE INDEX failed ON random USING simhash (fp) WITH (radius = 11, tables = 12)', $little);
	like($failed, qr/canceling statement due to user request/, "cancelled $when");
	no_temporary_files("cancelled $when");
}
# It has read its share, and waits for a worker that does not end.
$failed = conducted_messages({ 'build-leader-reads' => 1 }, qq{
	CALL wait_until(\$\$waits_at(1) AND workers_wait('PgSleep')\$\$);
	SELECT go(1);
	CALL wait_until(\$\$builder_waits('ParallelCreateIndexScan')\$\$);
	$cancel
	CALL wait_until(\$\$NOT builder_waits('ParallelCreateIndexScan')\$\$);
}, 'CREATE INDEX failed ON random USING simhash (waits(fp, id))', $little);
like($failed, qr/canceling statement due to user request/, 'the leader is cancelled while it waits');
no_temporary_files('cancelled while it waits');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname = 'failed'"), 0, 'no index is left behind');
ok($node->poll_query_until('postgres', 'SELECT workers_are_gone()'), 'no worker is left behind');

# ---- where temporary files are ----
for my $workers (0, 2)
{
	my $from = -s $node->logfile;
	$node->safe_psql('postgres', "SET allow_in_place_tablespaces = on;\nCREATE TABLESPACE files$workers LOCATION '';\nDROP INDEX IF EXISTS random_fp");
	my @build = ('CREATE INDEX random_fp ON random USING simhash (fp)', "SET temp_tablespaces = files$workers; $little; SET max_parallel_maintenance_workers = $workers");
	$workers ? build_with_workers(@build) : build_messages(@build);
	my @paths = slurp_file($node->logfile, $from) =~ /temporary file: path "([^"]*)"/g;
	cmp_ok(scalar(@paths), '>', 0, "$workers workers: there are temporary files");
	is_deeply([ grep { !/pg_tblspc/ } @paths ], [], "$workers workers: they are where temp_tablespaces says");
}

# ---- crashes ----
$node->safe_psql('postgres', 'DROP INDEX random_fp');
build_with_workers('CREATE INDEX random_fp ON random USING simhash (fp)');
my $before = checked('random_fp');
$node->stop('immediate');
$node->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0\n");
$node->start;
is(checked('random_fp'), $before, 'after a crash');
build_with_workers('BEGIN; CREATE TABLE unlogged WITH (parallel_workers = 2) AS SELECT * FROM random; CREATE INDEX unlogged_fp ON unlogged USING simhash (fp); COMMIT');
$node->stop('immediate');
$node->start;
is(checked('unlogged_fp'), $before, 'with wal_level = minimal, after a crash');
$node->stop;
done_testing();
