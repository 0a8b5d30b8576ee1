# The functions of scripts/insert_or_find.sql, which insert a document or find the row of a near one: beside other
# sessions each call gives the id of a row, no near-duplicates are left, and no call fails. What the page says to fail does, and
# the statements that it calls wrong are.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = start_node('insert_or_find');
my $dir = PostgreSQL::Test::Utils::tempdir;

$node->safe_psql('postgres', slurp_file("$FindBin::RealBin/../../scripts/insert_or_find.sql"));

# A session of its own, which is given statements one at a time.
my @sessions;

sub open_session
{
	my ($name) = @_;
	my %session = (in => '', out => '', err => '');
	$session{run} = IPC::Run::start(
		[ 'psql', '-X', '-A', '-q', '-t', '-d', $node->connstr('postgres') . " application_name=$name" ],
		'<', \$session{in}, '>', \$session{out}, '2>', \$session{err},
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	push @sessions, \%session;
	return \%session;
}

sub start_statement
{
	my ($session, $sql) = @_;
	$session->{out} = $session->{err} = '';
	$session->{in} .= "$sql\n\\echo done\n";
	$session->{run}->pump_nb;
	return;
}

# What the statement printed, errors after its rows.
sub printed_by
{
	my ($session) = @_;
	$session->{run}->pump until $session->{out} =~ /^done$/m;
	my $errors = join('', map { /ERROR:  (.*)/ ? "$1\n" : '' } split /^/, $session->{err});
	return ($session->{out} =~ s/^done\n//mr) . $errors;
}

sub run_statement
{
	start_statement(@_);
	return printed_by($_[0]);
}

sub wait_until_blocked
{
	my ($name) = @_;
	my $blocked = "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = '$name' AND wait_event_type = 'Lock'";
	$node->poll_query_until('postgres', $blocked) or die "session $name does not wait";
	return;
}

# One session inserts and stays in its transaction; another one's statement waits for it, and goes on when it ends.
# Returns what each printed.
sub race
{
	my ($first, $second, $end) = @_;
	my ($one, $other) = map { open_session($_) } 'one', 'other';
	my $printed_by_one = run_statement($one, "BEGIN; $first");
	start_statement($other, $second);
	wait_until_blocked('other');
	run_statement($one, $end);
	my $printed_by_other = printed_by($other);
	for my $session ($one, $other)
	{
		$session->{in} .= "\\q\n";
		$session->{run}->finish;
	}
	return ($printed_by_one, $printed_by_other);
}

# ---- one session waits for another ----

my ($one, $other) = race("SELECT original_id('a', 1000);", "SELECT original_id('b', 1001);", 'COMMIT;');
is($other, $one, 'the row of a session that committed is found');
($one, $other) = race("SELECT original_id('a', 2000);", "SELECT original_id('b', 2001);", 'ROLLBACK;');
isnt($other, $one, 'after a rollback the row is inserted');
is($node->safe_psql('postgres', "SELECT url, fp, id = $other FROM originals WHERE fp <~> 2000 <= 3"), 'b|2001|t', '... once');

my $text = 'The boat house is closed from the first to the fifteenth of March for repairs of the roof';
my $other_text = 'Wash three hundred grams of brown lentils, and let them simmer with a bay leaf for twenty five minutes';
my $third_text = 'Trains to the coast leave from platform nine until further notice, as a bridge is being built over the old line';
($one, $other) = race("SELECT id, inserted FROM notice('$text.');", "SELECT id, inserted FROM notice('$text!');", 'COMMIT;');
is($other, $one =~ s/t$/f/mr, 'documents: the row of a session that committed is found');
($one, $other) = race("SELECT * FROM notice('$other_text.');", "SELECT * FROM notice('$other_text!');", 'ROLLBACK;');
like($other, qr/^\d+\|t\|$/, '... and after a rollback the row is inserted');
like(
	(race("SELECT original_id('a', 1099511627775);",
			"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT original_id('b', 1099511627774); ROLLBACK;", 'COMMIT;'))[1],
	qr/^could not serialize access/, 'a repeatable read ends with an error');
like(
	(race("SELECT notice('$third_text.');",
			"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT notice('$third_text!'); ROLLBACK;", 'COMMIT;'))[1],
	qr/^could not serialize access/, '... and of documents, too');

# ---- a row that cannot be seen ----

$node->safe_psql('postgres', q{
	CREATE ROLE guest;
	GRANT ALL ON originals TO guest;
	ALTER TABLE originals ENABLE ROW LEVEL SECURITY;
	CREATE POLICY insert_only ON originals FOR INSERT TO guest WITH CHECK (true);
	CREATE POLICY of_guests ON originals FOR SELECT TO guest USING (url LIKE 'guest%')});
# The limit of time is for a function that tries for ever.
my $as_guest = "SET statement_timeout = '60s'; SET ROLE guest;";
$node->safe_psql('postgres', "SELECT original_id('hidden', 6148914691236517205)");
my (undef, undef, $errors) = $node->psql('postgres', "$as_guest SELECT original_id('guest', 6148914691236517204)");
like($errors, qr/ERROR:  no row near 6148914691236517204 can be seen, and none be inserted/, 'beside a row that cannot be seen the function ends');
$node->safe_psql('postgres', 'ALTER TABLE originals DISABLE ROW LEVEL SECURITY; DROP OWNED BY guest; DROP ROLE guest');

# ---- what the page calls wrong ----

my $in_one_statement = q{WITH new AS (INSERT INTO originals (url, fp) VALUES ('b', %d) ON CONFLICT DO NOTHING RETURNING id)
	SELECT id FROM new UNION ALL SELECT id FROM originals WHERE fp <~> %d <= 3;};
($one, $other) = race("SELECT original_id('a', 4096);", $in_one_statement =~ s/%d/4097/gr, 'COMMIT;');
is($other, '', 'one statement gives no id');
my $merge = q{MERGE INTO %s o USING (VALUES (1125899906842622::bigint)) new (fp) ON o.fp <~> new.fp <= 3
	WHEN NOT MATCHED THEN INSERT (url, fp) VALUES ('b', new.fp);};
($one, $other) = race("SELECT original_id('a', 1125899906842623);", $merge =~ s/%s/originals/r, 'COMMIT;');
like($other, qr/^conflicting key value violates exclusion constraint/, 'MERGE ends with an error');
$node->safe_psql('postgres', 'CREATE TABLE unguarded (url text, fp bigint)');
my ($session) = open_session('merging');
run_statement($session, q{BEGIN; INSERT INTO unguarded VALUES ('a', 1125899906842623);});
$node->safe_psql('postgres', $merge =~ s/%s/unguarded/r);
run_statement($session, 'COMMIT;');
$session->{in} .= "\\q\n";
$session->{run}->finish;
is($node->safe_psql('postgres', 'SELECT count(*) FROM unguarded WHERE hamming(fp, 1125899906842623) <= 3'),
	2, '... and without a constraint both rows stay');

# ---- eight writers ----

sub eight_writers
{
	my ($name, $calls, $script) = @_;
	PostgreSQL::Test::Utils::append_to_file("$dir/$name.sql", $script);
	my ($output, $errors_of_writers) = ('', '');
	my @pgbench = ('pgbench', '-n', '-c', '8', '-j', '2', '-t', $calls, '--random-seed=28', '-f', "$dir/$name.sql", $node->connstr('postgres'));
	ok(IPC::Run::run(\@pgbench, '>', \$output, '2>', \$errors_of_writers), "$name: eight writers are done");
	unlike("$output$errors_of_writers", qr/ERROR|aborted/, "$name: no call failed") or diag($errors_of_writers);
	return;
}

# 300 centres; each fingerprint lies within 0..2 bits of one, so those of a centre may be 4 bits from each other.
$node->safe_psql('postgres', q{
	TRUNCATE originals, notices;
	CREATE TABLE answer (fp bigint NOT NULL, id bigint NOT NULL);
	CREATE TABLE text_answer (body text NOT NULL, id bigint NOT NULL, inserted boolean NOT NULL, similarity double precision)});
eight_writers('fingerprints', 500, <<'SQL');
\set centre random(1, 300)
\set a random(0, 63)
\set b random(0, 63)
SELECT ('x' || md5(:centre::text))::bit(64)::bigint # (1::bigint << :a) # (1::bigint << :b) AS fp \gset
INSERT INTO answer SELECT :fp, original_id('by a writer', :fp);
SQL
is($node->safe_psql('postgres', 'SELECT count(*) FROM answer'), 4000, 'fingerprints: each call got an id');
is($node->safe_psql('postgres', 'SELECT count(*) FROM originals a JOIN originals b ON hamming(a.fp, b.fp) <= 3 AND a.id < b.id'),
	0, 'fingerprints: no two rows are near each other');
is($node->safe_psql('postgres', 'SELECT count(*) FROM answer a LEFT JOIN originals o ON o.id = a.id AND hamming(o.fp, a.fp) <= 3 WHERE o.id IS NULL'),
	0, 'fingerprints: each id is that of a row that is near');
is($node->safe_psql('postgres', 'SELECT count(*) FROM originals o WHERE NOT EXISTS (SELECT FROM answer a WHERE a.id = o.id)'),
	0, 'fingerprints: each row was given to somebody');

# 60 notices of 80 words, of which one may be another one.
eight_writers('texts', 150, <<'SQL');
\set notice random(1, 60)
\set place random(0, 20)
INSERT INTO text_answer
SELECT n.body, found.*
FROM (SELECT string_agg(CASE WHEN i = :place THEN 'changed' ELSE left(md5(:notice || ' ' || i), 6) END, ' ' ORDER BY i) AS body
      FROM generate_series(1, 80) i) n, notice(n.body) found;
SQL
is($node->safe_psql('postgres', 'SELECT count(*) FROM text_answer'), 1200, 'texts: each call got an id');
is($node->safe_psql('postgres', q{
		WITH fingerprint AS MATERIALIZED (SELECT id, body, minhash_code(body) AS code FROM notices)
		SELECT count(*) FROM fingerprint a JOIN fingerprint b ON a.id < b.id
			AND least(bit_count(substring(a.code # b.code, 1, 64)), bit_count(substring(a.code # b.code, 65))) <= 11
		WHERE shingle_similarity(a.body, b.body) >= 0.8}),
	0, 'texts: no two rows are near-duplicates');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM text_answer a LEFT JOIN notices n ON n.id = a.id AND shingle_similarity(n.body, a.body) >= 0.8
		WHERE n.id IS NULL OR similarity <> shingle_similarity(n.body, a.body)}),
	0, 'texts: each id is that of a near-duplicate, with its similarity');
is($node->safe_psql('postgres', 'SELECT count(*) FILTER (WHERE inserted) - (SELECT count(*) FROM notices) FROM text_answer'),
	0, 'texts: each row was inserted once');
is($node->safe_psql('postgres', 'SELECT count(*) FROM notices n WHERE NOT EXISTS (SELECT FROM text_answer a WHERE a.id = n.id)'),
	0, 'texts: each row was given to somebody');
note('measured: ' . $node->safe_psql('postgres',
	q{SELECT (SELECT count(*) FROM originals) || ' rows of 4000 calls by fingerprint, ' || (SELECT count(*) FROM notices) || ' of 1200 by text'}));
$node->stop;
done_testing();
