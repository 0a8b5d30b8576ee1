# Background workers that cut the texts of whole-table calls: the same result as without them, whatever stops them or the statement;
# none is left behind.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;
use Time::HiRes qw(usleep);

my $node = start_node('cutting_workers', conf => "log_statement = none\nlog_temp_files = 0\n");
plan skip_all => 'processes are looked up in /proc' unless -r '/proc/self/stat';

# Families of texts, some equal, some empty or NULL, some longer than a batch of texts.
$node->safe_psql('postgres', q{
	CREATE TABLE docs AS
	SELECT i AS id, CASE WHEN i % 40 = 0 THEN '...' WHEN i % 41 = 0 THEN NULL WHEN i % 2500 = 7 THEN repeat(body || ' ' || i || ' ', 100) ELSE body END AS body
	FROM generate_series(1, 20000) i,
		LATERAL (SELECT string_agg(left(md5(i / 4 || ' ' || w || CASE WHEN w <= i % 3 THEN ' ' || i ELSE '' END), 6), ' ' ORDER BY w) AS body
			FROM generate_series(1, 40) w) b;
	-- At a row in the middle it waits for a lock that the test has, so that workers have started by then.
	CREATE FUNCTION held(id integer) RETURNS integer VOLATILE LANGUAGE plpgsql AS $$
	BEGIN
		IF id = 3000 THEN PERFORM pg_advisory_lock_shared(7), pg_advisory_unlock_shared(7); END IF;
		RETURN id;
	END $$});
my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /\A(\d+)/;

# The workers of this server that are there, by their process numbers.
sub workers
{
	my @found;
	for my $process (glob '/proc/[0-9]*')
	{
		open(my $status, '<', "$process/stat") or next;
		my $line = <$status> // next;
		close $status;
		next unless $line =~ /\A(\d+) \(.*\) (\w) (\d+) /s && $3 == $postmaster && $2 ne 'Z';
		my $pid = $1;
		open(my $title, '<', "$process/cmdline") or next;
		push @found, $pid if (<$title> // '') =~ /simhash cutting worker/;
		close $title;
	}
	return @found;
}

sub wait_for
{
	my ($what, $is_there) = @_;
	for (1 .. 3000) { return pass($what) if $is_there->(); usleep(20_000); }
	return fail($what);
}

# Starts a statement that waits in the middle of its query, does something to it, and lets it go on.
my $query = q{'SELECT held(id), body FROM docs ORDER BY id'};
sub held_statement
{
	my ($settings, $statement, $meanwhile) = @_;
	my ($output, $errors) = ('', '');
	my $lock = '';
	my $lock_session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \my $input, '>', \$lock);
	$input .= "SELECT pg_advisory_lock(7);\nSELECT 'has it';\n";
	$lock_session->pump until $lock =~ /has it/;
	my $run = IPC::Run::start(
		[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres') . ' application_name=victim', '-c', $settings, '-c', $statement ],
		'>', \$output, '2>', \$errors);
	wait_for('it waits', sub {
		$node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'victim' AND wait_event_type = 'Lock'}) eq 1 });
	$meanwhile->();
	$input .= "\\q\n";
	IPC::Run::finish($lock_session);
	IPC::Run::finish($run);
	wait_for('no worker is left', sub { !workers() });
	is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), 0, '... nor a temporary file');
	return ($output, $errors);
}

my $digest = sub { "SELECT count(*), md5(string_agg(g::text, ' ')) FROM near_duplicate_groups($_[0]) g" };
my $expected = $node->safe_psql('postgres', 'SET max_parallel_workers_per_gather = 0; ' . $digest->($query));
like($expected, qr/^20000\|/, 'without workers');

for my $memory ('64kB', '64MB')
{
	my ($output, $errors) = held_statement("SET client_min_messages = debug1; SET work_mem = '$memory'", $digest->($query),
		sub { wait_for('workers have started', sub { scalar workers() == 2 }) });
	is($output, "$expected\n", "with workers and $memory: the same");
	like($errors, qr/workers cut [1-9]\d* of 19\d\d\d texts/, '... which have cut texts');
}
my ($output, $errors) = held_statement('SET client_min_messages = debug1',
	"SELECT count(*) FROM near_duplicate_join($query, $query)", sub { });
is($output, $node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; SELECT count(*) FROM near_duplicate_join($query, $query)") . "\n",
	'two queries');

# ---- a worker that has more to write than its queue holds ----

# A text of letters that decompose becomes a document that is larger than the queue, while batches of these sizes fill the queue of texts.
# Were either to wait for room without reading, both would wait for ever.
$node->safe_psql('postgres', q{
	CREATE TABLE expanding AS
	WITH letters AS (SELECT array_agg(chr(n)) AS list FROM generate_series(13056, 13143) n WHERE length(normalize(chr(n), NFKC)) >= 5),
		large AS MATERIALIZED (
			SELECT k, string_agg(list[1 + abs(hashint8extended(n, k) % cardinality(list))], '') AS body
			FROM letters, generate_series(0, 9) k, generate_series(1, 21800) n GROUP BY k),
		middling AS MATERIALIZED (SELECT k, string_agg(left(md5(k || ' ' || n), 4), ' ') AS body FROM generate_series(0, 99) k, generate_series(1, 8000) n GROUP BY k)
	SELECT i AS id, CASE
			WHEN i <= 1100 THEN 'short text number ' || i
			WHEN i % 10 < 4 OR i <= 1200 THEN (SELECT body FROM middling WHERE k = i % 100)
			ELSE (SELECT body FROM large WHERE k = i % 10) END AS body
	FROM generate_series(1, 1700) i});
my $of_expanding = "SET statement_timeout = '3min'; SET work_mem = '64kB'; SET max_parallel_workers_per_gather = %d; " . $digest->(q{'SELECT id, body FROM expanding ORDER BY id'});
is($node->safe_psql('postgres', sprintf($of_expanding, 1)), $node->safe_psql('postgres', sprintf($of_expanding, 0)), 'large documents');

# ---- calls that end before their workers have started ----

$node->safe_psql('postgres', "SELECT count(*) FROM near_duplicate_pairs('SELECT id, body FROM docs WHERE id <= 1100');\n" x 40);
wait_for('no worker is left', sub { !workers() });
is(scalar(grep { /simhash cutting worker/ } split(/\n/, slurp_file($node->logfile))), 0, 'the log has no word of them');

# ---- what stops the statement ----

(undef, $errors) = held_statement('SELECT 1', $digest->($query), sub {
	wait_for('workers have started', sub { scalar workers() == 2 });
	$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'}) });
like($errors, qr/canceling statement due to user request/, 'cancelled');
(undef, $errors) = held_statement('SELECT 1', $digest->(q{'SELECT held(id) / (id - 15000), body FROM docs ORDER BY id'}), sub { });
like($errors, qr/division by zero/, 'an error of the query');
(undef, $errors) = held_statement("SET temp_file_limit = '3MB'; SET work_mem = '64kB'",
	$digest->(q{'SELECT held(id), body FROM docs'}), sub { });
like($errors, qr/temp_file_limit/, 'a limit');

# A worker that goes takes texts with it.
(undef, $errors) = held_statement('SELECT 1', $digest->($query), sub {
	wait_for('workers have started', sub { scalar workers() == 2 });
	kill 'TERM', workers();
	wait_for('... and have gone', sub { !workers() }) });
like($errors, qr/\A\z|lost connection to a worker that cuts texts/, 'workers that end: an error, or they had no text');
is($node->safe_psql('postgres', $digest->($query)), $expected, '... and the next call has the result');

# ---- no workers ----

for my $setting ('max_parallel_workers_per_gather = 0', 'max_parallel_workers = 0')
{
	($output, $errors) = held_statement("SET $setting; SET client_min_messages = debug1", $digest->($query), sub { is(scalar workers(), 0, $setting) });
	is($output, "$expected\n", '... the same');
	like($errors, qr/workers cut 0 of/, '... by one process');
}
is($node->safe_psql('postgres', "BEGIN ISOLATION LEVEL SERIALIZABLE; " . $digest->($query) . '; COMMIT'), $expected, 'in a serializable transaction');
$node->safe_psql('postgres', q{
	CREATE FUNCTION caught(id integer) RETURNS integer VOLATILE LANGUAGE plpgsql SET search_path = public AS $$
	BEGIN RETURN 1 / (id % 2 - id % 2) * id; EXCEPTION WHEN division_by_zero THEN RETURN id; END $$});
is($node->safe_psql('postgres', $digest->(q{'SELECT caught(id), body FROM docs ORDER BY id'})), $expected,
	'a query whose functions have exceptions and settings');

$node->stop;
done_testing();
