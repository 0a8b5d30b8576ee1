# Indexes on codes, bit strings of 1 to 1 024 bits: their answers equal brute force, for every form of query, through changes, VACUUM, builds
# of every kind and with little memory. Constraints, scopes, dump and restore, and what is refused.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = start_node('codes', conf => "fsync = off\njit = off\nlog_statement = none\nmax_parallel_maintenance_workers = 2\n");
my $total = 0;

# The index has each row; where none was removed since the last VACUUM ('='), each word has nothing else.
sub sound
{
	my ($what, $table, $relation) = @_;
	my ($code, $found, $message) = $node->psql('postgres', qq{
		SELECT rows $relation (SELECT count(*) FROM $table) FROM simhash_index_check('${table}_code', true);
		SELECT DISTINCT entries $relation (SELECT count(code) FROM $table) FROM simhash_index_info('${table}_code') WHERE contents = 'postings' AND level = 0});
	is("$code $found", "0 t\nt", "$what: check") or diag($message);
	return;
}

# Functions for the rows of a table within a radius: by a plan that does not know query and radius, and by one with workers.
sub create_functions
{
	my ($table) = @_;
	my $body = "AS 'BEGIN RETURN QUERY SELECT id FROM $table WHERE code <~~> query <= radius; END'";
	$node->safe_psql('postgres', qq{
		CREATE OR REPLACE FUNCTION by_generic_plan(query bit, radius bigint) RETURNS SETOF integer LANGUAGE plpgsql
			SET plan_cache_mode = force_generic_plan $body;
		CREATE OR REPLACE FUNCTION by_workers(query bit, radius bigint) RETURNS SETOF integer LANGUAGE plpgsql
			SET enable_indexscan = off SET enable_bitmapscan = on SET max_parallel_workers_per_gather = 2 SET parallel_setup_cost = 0
			SET parallel_tuple_cost = 0 SET min_parallel_table_scan_size = 0 $body});
	return;
}

# Compares these forms of query with brute force.
my $index_scan = qr/Index Scan using \S+ on \S+(?: d)?\n\s+Index Cond: /;
my $by_bitmap = '; SET enable_indexscan = off; SET enable_bitmapscan = on';
my %forms = (
	within => { rows => 'd.code <~~> q.code <= radius', plan => qr/$index_scan\(?\(code <\@ bit_ball\(/, queries => 10 },
	bitmap => { rows => 'd.code <@ bit_ball(q.code, radius)', plan => qr/Bitmap Index Scan on \S+\n\s+Index Cond: \(code <\@ bit_ball\(/,
		settings => $by_bitmap, queries => 5 },
	near => { rows => 'd.code =~~ q.code', plan => qr/$index_scan\(?\(code =~~ /, queries => 10 },
	equal => { rows => 'd.code = q.code', plan => qr/$index_scan\(?\(code = /, queries => 10 },
	generic => { function => 'by_generic_plan', queries => 3 },
	workers => { function => 'by_workers', queries => 3 });

sub compare
{
	my ($what, $table, $bits, @names) = @_;
	# Words that are searched in full, in part and not at all; passes.
	my $words = int(($bits + 63) / 64);
	my ($near) = $node->safe_psql('postgres', "SELECT (bit_lane_layout($bits))[2]");
	my %radii = (near => [$near], equal => [0], generic => [ 1, $near ], workers => [ 3 * $words, int($bits / 4) ]);
	my @wrong;
	for my $name (@names)
	{
		my ($compared, $wrong);
		if (my ($limit) = $name =~ /^nearest (\w+)$/)
		{
			($compared, $wrong) = compare_nearest($node, "$table.code", 4, $limit);
		}
		else
		{
			my $form = $forms{$name};
			create_functions($table) if $form->{function};
			my $rows = $form->{function} ? "$form->{function}(q.code, radius) d (id)" : "$table d WHERE $form->{rows}";
			($compared, $wrong) = compare_form($node, "$table.code", $form->{queries}, $radii{$name} // [ -1, 0, 1, $words, 3 * $words + 1, $near, int($bits / 4), $bits ],
				{ plan => qr/Function Scan/, %$form, rows => $rows });
		}
		push @wrong, "$name: $wrong of $compared" if $wrong || !$compared;
		$total += $compared;
	}
	is("@wrong", '', "$what: as brute force");
	return;
}

# ---- every length ----

for my $bits (1, 9, 64, 65, 100, 128, 256, 512, 576, 1024)
{
	my $table = "codes_$bits";
	my $is_long = $bits > 64;
	create_codes($node, $table, $bits, 1200);
	# Laid out for a small radius, the words are searched in order of distance.
	$node->safe_psql('postgres', "CREATE INDEX ${table}_code ON $table USING simhash (code)" . ($is_long ? sprintf(' WITH (radius = %d)', $bits / 20) : ''));
	create_codes($node, $table, $bits, 1200, 1205);
	compare("$bits bits, grown", $table, $bits, 'within', 'nearest 1', 'nearest 30', $is_long ? ('near', 'equal', 'generic', 'workers', 'nearest ALL') : ());
	$node->safe_psql('postgres', "DELETE FROM $table WHERE id % 7 = 0; UPDATE $table SET code = ~code WHERE id % 11 = 0; UPDATE $table SET code = NULL WHERE id % 97 = 0");
	sound("$bits bits, changed", $table, '>=');
	compare("$bits bits, changed", $table, $bits, 'within', 'nearest 30') if $is_long;
	$node->safe_psql('postgres', "VACUUM $table");
	sound("$bits bits, vacuumed", $table, '=');
	next unless $is_long;
	compare("$bits bits, vacuumed", $table, $bits, 'bitmap', 'near', 'nearest 30');
	$node->safe_psql('postgres', "ALTER INDEX ${table}_code RESET (radius); REINDEX INDEX ${table}_code");
	sound("$bits bits, built anew", $table, '=');
	compare("$bits bits, built anew", $table, $bits, 'near', 'nearest 30');
}

# ---- with little memory ----

# One page of small rows and many with few rows, so that there are many places for rows; codes of which many are near.
create_codes($node, 'memory', 128, 150);
$node->safe_psql('postgres', 'ALTER TABLE memory SET (fillfactor = 10)');
create_codes($node, 'memory', 128, 2000, 1000);
$node->safe_psql('postgres', q{
	INSERT INTO memory SELECT i, (CASE WHEN i % 4 = 0 THEN sparse_code(i, 5) ELSE sparse_code(1, 3) END)::bit(128) FROM generate_series(4001, 14000) i;
	CREATE INDEX memory_code ON memory USING simhash (code) WITH (radius = 5);
	ALTER DATABASE postgres SET work_mem = 64});
compare('little memory', 'memory', 128, 'within', 'bitmap', 'nearest 1', 'nearest 5000', 'nearest ALL');
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET work_mem');
# What a scan has taken when it has returned most rows: less where there is less, so the limit of the rows it remembers was met.
my ($little, $much) = map { $node->safe_psql('postgres', qq{
	SET work_mem = $_; SET enable_seqscan = off; SET enable_bitmapscan = off;
	BEGIN;
	DECLARE scan CURSOR FOR SELECT id FROM memory WHERE code <~~> (SELECT sparse_code(1, 3)::bit(128)) <= 5;
	MOVE 7000 IN scan;
	SELECT used_bytes FROM pg_backend_memory_contexts WHERE name = 'simhash scan'}) } 64, 65536;
cmp_ok($little, '<', $much - 40_000, 'a scan with little memory takes less');

# ---- builds ----

create_codes($node, 'built', 256, 8000);
$node->safe_psql('postgres', 'CREATE INDEX built_code ON built USING simhash (code)');
sub checked { return $node->safe_psql('postgres', q{SELECT rows, fingerprints, orphans FROM simhash_index_check('built_code', true)}) }
my $built = checked();
for my $how ('CREATE INDEX', 'CREATE INDEX CONCURRENTLY')
{
	my (undef, undef, $messages) = $node->psql('postgres', qq{
		ALTER TABLE built SET (parallel_workers = 2);
		DROP INDEX built_code;
		SET client_min_messages = debug1;
		SET maintenance_work_mem = '96MB';
		$how built_code ON built USING simhash (code)});
	like($messages, qr/simhash build: 2 of 2 workers/, "$how by workers");
	is(checked(), $built, "$how by workers: as one backend builds it");
	compare("$how by workers", 'built', 256, 'within', 'nearest 30');
}
$node->safe_psql('postgres', q{SET maintenance_work_mem = '1MB'; REINDEX INDEX CONCURRENTLY built_code});
is(checked(), $built, 'REINDEX CONCURRENTLY with little memory: the same');
compare('REINDEX CONCURRENTLY with little memory', 'built', 256, 'bitmap', 'near');

# ---- scopes ----

$node->safe_psql('postgres', q{
	CREATE TABLE scoped AS SELECT id, code, nullif(id % 5, 4) AS tenant FROM built;
	CREATE INDEX scoped_code ON scoped USING simhash (code, tenant);
	UPDATE scoped SET tenant = tenant + 1 WHERE id % 9 = 0;
	VACUUM scoped;
	CREATE VIEW second AS SELECT id, code FROM scoped WHERE tenant = 2;
	CREATE VIEW without AS SELECT id, code FROM scoped WHERE tenant IS NULL});
sound('with a scope', 'scoped', '=');
compare("scope $_", $_, 256, 'within', 'near', 'equal') for 'second', 'without';
my $nearest = q{SELECT string_agg(distances, ' ' ORDER BY id) FROM (SELECT id, code FROM scoped WHERE id % 997 = 2) asked, LATERAL (
	SELECT string_agg(distance::text, ',') AS distances FROM (SELECT code <~~> asked.code AS distance FROM second ORDER BY 1 LIMIT 20) d) n};
is($node->safe_psql('postgres', "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; $nearest"), $node->safe_psql('postgres', "SET enable_indexscan = off; $nearest"),
	'scope second: the nearest');
# The server returns rows that it holds back without their ctid, so these plans must not.
for my $query ('SELECT id FROM built ORDER BY code <~~> (SELECT code FROM built WHERE id = 6) LIMIT 3 FOR UPDATE', 'SELECT ctid FROM built ORDER BY code <~~> (SELECT code FROM built WHERE id = 6) LIMIT 3',
	q{SELECT id FROM built WHERE ctid <> '(0,1)' ORDER BY code <~~> (SELECT code FROM built WHERE id = 6) LIMIT 3})
{
	is($node->safe_psql('postgres', "SET enable_seqscan = off; SET enable_sort = off; $query"), $node->safe_psql('postgres', $query), $query);
	unlike($node->safe_psql('postgres', "SET enable_seqscan = off; SET enable_sort = off; EXPLAIN $query"), qr/Order By/, '... sorted');
}

# ---- constraints ----

$node->safe_psql('postgres', q{
	CREATE TABLE kept (id integer, code bit(256), CONSTRAINT far_apart EXCLUDE USING simhash (code WITH =~~) DEFERRABLE);
	CREATE TABLE kept_by_tenant (code bit(256), tenant integer, EXCLUDE USING simhash (code WITH =~~, tenant WITH =));
	INSERT INTO kept_by_tenant SELECT code, id % 2 FROM built WHERE id < 20 AND id % 6 < 2 ON CONFLICT DO NOTHING;
	INSERT INTO kept SELECT id, code FROM built WHERE id < 60 AND id % 6 IN (0, 2)});
my $near = "set_bit(set_bit(code, 100, 1 - get_bit(code, 100)), 7, 1 - get_bit(code, 7))";
my $refused = qr/ERROR:  conflicting key value violates exclusion constraint/;
sub refused
{
	my ($what, $sql, $expected) = @_;
	my (undef, undef, $error) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql", on_error_stop => 1);
	like($error, $expected, $what);
	return;
}
refused('a near code is refused', "INSERT INTO kept SELECT 100, $near FROM kept WHERE id = 6", qr/ERROR:  23P01/);
refused('at the end of a transaction, where the constraint is deferred',
	"BEGIN; SET CONSTRAINTS far_apart DEFERRED; INSERT INTO kept SELECT 100, $near FROM kept WHERE id = 6; SELECT 1; COMMIT", qr/ERROR:  23P01/);
is($node->safe_psql('postgres', qq{
		BEGIN;
		SET CONSTRAINTS far_apart DEFERRED;
		INSERT INTO kept SELECT 100, $near FROM kept WHERE id = 6;
		DELETE FROM kept WHERE id = 6;
		COMMIT;
		SELECT count(*) FROM kept WHERE id IN (6, 100)}), 1, 'deferred: what is removed before the end is no conflict');
$node->safe_psql('postgres', 'VACUUM kept');
is($node->safe_psql('postgres', q{
		INSERT INTO kept_by_tenant SELECT code, 2 FROM kept_by_tenant WHERE tenant = 1;
		INSERT INTO kept_by_tenant SELECT code, 1 FROM kept_by_tenant WHERE tenant = 2 ON CONFLICT DO NOTHING;
		SELECT count(*) FILTER (WHERE tenant = 1) = count(*) FILTER (WHERE tenant = 2) FROM kept_by_tenant}), 't', 'a constraint within scopes');

# ---- dump and restore ----

$node->safe_psql('postgres', 'CREATE DATABASE copy');
system_or_bail('sh', '-c', sprintf(q{pg_dump -t built -t scoped -t kept -t kept_by_tenant '%s' | psql -q -X -v ON_ERROR_STOP=1 -d '%s' >/dev/null},
	$node->connstr('postgres'), $node->connstr('copy'))) if $node->safe_psql('copy', 'CREATE EXTENSION simhash') eq '';
for my $index ('built_code', 'scoped_code', 'far_apart')
{
	my ($there, $here) = map { $node->safe_psql($_, qq{
		SELECT (SELECT rows FROM simhash_index_check('$index', true)), pg_get_indexdef('$index'::regclass)}) } 'copy', 'postgres';
	is($there, $here, "$index, restored");
}

# ---- what is refused ----

$node->safe_psql('postgres', q{
	CREATE DOMAIN pdq AS bit(256);
	CREATE TABLE other (id integer, varying bit varying, shorter bit varying(256), long bit(1025), hash pdq, code bit(256), half bit(128));
	INSERT INTO other (id, hash, code, half) SELECT id, code, code, code::bit(128) FROM built;
	CREATE INDEX other_code ON other USING simhash (code);
	CREATE INDEX other_hash ON other USING simhash (hash);
	CREATE INDEX other_whole ON other USING simhash (((half || ~half)::bit(256)))});
for (
	[ 'varying', '42804.*must be a fingerprint, of type bigint or bit.*"varying" is of type bit varying' ],
	[ 'shorter', '42804.*"shorter" is of type bit varying\(256\)' ],
	[ 'long', '54000.*1025 bits' ],
	[ '(code # hash)', '42804.*must have values of one length' ],
	[ '(half || half)', '42804.*of type bit varying' ])
{
	my ($column, $expected) = @$_;
	refused("no index on $column", "CREATE INDEX ON other USING simhash ($column)", qr/ERROR:  $expected.*HINT/s);
}
for my $condition ("code <~~> B'101' <= 3", "code <\@ bit_ball(B'101', 3)", "code =~~ B'101'", "hash <~~> B'101' <= 3", "TRUE ORDER BY code <~~> B'101'")
{
	refused("$condition: an error of the operator $_->[0]", "$_->[1]; SELECT FROM other WHERE $condition", qr/ERROR:  22026: cannot compare bit strings of different sizes/)
		for [ 'in a scan', 'SET enable_indexscan = off; SET enable_bitmapscan = off' ], [ 'by the index', 'SET enable_seqscan = off; SET enable_sort = off' ];
}
is($node->safe_psql('postgres', q{SET enable_seqscan = off; SELECT count(*) FROM other WHERE code = B'101'}), 0, 'no value equals one of another length');
refused('a value of another length', q{INSERT INTO other (code) VALUES ('101')}, qr/ERROR:  22026/);
for (
	[ 'other_hash', 'hash <~~> (SELECT code FROM other WHERE id = 6) <= 31' ],
	[ 'other_whole', '(half || ~half)::bit(256) <~~> (SELECT (half || ~half)::bit(256) FROM other WHERE id = 6) <= 31' ])
{
	my ($index, $condition) = @$_;
	my $by_index = 'SET enable_seqscan = off; SET enable_bitmapscan = off';
	my $query = "SELECT count(*), sum(id) FROM other WHERE $condition";
	like($node->safe_psql('postgres', "$by_index; EXPLAIN $query"), qr/Index Scan using $index on other/, "$index is used");
	is($node->safe_psql('postgres', "$by_index; $query"), $node->safe_psql('postgres', "SET enable_indexscan = off; SET enable_bitmapscan = off; $query"), "$index: its rows");
}
my ($shown) = run_command([ 'psql', '-X', '-d', $node->connstr('postgres'), '-c', '\d kept' ]);
like($shown, qr/"far_apart" EXCLUDE USING simhash \(code WITH =~~\) DEFERRABLE/, '\d shows the constraint');
is($node->safe_psql('postgres', q{SELECT count(*) > 1, bool_and(amvalidate(c.oid)) FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE amname = 'simhash'}), 't|t',
	'the operator classes are valid');
note("compared: $total queries with brute force");
$node->stop;
done_testing();
