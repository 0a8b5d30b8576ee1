# What a database does to an index beside queries: built concurrently and anew under load, rewritten with its table, unlogged, temporary,
# moved, cancelled, watched.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = start_node('operations', conf => "log_statement = none\n");

# The index holds every row and answers as brute force.
sub sound
{
	my ($what, $table) = @_;
	$table //= 'docs';
	my ($code, $found, $message) = $node->psql('postgres', "SELECT rows = (SELECT count(*) FROM $table), orphans FROM simhash_index_check('${table}_fp', true)");
	is("$code $found", '0 t|0', "$what: check") or diag($message);
	my ($compared, $wrong) = compare_radii($node, $table, 20, 0, 3, 5, 7);
	is($wrong, 0, "$what: $compared queries");
	return;
}

# ---- under load ----
create_data($node, 'docs', 'clustered', 20_000);
add_codes($node, 'docs');
$node->safe_psql('postgres', 'DROP INDEX docs_code; CREATE INDEX ON docs (id)');
my $dir = PostgreSQL::Test::Utils::tempdir;
PostgreSQL::Test::Utils::append_to_file("$dir/write.sql", <<'SQL');
\set i random(1, 1000000000)
\set old random(1, 20000)
INSERT INTO docs SELECT 100000 + :i + j, ('x' || md5((:i + j)::text))::bit(64)::bigint FROM generate_series(1, 5) j;
INSERT INTO docs VALUES (:i, 42), (:i, NULL);
UPDATE docs SET fp = fp # 6 WHERE id = :old;
UPDATE docs SET id = id WHERE id = :old + 1;
DELETE FROM docs WHERE id = :old + 2;
SQL
my $output = '';
my $load = IPC::Run::start([ 'pgbench', '-n', '-c', 3, '-T', 8, '-f', "$dir/write.sql", $node->connstr('postgres') ], '>&', \$output);
# Every index holds all rows.
sub checked
{
	my ($what) = @_;
	for my $index ('docs_fp', 'docs_code')
	{
		my ($code, undef, $message) = $node->psql('postgres', "SELECT simhash_index_check('$index', true)");
		is($code, 0, "$what: check of $index") or diag($message);
	}
	return;
}
$node->safe_psql('postgres', "CREATE INDEX CONCURRENTLY docs_$_ ON docs USING simhash ($_)") for 'fp', 'code';
checked('CREATE INDEX CONCURRENTLY under load');
for my $round (1 .. 3)
{
	$node->safe_psql('postgres', "REINDEX INDEX CONCURRENTLY $_") for 'docs_fp', 'docs_code';
	checked("REINDEX CONCURRENTLY under load, round $round");
	$node->safe_psql('postgres', 'VACUUM docs');
	checked("VACUUM under load, round $round");
}
IPC::Run::finish($load);
unlike($output, qr/ERROR/, 'no error under load') or diag($output);
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) docs');
sound('after load');

# ---- without load ----
$node->safe_psql('postgres', 'DROP INDEX docs_fp; CREATE INDEX CONCURRENTLY docs_fp ON docs USING simhash (fp)');
sound('CREATE INDEX CONCURRENTLY');
$node->safe_psql('postgres', 'DELETE FROM docs WHERE id % 4 = 0; REINDEX INDEX CONCURRENTLY docs_fp');
sound('REINDEX CONCURRENTLY');

# ---- rewritten with the table ----
$node->safe_psql('postgres', 'VACUUM FULL docs');
sound('VACUUM FULL');
$node->safe_psql('postgres', 'CLUSTER docs USING docs_id_idx');
sound('CLUSTER');
mkdir "$dir/space";
$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$dir/space'");
$node->safe_psql('postgres', 'ALTER INDEX docs_fp SET TABLESPACE elsewhere');
sound('SET TABLESPACE');
my $rows_before = $node->safe_psql('postgres', 'SELECT count(*) FROM docs');
$node->safe_psql('postgres', 'BEGIN; TRUNCATE docs; INSERT INTO docs VALUES (1, 1); ROLLBACK');
is($node->safe_psql('postgres', 'SELECT count(*) FROM docs'), $rows_before, 'rows after TRUNCATE was rolled back');
sound('TRUNCATE, rolled back');
$node->safe_psql('postgres', 'CREATE TABLE kept AS SELECT id, fp FROM docs; TRUNCATE docs; INSERT INTO docs SELECT * FROM kept');
sound('TRUNCATE and filled again');
checked('TRUNCATE and filled again');
$node->safe_psql('postgres', 'ALTER TABLE docs ADD COLUMN more integer DEFAULT random() * 10; ALTER TABLE docs DROP COLUMN more');
sound('a column more and less');
$node->safe_psql('postgres', 'ALTER TABLE docs ADD COLUMN more integer DEFAULT 3; ALTER TABLE docs ALTER more TYPE bigint; ALTER TABLE docs DROP COLUMN more');
sound('a column of another type');
$node->safe_psql('postgres', 'ALTER INDEX docs_fp SET (fillfactor = 60, radius = 2); REINDEX INDEX docs_fp');
sound('other options');
is($node->safe_psql('postgres', q{SELECT radius FROM simhash_index_info('docs_fp') WHERE contents = 'index'}), 2, 'the options of the build');

# ---- unlogged and temporary ----
$node->safe_psql('postgres', 'CREATE UNLOGGED TABLE fleeting AS SELECT * FROM kept; CREATE INDEX fleeting_fp ON fleeting USING simhash (fp)');
$node->safe_psql('postgres', 'INSERT INTO fleeting SELECT * FROM kept LIMIT 1000');
sound('unlogged', 'fleeting');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', q{SELECT rows, (SELECT count(*) FROM fleeting) FROM simhash_index_check('fleeting_fp', true)}), '0|0', 'unlogged: empty after a crash');
$node->safe_psql('postgres', 'INSERT INTO fleeting SELECT * FROM kept');
sound('unlogged, used again', 'fleeting');
$node->safe_psql('postgres', 'ALTER TABLE fleeting SET LOGGED');
$node->stop('immediate');
$node->start;
sound('logged from now on', 'fleeting');
sound('after two crashes');
is($node->safe_psql('postgres', q{
	CREATE TEMP TABLE brief AS SELECT * FROM kept;
	CREATE INDEX brief_fp ON brief USING simhash (fp);
	INSERT INTO brief SELECT * FROM kept;
	DELETE FROM brief WHERE id % 2 = 0;
	VACUUM brief;
	INSERT INTO brief SELECT * FROM kept;
	SET enable_seqscan = off;
	SELECT rows = (SELECT count(*) FROM brief), orphans, (SELECT count(*) FROM brief WHERE fp <~> 0 <= 64) = (SELECT count(fp) FROM brief)
	FROM simhash_index_check('brief_fp', true)}), 't|0|t', 'temporary');

# ---- built with less memory than the data: sorted runs on disk ----
create_data($node, 'random', 'random', 300_000);
$node->safe_psql('postgres', "SET maintenance_work_mem = '1MB'; CREATE INDEX random_fp ON random USING simhash (fp)");
sound('built with 1 MB of memory', 'random');

# ---- cancelled ----
# Either takes many times as long as its timeout, also on a quick machine.
for my $statement ('CREATE INDEX cancelled ON random USING simhash (fp) WITH (radius = 19, tables = 20)',
	'SET enable_seqscan = off; SELECT count(*) FROM random a JOIN random b ON a.fp <~> b.fp <= 12')
{
	my (undef, undef, $errors) = $node->psql('postgres', "SET statement_timeout = 20; $statement");
	like($errors, qr/canceling statement due to statement timeout/, 'timed out');
}
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname = 'cancelled'"), 0, 'no index is left behind');
sound('after a cancelled join', 'random');
# Each is cancelled at several moments, given as the processor time, ms, that it has taken by then. What counts is the processor time from the
# request to the statement's end: other work on the machine makes neither longer. The victim begins when the session that cancels it is
# there, and its next statement says when it has ended.
create_processor_clock($node);
$node->safe_psql('postgres', q{
	-- Of the session, and of the workers that are there.
	CREATE FUNCTION all_processor_ms(victim integer) RETURNS numeric LANGUAGE sql AS
		$$ SELECT sum(processor_ms(pid)) FROM pg_stat_activity WHERE victim IN (pid, leader_pid) $$;
	CREATE FUNCTION is_running(victim integer) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM pg_stat_clear_snapshot();
		RETURN EXISTS (SELECT FROM pg_stat_activity WHERE pid = victim AND query <> 'SELECT pg_sleep(3600)');
	END $$;
	CREATE FUNCTION cancel_after(moment integer) RETURNS numeric LANGUAGE plpgsql AS $$
	DECLARE
		victim integer;
		begun numeric;
		last numeric;
		taken numeric := 0;
	BEGIN
		WHILE victim IS NULL LOOP
			PERFORM pg_sleep(0.001), pg_stat_clear_snapshot();
			SELECT pid INTO victim FROM pg_stat_activity
				WHERE application_name = 'victim' AND backend_type = 'client backend' AND state = 'active' AND query !~ '^(SET \w+ = \w+$|DO )';
		END LOOP;
		begun := processor_ms(victim);
		WHILE is_running(victim) AND all_processor_ms(victim) < begun + moment LOOP
			PERFORM pg_sleep(0.001);
		END LOOP;
		last := all_processor_ms(victim);
		PERFORM pg_cancel_backend(victim) WHERE is_running(victim);
		WHILE is_running(victim) LOOP
			PERFORM pg_sleep(0.001);
			-- Workers that have gone take their time with them.
			begun := all_processor_ms(victim);
			taken := taken + greatest(begun - last, 0);
			last := begun;
		END LOOP;
		PERFORM pg_terminate_backend(victim);
		RETURN round(taken + greatest(all_processor_ms(victim) - last, 0));
	END $$});
$node->safe_psql('postgres', q{CREATE TABLE large AS SELECT i AS id, ('x' || md5(i::text))::bit(64)::bigint AS fp FROM generate_series(1, 1000000) i});

sub cancel_times
{
	my ($sql, @moments) = @_;
	my $worst = 0;
	my $cancelled = 0;
	my $await = q{DO $$ BEGIN
		WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE state = 'active' AND query ~ '^SELECT cancel_after') LOOP
			PERFORM pg_sleep(0.001), pg_stat_clear_snapshot();
		END LOOP;
	END $$};
	for my $moment (@moments)
	{
		my $errors = '';
		my $run = IPC::Run::start([ 'psql', '-X', '-q', '-d', $node->connstr('postgres') . " application_name=victim", '-c', 'SET enable_seqscan = off', '-c', 'SET enable_bitmapscan = off', '-c', 'SET maintenance_work_mem = 16384', '-c', $await, '-c', $sql, '-c', 'SELECT pg_sleep(3600)' ], '>', '/dev/null', '2>', \$errors);
		my $took = $node->safe_psql('postgres', "SET statement_timeout = '5min'; SELECT cancel_after($moment)");
		IPC::Run::finish($run);
		# What is terminated is the next statement, so it was this one that was cancelled.
		next unless $errors =~ /canceling statement due to user request/ && $errors =~ /terminating connection/;
		$cancelled++;
		$worst = $took if $took > $worst;
	}
	return ($cancelled, $worst);
}

my %cancelled;
sub cancels
{
	my ($what, $sql, @moments) = @_;
	my ($cancelled, $worst) = cancel_times($sql, @moments);
	cmp_ok($cancelled, '>', 0, "$what was cancelled");
	$cancelled{$what} = $worst;
	# The promise is 100 ms; a server with assertions, or a slow machine, takes more.
	cmp_ok($worst, '<=', 300, "$what: cancelled soon");
	return;
}
cancels('build', 'CREATE INDEX large_fp ON large USING simhash (fp)', 50, 200, 400, 600, 800, 1000);
# A quick machine may have ended a build before it was cancelled.
$node->safe_psql('postgres', 'DROP INDEX IF EXISTS large_fp');
$node->safe_psql('postgres', 'CREATE INDEX large_fp ON large USING simhash (fp)');
# So that reading fingerprints, by the index alone, is a small part of what is cancelled.
$node->safe_psql('postgres', 'VACUUM large');
cancels('scan', 'SELECT count(id) FROM large WHERE fp <~> 0 <= 60', 50, 100, 200);
cancels('ordered scan', 'SELECT count(*) FROM (SELECT FROM large ORDER BY fp <~> 0) d', 50, 100, 200, 400);
for my $memory ('64MB', '1MB')    # with all in memory, and by files
{
	cancels("pairs with $memory", qq{SET work_mem = '$memory'; SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM large', 8)}, 50, 400, 1000);
	cancels("groups with $memory", qq{SET work_mem = '$memory'; SELECT count(*) FROM simhash_groups('SELECT id, fp FROM large', 8)}, 200, 1000);
	# The count is of clusters: the planner would leave out a column that nobody asks for.
	cancels("clusters with $memory", qq{SET work_mem = '$memory'; SELECT count(cluster) FROM (SELECT simhash_cluster(fp, 6) OVER () AS cluster FROM large) c}, 200, 1000);
	cancels("join with $memory", qq{SET work_mem = '$memory'; SELECT count(*) FROM simhash_join('SELECT id, fp FROM large', 'SELECT id, ~fp FROM large', 8)}, 200, 1000);
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), 0, 'no temporary files are left behind');
cancels('check', q{SELECT simhash_index_check('large_fp', true)}, 50, 200, 400, 800);
$node->safe_psql('postgres', 'DELETE FROM large WHERE id % 2 = 0');
cancels('vacuum', 'VACUUM large', 100, 400, 700, 1000, 1500);
$node->safe_psql('postgres', 'DELETE FROM large WHERE id % 3 = 0; ');
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) large');
is($node->safe_psql('postgres', q{SELECT rows = (SELECT count(*) FROM large), orphans FROM simhash_index_check('large_fp', true)}), 't|0', 'check after cancelled vacuums');
note('measured: ms of processor time from request to end: ' . join(', ', map { "$_ $cancelled{$_}" } sort keys %cancelled));

# ---- watched ----
# The build stops at a row, until another session gives the lock free.
$node->safe_psql('postgres', q{CREATE FUNCTION held(fp bigint, id integer) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
	BEGIN
		IF id = 4001 THEN PERFORM pg_advisory_xact_lock_shared(1); END IF;
		RETURN fp;
	END $$});
my ($prepare, $finish) = start_conductor($node, [1], q{
	CALL wait_until('waits_at(1)');
	CREATE TABLE watched AS SELECT * FROM pg_stat_progress_create_index;
	SELECT go(1);
});
$node->safe_psql('postgres', "$prepare CREATE INDEX random_again ON random USING simhash (held(fp, id))");
is($finish->(), '', 'a build is watched');
is($node->safe_psql('postgres', 'SELECT relid::regclass, phase, blocks_done BETWEEN 1 AND blocks_total - 1 FROM watched'), 'random|building index: scanning table|t', 'its phase has a name');
$node->stop;
done_testing();
