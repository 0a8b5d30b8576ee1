# Sessions that run random statements beside each other, on tables whose balls overlap: changes of every kind, savepoints and rollbacks,
# statements that are cancelled, VACUUM, and indexes that are built, rebuilt and dropped. What an index finds is what the sequential scan
# finds in the same snapshot, on the primary and on a standby that replays. At the end every index is sound, and no two rows are left that
# a constraint forbids.
#
# The seed differs from run to run. SIMHASH_SESSIONS_SEED=n repeats the statements of every session, though not how they meet;
# SIMHASH_SESSIONS_STEPS=n makes the sessions longer (make sessions).
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seed = $ENV{SIMHASH_SESSIONS_SEED} // (time ^ $$ << 8) & 0x7fffffff;
my $steps = $ENV{SIMHASH_SESSIONS_STEPS} // 300;
my @sessions = ((map { "writer_$_" } 1 .. 6), 'standby');
srand($seed);

# What may befall a statement beside others.
my %allowed = (
	'23505' => 'unique_violation', '23P01' => 'exclusion_violation', '25P02' => 'in_failed_sql_transaction', '3B001' => 'invalid_savepoint',
	'40001' => 'serialization_failure', '40P01' => 'deadlock_detected', '57014' => 'query_canceled');

# ---- the tables ----

# A kind of values: its type; the operators of its distance and of its constraint; the condition on a pair that this forbids; the largest
# radius that is asked for.
my %kinds = (
	fp   => { type => 'bigint', distance => '<~>', excludes => 'value WITH ~=, tenant WITH =', radius => 14,
		forbidden => 'hamming(a.value, b.value) <= 3 AND a.tenant = b.tenant' },
	code => { type => 'bit(256)', distance => '<~~>', excludes => 'value WITH =~~', radius => 60, forbidden => 'hamming(a.value, b.value) <= 31' },
	body => { type => 'text', excludes => 'value WITH =~~', forbidden => 'near_duplicate(a.value, b.value, .8)' });
# Of each kind two tables: one with indexes, one with a constraint.
my %kind_of = map { ("${_}_docs" => $_, "${_}_kept" => $_) } keys %kinds;
my @tables = sort keys %kind_of;

# Sessions nap between the steps of an insertion, a scan or a VACUUM, so that others come between. On the standby replay and a query may
# wait for each other, until the delay is over and the query is cancelled.
my $node = start_node('sessions', init => { allows_streaming => 1 }, conf => join("\n", 'log_statement = none', 'max_connections = 20', 'jit = off',
	'max_parallel_workers_per_gather = 0', 'deadlock_timeout = 50ms', 'vacuum_cost_delay = 1ms', 'vacuum_cost_limit = 20',
	'simhash_test.longest_nap = 2000', 'max_standby_streaming_delay = 1s', ''));
use_library($node, testing_library());
for my $kind (sort keys %kinds)
{
	$node->safe_psql('postgres', qq{
		CREATE TABLE ${kind}_docs (id integer, tenant integer, value $kinds{$kind}{type}, note integer DEFAULT 0);
		CREATE INDEX ${kind}_docs_value ON ${kind}_docs USING simhash (value);
		CREATE TABLE ${kind}_kept (id integer PRIMARY KEY, tenant integer, value $kinds{$kind}{type}, note integer DEFAULT 0,
			EXCLUDE USING simhash ($kinds{$kind}{excludes}))});
}
$node->safe_psql('postgres', 'CREATE INDEX fp_docs_scope ON fp_docs USING simhash (value, tenant)');

# compare(query, scan, pause): runs a query of (item, distance) by an index and by the sequential scan, and fails where the answers differ. It
# is a cursor, which by the index rests for a while after the first rows. Where there is an order, the distances are compared, and the
# items that are nearer than the last; where the distance is -1 there is none, and all items are. To be called in a transaction that
# keeps its snapshot.
$node->safe_psql('postgres', q{
	CREATE FUNCTION answer(query text, pause float) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		rows refcursor;
		item text;
		items text[] := '{}';
		distance integer;
		distances integer[] := '{}';
	BEGIN
		OPEN rows FOR EXECUTE query;
		LOOP
			FETCH rows INTO item, distance;
			EXIT WHEN NOT FOUND;
			items := items || item;
			distances := distances || distance;
			IF cardinality(items) = 3 THEN PERFORM pg_sleep(pause); END IF;
		END LOOP;
		CLOSE rows;
		RETURN concat_ws(' ', cardinality(items), (SELECT string_agg(d::text, ',' ORDER BY place) FROM unnest(distances) WITH ORDINALITY u (d, place)),
			(SELECT string_agg(i, ',' ORDER BY i) FROM unnest(items, distances) u (i, d)
				WHERE d = -1 OR d < (SELECT max(d) FROM unnest(distances) d)));
	END $$;
	CREATE FUNCTION compare(query text, scan text, pause float) RETURNS text LANGUAGE plpgsql
		SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off AS $$
	DECLARE
		line text;
		plan text := '';
		by_index text;
		by_scan text;
	BEGIN
		PERFORM set_config('enable_' || scan, 'on', true);
		-- The server wants both for an index-only scan.
		PERFORM set_config('enable_indexscan', 'on', true) WHERE scan = 'indexonlyscan';
		FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP plan := plan || line || E'\n'; END LOOP;
		by_index := answer(query, pause);
		PERFORM set_config('enable_' || unnest(ARRAY['indexscan', 'indexonlyscan', 'bitmapscan']), 'off', true), set_config('enable_seqscan', 'on', true);
		by_scan := answer(query, 0);
		IF by_index <> by_scan THEN
			RAISE EXCEPTION 'the index and the scan differ' USING DETAIL = format(E'%s\n%sby index: %s\nby scan: %s', query, plan, by_index, by_scan);
		END IF;
		RETURN 'compared: ' || coalesce(substring(plan FROM '(Index Scan|Index Only Scan|Bitmap Index Scan) \w+ \w+_(?:value|scope|excl|extra)'), 'other plan');
	END $$});

# ---- random values ----

sub one_of
{
	return $_[ int(rand(@_)) ];
}

sub random_bits
{
	my ($count) = @_;
	return join('', map { int(rand(2)) } 1 .. $count);
}

# What all sessions have in common.
my @centers = map { random_bits(256) } 1 .. 25;

# A center or near one, so that balls overlap; some fingerprints only begin as one does, so that leaves fill and are emptied.
sub random_value
{
	my ($kind) = @_;
	my $center = int(rand(@centers));
	if ($kind eq 'body')
	{
		my $changed = int(rand(4));
		return rand() < .02 ? '...' : join(' ', map { $_ <= $changed ? "other$changed$_" : 'word' . ($center * 31 + $_ * $_) } 1 .. 25);
	}
	my $bits = $centers[$center];
	for (1 .. one_of(0, rand(24)))
	{
		my $place = int(rand(256));
		substr($bits, $place, 1) = 1 - substr($bits, $place, 1);
	}
	return $bits if $kind eq 'code';
	return unpack('q>', pack('B64', rand() < .5 ? $bits : substr($bits, 0, 12) . random_bits(52)));
}

sub literal
{
	my ($kind) = @_;
	return "'" . random_value($kind) . "'";
}

sub tenant
{
	return one_of(1, 1, 1, 2, 2, 3, 4);
}

# A condition on the values of a kind that an index knows.
sub near
{
	my ($kind) = @_;
	my $value = literal($kind);
	return 'value IS NULL' if rand() < .05;
	return one_of("value =~~ $value", "near_duplicate(value, $value, .5)", "value = $value") if $kind eq 'body';
	return "value $kinds{$kind}{distance} $value <= " . int(rand(rand() < .05 ? 260 : $kinds{$kind}{radius}));
}

# ---- random statements ----

my $dir = PostgreSQL::Test::Utils::tempdir;
my ($last_id, $files) = (0, 0);

# Rows of a table; the ids of a table with a constraint meet those of others.
sub rows
{
	my ($table, $count) = @_;
	my $kind = $kind_of{$table};
	return map { [ $table =~ /kept/ ? int(rand(1000)) : ++$last_id, tenant(), rand() < .02 ? undef : random_value($kind) ] } 1 .. $count;
}

sub inserted
{
	my ($table) = @_;
	my $many = { fp => 500, code => 200, body => 40 }->{ $kind_of{$table} };
	my @rows = rows($table, one_of(1, 1, 1, 2, 5, $table =~ /kept/ ? 10 : $many));
	if (rand() < .3)
	{
		# From a file: where the statement fails, psql would take rows that follow it for statements.
		my $file = "$dir/rows_" . ++$files;
		append_to_file($file, join('', map { join("\t", @$_[ 0, 1 ], $_->[2] // '\N') . "\n" } @rows));
		return "COPY $table (id, tenant, value) FROM '$file';";
	}
	my $values = join(', ', map { "($_->[0], $_->[1], " . (defined $_->[2] ? "'$_->[2]')" : 'NULL)') } @rows);
	my $conflict = '';
	# One statement may not change a row twice.
	$conflict = one_of('ON CONFLICT DO NOTHING', @rows > 1 ? () : 'ON CONFLICT (id) DO UPDATE SET value = excluded.value, tenant = excluded.tenant')
		if $table =~ /kept/ && rand() < .7;
	return "INSERT INTO $table (id, tenant, value) VALUES $values $conflict;";
}

sub some_rows
{
	my ($table) = @_;
	return near($kind_of{$table}) if rand() < .6;
	my $part = one_of(4, 20, 100, 100);
	return "id % $part = " . int(rand($part));
}

sub changed
{
	my ($table) = @_;
	my $where = some_rows($table);
	return one_of(
		(inserted($table)) x 3,
		"UPDATE $table SET value = " . literal($kind_of{$table}) . " WHERE $where;",
		"UPDATE $table SET note = note + 1, tenant = " . one_of('tenant', tenant()) . " WHERE $where;",
		("DELETE FROM $table WHERE $where;") x 2);
}

# Of rows or of values; the nearest, where the kind has a distance.
sub compared
{
	my ($table) = @_;
	my $kind = $kind_of{$table};
	my $condition = near($kind) . (rand() < .4 ? ' AND tenant = ' . tenant() : '');
	my $query = 'SELECT ' . one_of('id::text', ('value::text') x 2) . ", -1 FROM $table WHERE $condition";
	if ($kinds{$kind}{distance} && rand() < .4)
	{
		my $distance = "value $kinds{$kind}{distance} " . literal($kind);
		my $where = rand() < .5 ? '' : 'WHERE tenant = ' . tenant();
		$query = "SELECT id::text, coalesce($distance, 1000)::integer FROM $table $where ORDER BY $distance LIMIT " . one_of(1, 10, 100, 'ALL');
	}
	my $scan = one_of('indexscan', ('indexonlyscan') x 2, 'bitmapscan');
	my $pause = one_of(0, 0, .005, .02);
	return "SELECT compare(\$\$$query\$\$, '$scan', $pause);";
}

sub vacuumed
{
	my ($table) = @_;
	# To give the end of a table back it would wait for others, up to five seconds.
	return 'VACUUM (TRUNCATE OFF, ' . one_of(('INDEX_CLEANUP ON') x 3, 'INDEX_CLEANUP AUTO', 'FREEZE', 'SKIP_LOCKED', 'ANALYZE') . ") $table;";
}

# Only the session itself builds and drops its further index. The index of a constraint cannot be rebuilt concurrently.
sub indexed
{
	my ($table, $session) = @_;
	my $extra = "${table}_${session}_extra";
	my $options = one_of('tables = 1', 'tables = 3', 'radius = 9, tables = 10', 'fillfactor = 60');
	return one_of(
		"CREATE INDEX CONCURRENTLY IF NOT EXISTS $extra ON $table USING simhash (value) WITH ($options);",
		"CREATE INDEX IF NOT EXISTS $extra ON $table USING simhash (value) WITH ($options);",
		("DROP INDEX CONCURRENTLY IF EXISTS $extra;") x 2,
		"DROP INDEX IF EXISTS $extra;",
		("REINDEX TABLE CONCURRENTLY $table;") x 2,
		"REINDEX TABLE $table;",
		"VACUUM FULL $table;",
		# Locked first: a name that was looked up before may be that of an index which REINDEX CONCURRENTLY drops meanwhile.
		# One query is one transaction. Of several, BEGIN might be cancelled, and LOCK fail without it.
		$table =~ /docs/ ? "LOCK TABLE $table IN SHARE MODE\\; SELECT rows FROM simhash_index_check('${table}_value', true);" : ());
}

# Several statements with savepoints, of which some are undone. In the stricter levels the scans are compared.
sub transaction
{
	my $level = one_of('READ COMMITTED', ('REPEATABLE READ') x 3, 'SERIALIZABLE');
	my @statements = ("BEGIN ISOLATION LEVEL $level;");
	for (1 .. 1 + rand(4))
	{
		push @statements, 'SAVEPOINT a;' if rand() < .4;
		push @statements, $level ne 'READ COMMITTED' && rand() < .4 ? compared(one_of(@tables)) : changed(one_of(@tables));
		push @statements, one_of('ROLLBACK TO a;', 'RELEASE a;') if $statements[-2] eq 'SAVEPOINT a;';
	}
	return join("\n", @statements, one_of('COMMIT;', 'COMMIT;', 'ROLLBACK;'));
}

# A transaction of one statement: replay would end the connection of a session that rests within one.
sub comparison
{
	return join("\n", q{SET default_transaction_isolation = 'repeatable read';}, compared(one_of(@_)), 'RESET default_transaction_isolation;');
}

# A build waits for older snapshots of its own server only. So the standby compares tables that are never rebuilt.
my @kept_as_built = ('fp_docs', 'body_kept');

sub step
{
	my ($session) = @_;
	my $table = one_of(@tables);
	my $dice = rand();
	return comparison(@kept_as_built) if $session eq 'standby';
	return comparison(@tables) if $dice < .12;
	return transaction() if $dice < .3;
	my $statement = $dice < .75 ? changed($table) : $dice < .93 || grep({ $table eq $_ } @kept_as_built) ? vacuumed($table) : indexed($table, $session);
	return $statement if rand() < .85;
	# RESET may itself be cancelled. A new session has no limit, which would cancel a later BEGIN.
	return sprintf("SET statement_timeout = %d;\n%s\nRESET statement_timeout;\n\\if :ERROR\n\\c\n\\endif",
		one_of(1, 2, 5, 10, 20, 50), $statement);
}

# ---- the sessions ----

append_to_file("$dir/load.sql", join("\n", map { inserted($_) } map { ($_) x 20 } @tables));
$node->psql('postgres', '', extra_params => [ '-f', "$dir/load.sql" ], on_error_stop => 0);
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;

for my $session (@sessions)
{
	append_to_file("$dir/$session.sql", join("\n", '\set VERBOSITY verbose', (map { step($session) } 1 .. $steps), ''));
}
# Output goes to files: a session whose pipe is full would stop, with its locks. Only one that hangs takes so many seconds.
my @runs = map {
	my $server = /standby/ ? $standby : $node;
	IPC::Run::start([ 'psql', '-X', '-q', '-A', '-t', '-d', $server->connstr('postgres'), '-f', "$dir/$_.sql" ],
		'<', '/dev/null', '>', "$dir/$_.out", '2>', "$dir/$_.err", IPC::Run::timeout(600 + 10 * $steps))
} @sessions;
my (%errors, %compared);
for my $session (@sessions)
{
	ok(IPC::Run::finish(shift @runs), "$session came to its end");
	my $said = slurp_file("$dir/$session.err");
	my @states = $said =~ /(?:ERROR|FATAL|PANIC):  (\w{5}):/g;
	$errors{$_}++ for @states;
	is(join(' ', grep { !$allowed{$_} } @states), '', "$session: no other errors than those that are allowed")
		or diag(map { "$_\n" } $said =~ /^(.*(?:ERROR|FATAL|PANIC):  (?!(?:${\ join('|', keys %allowed) }):).*(?:\n.*){0,6})/mg);
	my @scans = slurp_file("$dir/$session.out") =~ /^compared: (.*)$/mg;
	$compared{$_}++ for @scans;
	cmp_ok(scalar(@scans), '>', 0, "$session: answers were compared");
}

# ---- afterwards ----

for my $scan ('Index Scan', 'Index Only Scan', 'Bitmap Index Scan')
{
	cmp_ok($compared{$scan} // 0, '>', 0, "$scan: answers were compared");
}
note(join(', ', "measured: SIMHASH_SESSIONS_SEED=$seed", (map { "$compared{$_} by $_" } sort keys %compared),
	map { "$errors{$_} $allowed{$_}" } grep { $allowed{$_} } sort keys %errors));

# A statement that was cancelled may have left an index that is not valid, which cannot be checked.
my $check = q{
	SELECT i.indexrelid::regclass, rows, orphans FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am ON pg_am.oid = c.relam,
		simhash_index_check(i.indexrelid, true) WHERE amname = 'simhash' AND indisvalid AND %s};
my ($status, $found, $message) = $node->psql('postgres', sprintf($check, 'true'));
is($status, 0, 'every index is sound') or diag($message);
$node->safe_psql('postgres', join('; ', map { "VACUUM (INDEX_CLEANUP ON) $_" } @tables));
for my $table (@tables)
{
	my $rows = $node->safe_psql('postgres', "SELECT count(*) FROM $table");
	($status, $found, $message) = $node->psql('postgres', sprintf($check, "indrelid = '$table'::regclass"));
	is($status, 0, "$table: sound after VACUUM") or diag($message);
	is(join(' ', grep { !/\|$rows\|0$/ } split /\n/, $found), '', "$table: its indexes have its rows, and no more");
	next unless $table =~ /kept/;
	my $pairs = "SELECT count(*) FROM $table a JOIN $table b ON a.id < b.id AND $kinds{ $kind_of{$table} }{forbidden}";
	is($node->safe_psql('postgres', "SET enable_indexscan = off; SET enable_bitmapscan = off; $pairs"), 0, "$table: no pair that the constraint forbids");
}

$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
for ([ 'primary', $node ], [ 'standby', $standby ])
{
	my ($what, $on) = @$_;
	my $answers = $on->safe_psql('postgres', join("\n", map { comparison(@tables) } 1 .. 30));
	is(scalar(() = $answers =~ /^compared:/mg), 30, "$what: the answers at rest are those of the scan");
}
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
$standby->poll_query_until('postgres', "SELECT pg_get_wal_replay_pause_state() = 'paused'");
($status, $found, $message) = $standby->psql('postgres', sprintf($check, 'true'));
is($status, 0, 'every index is sound on the standby') or diag($message);
unlike(slurp_file($_->logfile), qr/PANIC|TRAP|terminated by signal/, $_->name . ': no process died') for $node, $standby;
$_->stop for $standby, $node;
done_testing();
