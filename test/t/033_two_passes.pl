# Whole-table calls read a query twice, and texts stay where they are: digests come from the server's own workers, the second pass sees
# the rows of the first, whatever others change meanwhile, and a query that gives other rows runs once. Nothing is left behind.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;
use Time::HiRes qw(usleep);

my $node = start_node('two_passes', conf => "log_statement = none\nsession_preload_libraries = auto_explain\n");

# Families of texts, some equal, some empty or NULL, some stored out of line.
$node->safe_psql('postgres', q{
	CREATE TABLE docs AS
	SELECT i AS id, CASE WHEN i % 40 = 0 THEN '...' WHEN i % 41 = 0 THEN NULL WHEN i / 4 % 100 = 1 THEN (SELECT string_agg(body || ' ' || j, ' ') FROM generate_series(1, 60) j) ELSE body END AS body
	FROM generate_series(1, 4000) i,
		LATERAL (SELECT string_agg(left(md5(i / 4 || ' ' || w || CASE WHEN w <= i % 3 THEN ' ' || i ELSE '' END), 6), ' ' ORDER BY w) AS body
			FROM generate_series(1, 40) w) b;
	CREATE TABLE kept AS SELECT * FROM docs;
	CREATE TABLE expected AS SELECT a.id, b.id AS other FROM docs a JOIN docs b ON a.id < b.id AND a.id / 4 = b.id / 4 AND a.body =~~ b.body;
	-- How often the query has come to its first row in this session.
	CREATE FUNCTION pass() RETURNS integer STABLE LANGUAGE plpgsql AS $$
	BEGIN RETURN coalesce(nullif(current_setting('test.pass', true), ''), '0'); END $$;
	CREATE FUNCTION counted(id integer) RETURNS integer STABLE LANGUAGE plpgsql AS $$
	BEGIN
		IF id = 1 THEN PERFORM set_config('test.pass', (pass() + 1)::text, false); END IF;
		RETURN id;
	END $$;
	-- The same, and the pass that is asked for waits for a lock, which the test has.
	CREATE FUNCTION held(id integer) RETURNS integer STABLE LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM counted(id);
		IF id = 1 AND pass() = current_setting('test.held')::integer THEN PERFORM pg_advisory_lock_shared(7), pg_advisory_unlock_shared(7); END IF;
		RETURN id;
	END $$});
my $wrong = sub {
	my ($query) = @_;
	return qq{SELECT count(p.id) || ' ' || count(*) FILTER (WHERE p.id IS NULL OR e.id IS NULL)
		FROM near_duplicate_pairs($query) p FULL JOIN expected e ON e.id = least(p.id, p.other) AND e.other = greatest(p.id, p.other)};
};
my $right = $node->safe_psql('postgres', 'SELECT count(*) FROM expected') . ' 0';
like($right, qr/^\d{4} 0/, 'there are pairs');

# ---- the server's workers ----

my $in_parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;';
my $explained = "$in_parallel SET client_min_messages = log; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on;
	SET auto_explain.log_verbose = on; SET auto_explain.log_analyze = on;";
for my $query ('SELECT id, body FROM docs ORDER BY id', 'SELECT id, body FROM docs', 'SELECT id, upper(body) FROM docs ORDER BY 1')
{
	my ($output, $plans) = ('', '');
	$node->psql('postgres', $explained . $wrong->("\$\$$query\$\$"), stdout => \$output, stderr => \$plans);
	is($output, $right, "$query: by workers");
	like($plans, qr/Gather.*Parallel Seq Scan on public\.docs[^\n]*\n\s*Output: id, document_digest\(/s, '... which make the digests');
	like($plans, qr/Parallel Seq Scan on public\.docs[^\n]*\n\s*Output: id, document_content\(/s, '... and the contents');
	unlike((grep { /document_content/ } split(/ plan:/, $plans))[0], qr/Sort/, '... in any order');
}

# A value that decides about rows, or their order, is computed first.
for my $query ('SELECT DISTINCT id, body FROM docs', 'SELECT id, body FROM docs ORDER BY body, id', 'SELECT id, body FROM docs UNION SELECT id, body FROM docs',
	'SELECT id, body FROM docs GROUP BY id, body', 'SELECT id, body FROM docs ORDER BY id LIMIT 4000', 'SELECT id, body FROM docs OFFSET 0')
{
	is($node->safe_psql('postgres', $in_parallel . $wrong->("'$query'")), $right, $query);
}

# ---- how often a query runs ----

sub passes { return $node->safe_psql('postgres', "$_[0]; SELECT pass()") }
is(passes($wrong->(q{'SELECT counted(id), body FROM docs ORDER BY id'})), "$right\n2", 'twice');
is(passes($wrong->(q{'SELECT counted(id), body || pass() FROM docs WHERE length(body) > 9 ORDER BY id'})), "$right\n3",
	'a query that gives other texts the second time begins anew, and runs once then');
# The order of the second pass, where it decides about rows: otherwise it would have others.
for my $query ('SELECT counted(id), body FROM docs ORDER BY id % 7, id LIMIT 3000', 'SELECT counted(id), body FROM docs ORDER BY id % 7, id DESC OFFSET 1000',
	'SELECT DISTINCT ON (id / 2) counted(id), body FROM docs ORDER BY id / 2, id DESC')
{
	is(passes("SELECT count(*) > 0 FROM near_duplicate_pairs('$query')"), "t\n2", "twice: $query");
}
is( passes(q{CREATE TEMP SEQUENCE s; SELECT count(*) FROM near_duplicate_pairs('SELECT nextval(''s''), body FROM docs ORDER BY id'); SELECT last_value FROM s}),
	($right =~ s/ 0//r) . "\n4000\n0", 'a volatile query runs once');
is( passes(q{SELECT count(*) FROM near_duplicate_pairs('SELECT counted(id), ''unlike '' || md5(id::text) FROM docs WHERE id < 300')}),
	"0\n1", 'without candidates there is no second pass');
is($node->safe_psql('postgres', 'BEGIN READ ONLY; ' . $wrong->(q{'SELECT id, body FROM docs'})), $right, 'a transaction may be read-only');

unlike(slurp_file($node->logfile), qr/leak/, 'nothing leaks');

# ---- what others do meanwhile ----

sub wait_for_lock
{
	for (1 .. 3000)
	{
		return 1 if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'victim' AND wait_event_type = 'Lock'});
		usleep(20_000);
	}
	return 0;
}

# Runs a statement up to where its query waits, does something, and lets it go on.
sub held_statement
{
	my ($pass, $statement, $meanwhile) = @_;
	my ($input, $lock, $output, $errors) = ('', '', '', '');
	my $lock_session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$input, '>', \$lock);
	$input .= "SELECT pg_advisory_lock(7);\nSELECT 'has it';\n";
	$lock_session->pump until $lock =~ /has it/;
	my $run = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' application_name=victim',
			'-c', "SET test.held = $pass; SET work_mem = '64kB'", '-c', $statement, '-c', q{SELECT 'goes on after ' || pass()} ], '>', \$output, '2>', \$errors);
	ok(wait_for_lock(), "it waits in pass $pass");
	$meanwhile->();
	$input .= "\\q\n";
	IPC::Run::finish($lock_session);
	IPC::Run::finish($run);
	is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), 0, '... and no temporary file is left');
	return ($output, $errors);
}
my $held = q{'SELECT held(id), body FROM docs ORDER BY id'};

for my $change ('DELETE FROM docs WHERE id % 3 = 0', q{UPDATE docs SET body = body || ' more'}, 'INSERT INTO docs SELECT -id, body FROM kept')
{
	for my $pass (1, 2)
	{
		my ($output) = held_statement($pass, $wrong->($held), sub { $node->safe_psql('postgres', $change) });
		is($output, "$right\ngoes on after 2\n", "$change, in pass $pass");
		$node->safe_psql('postgres', 'TRUNCATE docs; INSERT INTO docs SELECT * FROM kept ORDER BY id');
	}
}
for my $pass (1, 2)
{
	my ($output, $errors) = held_statement($pass, $wrong->($held),
		sub { $node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'}) });
	like($errors, qr/canceling statement due to user request/, "cancelled in pass $pass");
	is($output, "goes on after 0\n", '... the session goes on');
}

# ---- memory and files ----

for my $memory ('64kB', '1MB', '1GB')
{
	is($node->safe_psql('postgres', "SET work_mem = '$memory'; " . $wrong->(q{'SELECT id, body FROM docs ORDER BY id'})), $right, $memory);
}
my $errors;
(undef, undef, $errors) = $node->psql('postgres', q{SET work_mem = '64kB'; SET temp_file_limit = '100kB'; } . $wrong->(q{'SELECT id, body FROM docs'}));
like($errors, qr/temporary file size exceeds "?temp_file_limit/, 'no more files than are allowed');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), 0, '... none is left');

# ---- progress ----

my $rows = q{'SELECT id, body FROM docs, pg_sleep(0.05) ORDER BY id'};
(undef, undef, $errors) = $node->psql('postgres', "SET simhash.progress = '1ms'; SELECT count(*) FROM near_duplicate_groups($rows)");
like($errors, qr/INFO:  near_duplicate_groups: read \d+ of about \d+ rows, \d+ s$/m, 'progress is told');
(undef, undef, $errors) = $node->psql('postgres', q{SET simhash.progress = '1ms'; SELECT count(*) FROM near_duplicate_groups(
	'SELECT i, i || '' b c d'' FROM generate_series(1, 100000) i')});
like($errors, qr/found \d+ distinct documents.*bands \d+ of 31.*returned \d+ rows/s, '... of each step');
(undef, undef, $errors) = $node->psql('postgres', "SELECT count(*) FROM near_duplicate_groups($rows)");
is($errors, '', '... where it is asked for');
(undef, undef, $errors) = $node->psql('postgres', "SELECT count(*) FROM near_duplicate_groups('SELECT 1, ''a''::text'); SET simhash.progress = -1");
like($errors, qr/-1 ms? ?is outside the valid range/, '... from 0 on');
$node->psql('postgres', "SELECT simhash('a'); SET simhash.progres = '5s'", stderr => \$errors);
like($errors, qr/ERROR:  invalid configuration parameter name "simhash.progres"/, '... by its name, as no other has the prefix');
(undef, undef, $errors) = $node->psql('postgres', q{SET simhash.progress = '1ms'; SELECT count(*) FROM simhash_groups(
	'SELECT id, simhash_cluster(hashint8extended(id, 0), 0) OVER () FROM docs, pg_sleep(0.05)', 3)});
like($errors, qr/INFO:  simhash_groups: read 256 of about \d+ rows, \d+ s$/m, 'clusters in a query are no step of the call');
# A call within the query takes its place, also one whose error a function catches.
$node->safe_psql('postgres', q{
	CREATE FUNCTION failing() RETURNS text STABLE LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM near_duplicate_pairs('SELECT id, body || 1 / (id - 1500) FROM docs');
	EXCEPTION WHEN division_by_zero THEN RETURN 'caught';
	END $$;
	-- More stack than the call had takes its place.
	CREATE FUNCTION deep(n integer) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RETURN CASE WHEN n > 0 THEN deep(n - 1) ELSE 0 END; END $$});
my $output;
(undef, $output, $errors) = $node->psql('postgres', q{SET simhash.progress = '1ms';
	SELECT count(*) FROM near_duplicate_groups('SELECT id, CASE WHEN id = 300 THEN failing() || deep(50) ELSE body END FROM docs, pg_sleep(0.01)')});
is($output, 4000, 'an error within a query, which is caught');
like($errors, qr/groups: read 256 of .*pairs: read \d+ of .*groups: read 512 of /s, '... and the outer call goes on to tell its progress');
is( $node->safe_psql('postgres', q{SET simhash.progress = '1ms'; DO $$ BEGIN PERFORM failing(), deep(50); END $$;
		SELECT count(DISTINCT cluster) FROM (SELECT simhash_cluster(i::bigint << 20, 0) OVER () AS cluster FROM generate_series(1, 1000) i) c}),
	1000, 'no progress is told for a call that has ended by an error');

# ---- what another server computes ----

my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('postgres', 'CREATE DATABASE far');
$node->safe_psql('far', q{
	CREATE TABLE docs AS SELECT i AS id, 'a b c d e f g h ' || i % 3 AS body FROM generate_series(1, 30) i;
	-- As many bytes as the session's setting says, and which.
	CREATE FUNCTION bytes() RETURNS bytea IMMUTABLE LANGUAGE sql AS $$ SELECT decode(repeat(current_setting('far.byte'), current_setting('far.bytes')::integer), 'hex') $$;
	CREATE FUNCTION document_digest(text, bytea) RETURNS bytea IMMUTABLE LANGUAGE sql AS $$ SELECT public.bytes() $$;
	CREATE FUNCTION passage_digest(text, bytea) RETURNS bytea IMMUTABLE LANGUAGE sql AS $$ SELECT public.bytes() $$});
$node->safe_psql('postgres', qq{
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'far', extensions 'simhash', options '-c far.bytes=0');
	CREATE USER MAPPING FOR CURRENT_USER SERVER far;
	CREATE FOREIGN TABLE far_docs (id integer, body text) SERVER far OPTIONS (table_name 'docs')});
for my $bytes (0, 3, 27, 47, 48, 50, 176, 180, 5000)
{
	# A size that could be right has a kind of shingles that does not exist.
	my $byte = $bytes == 48 || $bytes == 176 ? 'ff' : '00';
	$node->safe_psql('postgres', "ALTER SERVER far OPTIONS (SET options '-c far.bytes=$bytes -c far.byte=$byte')");
	for my $function ('near_duplicate_groups', 'passage_pairs')
	{
		next if $function eq 'passage_pairs' && $bytes % 8 == 0 && $bytes >= 24;
		(undef, undef, $errors) = $node->psql('postgres', "SELECT $function('SELECT id, max(body) FROM far_docs GROUP BY id')");
		like($errors, qr/invalid result of a pass over documents.*need the same version/s, "$function: a result of $bytes bytes");
	}
}

# ---- objects of another version ----

$node->safe_psql('postgres', 'ALTER EXTENSION simhash DROP FUNCTION document_digest(text, bytea); ALTER FUNCTION document_digest(text, bytea) RENAME TO taken_away');
my $refusal = qr/function document_digest\(text, bytea\) of extension simhash does not exist.*HINT:  Run ALTER EXTENSION simhash UPDATE/s;
(undef, undef, $errors) = $node->psql('postgres', $wrong->(q{'SELECT id, body FROM docs'}));
like($errors, $refusal, 'a script that is older than the library');
$node->safe_psql('postgres', q{CREATE FUNCTION document_digest(text, bytea) RETURNS bytea IMMUTABLE LANGUAGE sql AS $$ SELECT 'mine'::bytea $$});
(undef, undef, $errors) = $node->psql('postgres', $wrong->(q{'SELECT id, body FROM docs'}));
like($errors, $refusal, '... also where somebody has made a function of that name');
# What a user passes to the functions may be anything.
for my $arguments ('', '\x00', '\x' . '00' x 15, '\x' . 'ff' x 16, '\x' . '00' x 8 . '000000000000f07f', '\x' . '00' x 19)
{
	for my $function ('taken_away', 'document_content', 'passage_digest', 'passage_content', 'containment_digest')
	{
		(undef, undef, $errors) = $node->psql('postgres', "SELECT count($function(body, '$arguments')) FROM docs");
		like($errors, qr/invalid arguments of a pass over documents/, "$function with $arguments");
	}
}

$node->stop;
done_testing();
