# The SQL of README.md and of each page of docs runs as printed, in its order, beside tables of the reader's that it leaves as
# they are, and finds what the text around it says.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use MarkdownExamples;
use SimhashTest;
use Test::More;

my $top = "$FindBin::RealBin/../..";
my $node = start_node('readme', no_extension => 1);

# Without what differs between psql in a terminal and here: blanks at the ends of lines, empty lines, places of errors.
sub plain
{
	my ($text) = @_;
	$text =~ s/^LINE \d+: .*\n.*\n//mg;
	$text =~ s/[ \t]+$//mg;
	$text =~ s/\n+/\n/g;
	return $text =~ s/\A\n|\n\z//gr;
}

# ---- the reader's tables ----

# A database where the reader has tables of the names that the page uses, with copies among their rows.
sub database_with_tables
{
	my ($database, @names) = @_;
	$node->safe_psql('postgres', qq(CREATE DATABASE "$database"));
	$node->safe_psql($database, join('', map { qq{
		CREATE TABLE $_ (id bigserial PRIMARY KEY, name text, body text);
		INSERT INTO $_ (name, body) SELECT i, 'The ferry does not run on Sunday, says text number ' || i / 3 FROM generate_series(1, 30) i;} } @names));
	return;
}

sub rows_of
{
	my ($database, @names) = @_;
	return $node->safe_psql($database, join('', map { "SELECT '$_', count(*), sum(hashtextextended(t::text, 0)) FROM public.$_ t;" } @names));
}

sub is_created
{
	my ($text) = @_;
	my %names = map { $_ => 1 } $text =~ /^\s*CREATE TABLE (\w+)/mg;
	return sort keys %names;
}

# ---- README.md, in one session, where the reader has loaded a folder as README says ----

my $readme = slurp_file("$top/README.md");
my @blocks = read_examples($readme);
cmp_ok(scalar(@blocks), '>=', 4, 'README has SQL');
my ($loaded) = $readme =~ /-c '(CREATE TABLE \w+ \(.*?\))'/ or die 'README loads a folder';
my ($own) = is_created($loaded);
unlike(join(' ', map { $_->{sql} } @blocks), qr/\b$own\b/, "no statement names the reader's table, $own");
database_with_tables('readme', 'docs');
$node->safe_psql('readme', "$loaded; INSERT INTO $own (name, body) SELECT i, repeat('The boat house is closed for repairs of the roof. ', i % 4 + 1)
	FROM generate_series(1, 300) i");
my $before = rows_of('readme', $own, 'docs');
my @outputs = run_examples($node, 'readme', "\\pset format unaligned\n\\pset tuples_only on\n", @blocks);
unlike(join('', @outputs), qr/ERROR|WARNING|NOTICE/, 'every statement runs');
is(rows_of('readme', $own, 'docs'), $before, "the reader's rows stay as they are");

sub printed_by
{
	my ($beginning) = @_;
	my ($i) = grep { $blocks[$_]->{sql} =~ /^\Q$beginning\E/ } 0 .. $#blocks;
	return [split /\n/, $outputs[ $i // die "README has no block that begins with $beginning" ]];
}

my $lines = printed_by('CREATE TABLE leaflets');
is_deeply([sort @$lines[0, 1]], [1, 2], 'two near-duplicates');
is_deeply([@$lines[2 .. $#$lines]], ['1|2|1'], '... which are the only pair');
is($node->safe_psql('readme', 'SELECT string_agg(id::text, \' \' ORDER BY id) FROM leaflets'), '1 3', 'the first of the two stays, and a copy is not inserted');
like($readme, qr/with\s+April\s+in\s+place\s+of\s+March\s+the\s+first\s+leaflet\s+keeps\s+\.68\s+of\s+its\s+shingles/, 'a miss is named');
is($node->safe_psql('readme', q{SELECT round(shingle_similarity(body, replace(body, 'March', 'April'))::numeric, 2) FROM leaflets WHERE id = 1}), '0.68', '... as it is');
like($node->safe_psql('readme', 'SET enable_seqscan = off; EXPLAIN SELECT id FROM leaflets WHERE near_duplicate(body, \'a\', 0.6)'), qr/no_copies/,
	'near_duplicate() uses the same index');
is_deeply(printed_by('CREATE INDEX leaflets_passages'), [1], 'the leaflet of which the text has a part');
$lines = printed_by('CREATE TABLE archive');
is(scalar(grep { /^\d\|[A-Z]/ } @$lines), 2, 'both documents in order of distance');
like($lines->[-2], qr/\|The boat house/, '... the nearer one first');
is($node->safe_psql('readme', 'SELECT count(*) FROM pg_index WHERE indrelid = \'archive\'::regclass'), 3, 'the constraint was made');

# ---- what Troubleshooting says of an extension that is in another schema, or in none ----

$node->safe_psql('postgres', 'CREATE DATABASE elsewhere');
my $fails = sub {
	my ($statement, $error) = @_;
	my (undef, undef, $message) = $node->psql('elsewhere', $statement);
	like($message, qr/ERROR:  \Q$error\E/, $statement);
	like($readme =~ s/\s+/ /gr, qr/\Q${\ ($error =~ s!\(.*\)!(…)!r)}\E/, '... is in README');
};
$node->safe_psql('elsewhere', 'CREATE TABLE texts (body text)');
$fails->('CREATE INDEX ON texts USING simhash (body)', 'access method "simhash" does not exist');
$node->safe_psql('elsewhere', 'CREATE SCHEMA ext; CREATE EXTENSION simhash SCHEMA ext');
$fails->(q{SELECT FROM texts WHERE body =~~ 'a'}, 'operator does not exist: text =~~ unknown');
$fails->('CREATE INDEX ON texts USING simhash (body passage_ops)', 'operator class "passage_ops" does not exist');
like(($node->psql('elsewhere', q{SELECT near_duplicate('a', 'a')}))[2], qr/function near_duplicate\(.*\) does not exist/, 'a function');
is($node->psql('elsewhere', q{CREATE INDEX ON texts USING simhash (body ext.passage_ops); SELECT ext.near_duplicate(body, 'a') FROM texts WHERE body OPERATOR(ext.=~~) 'a'}),
	0, 'with the schema');
$node->safe_psql('postgres', 'ALTER DATABASE elsewhere SET search_path = "$user", public, ext');
is($node->psql('elsewhere', q{CREATE INDEX ON texts USING simhash (body passage_ops); SELECT FROM texts WHERE body =~~ 'a'}), 0, 'with the search_path');

# ---- docs' pages, each in one session, where the reader has a table of each name that the page creates ----

for my $page ('constraints', 'clusters', 'choosing', 'passages', 'fingerprints', 'pictures', 'administration', 'reference')
{
	my @examples = read_examples(slurp_file("$top/docs/$page.md"));
	cmp_ok(scalar(@examples), '>=', 1, "docs/$page.md has SQL");
	my $scripts = join('', map { $_->{sql} =~ /^\\i (\S+)/m ? slurp_file("$top/$1") : '' } @examples);
	my @names = is_created(join('', $scripts, map { $_->{sql} } @examples));
	database_with_tables($page, @names);
	# The first example of the reference does so.
	$node->safe_psql($page, 'CREATE EXTENSION simhash') if $page ne 'reference';
	my $rows = rows_of($page, @names);
	my @printed = run_examples($node, $page, "\\pset footer off\n", @examples);
	is(rows_of($page, @names), $rows, "docs/$page.md: the reader's " . join(', ', @names) . ' stay as they are');
	# The outputs of the reference are compared by 014_reference.
	next if $page eq 'reference';
	for my $i (0 .. $#examples)
	{
		my ($first) = $examples[$i]->{sql} =~ /\A(.*)/;
		my $printed = plain($printed[$i] // '');
		# Pages that are not about results leave out some.
		if ($page =~ /fingerprints|administration/ && $examples[$i]->{output} eq '') { unlike($printed, qr/ERROR/, "docs/$page.md runs: $first"); }
		else { is($printed, plain($examples[$i]->{output}), "docs/$page.md: $first"); }
	}
}

# ---- all indexes, one of which CREATE INDEX CONCURRENTLY left invalid ----

{
	my ($all) = grep { /indisvalid/ } map { $_->{sql} } read_examples(slurp_file("$top/docs/administration.md"));
	$node->safe_psql('administration', q{CREATE ROLE monitor IN ROLE pg_monitor;
		UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'administration.pages_passages'::regclass});
	my $listed = $node->safe_psql('administration', "SET ROLE monitor; $all");
	like($listed, qr/no_copies\|administration.pages\|no_copies\|valid\|\d+ kB\|\d/, 'a member of pg_monitor sees all indexes');
	like($listed, qr/pages_passages\|administration.pages\|\|invalid: drop it, or REINDEX\|\d+ kB\|$/m, '... one of them invalid');
}

# ---- a folder: the commands of README, and those that the demo prints for a server that is there ----

{
	my $dir = PostgreSQL::Test::Utils::tempdir;
	my $report = PostgreSQL::Test::Utils::tempdir . '/report.html';
	my $boat = 'The boat house is closed from the first to the fifteenth of March for repairs of the roof.';
	write_file("$dir/$_->[0]", $_->[1]) for [ "a'b.txt", $boat ], [ 'a b', uc $boat ], [ 'recipe.txt', 'Fry an onion in olive oil.' ], [ 'none', "\0" ];
	local @ENV{qw(PGHOST PGPORT)} = ($node->host, $node->port);
	delete local $ENV{PG_CONFIG};
	my $bash = sub {
		my ($commands, @arguments) = @_;
		my ($printed, $said) = ('', '');
		IPC::Run::run([ 'bash', '-euc', "cd '$top'\n$commands", 'bash', @arguments ], '<', '/dev/null', '>', \$printed, '2>', \$said) or diag($said);
		return $printed;
	};
	my ($commands) = $readme =~ /^(createdb texts\n.*?)^```$/ms or die 'README loads a folder';
	my $printed = $bash->($commands =~ s/~\/texts/'$dir'/r =~ s/>report\.html/>'$report'/r);
	like($printed, qr/COPY 3\n/, 'README: the text files of a folder are loaded');
	like($printed, qr/^(?=.*\/a'b\.txt )(?=.*\/a b ).*\| +1\n\(1 row\)/m, '... near-duplicates found by name');
	like(slurp_file($report), qr/<b>3<\/b> documents/, '... and reported');

	my ($by_hand) = slurp_file("$top/scripts/demo.sh") =~ /^(cat <<STATEMENTS\n.*?^STATEMENTS\n)/ms or die 'the demo prints commands';
	# The demo's database is README's here.
	my $demo = q{folder=$1 id="(SELECT id FROM pages WHERE name LIKE '%a''b.txt')"; run_psql() { psql -X texts "$@"; }};
	$printed = $bash->($bash->("$demo\n" . $by_hand =~ s/FROM docs(?= WHERE id)/FROM pages/r, $dir));
	like($printed, qr/a'b\.txt\n.*\(2 rows\)/, 'the demo: commands that it prints for a server find near-duplicates');
	like($printed, qr/DROP INDEX\nDELETE 1\nALTER TABLE\n\z/, '... remove them and refuse more');
}

# ---- files in, groups out ----

{
	my $dir = PostgreSQL::Test::Utils::tempdir;
	write_file("$dir/pages.jsonl", join('', map { qq({"url": "line $_", "text": "The \\"boat, house\\" is\\nclosed \\\\ for repairs"}\n) } 1, 2));
	write_file("$dir/pages.csv", qq{name,body\n"of, CSV","the boat ""house"" is closed: for repairs!"\n});
	my $names = sub { return $_[0] =~ s/'(?=(?:pages|groups)\.)/'$dir\//gr };
	my @examples = map { { %$_, sql => $names->($_->{sql}) } } read_examples(slurp_file("$top/docs/programs.md"));
	database_with_tables('programs', 'pages', 'groups');
	$node->safe_psql('programs', 'CREATE EXTENSION simhash');
	my $rows = rows_of('programs', 'pages', 'groups');
	is(join('', run_examples($node, 'programs', '', @examples)), '', 'docs/programs.md: files are loaded');
	is(rows_of('programs', 'pages', 'groups'), $rows, '... and no row of the reader changes');
	is(slurp_file("$dir/groups.csv"), qq{name,original,similarity\nline 2,line 1,1\n"of, CSV",line 1,1\n}, '... their groups written');
}

# ---- recipes of Troubleshooting ----

$node->safe_psql('postgres', q{
	CREATE EXTENSION simhash;
	CREATE TABLE mails (body text, sent timestamptz, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
	INSERT INTO mails SELECT CASE WHEN i % 4 = 0 THEN 'the boat house is closed ' || i % 200 ELSE md5(i::text) END, timestamptz '2026-01-01' + i * interval '1 min'
		FROM generate_series(1, 20000) i;
	CREATE INDEX ON mails USING simhash (body); CREATE INDEX mails_fp ON mails USING simhash (fp); CREATE INDEX ON mails (sent); ANALYZE mails;
	ALTER TABLE mails ENABLE ROW LEVEL SECURITY;
	CREATE POLICY own ON mails USING (sent > '2026-01-05'); CREATE ROLE reader; GRANT SELECT ON mails TO reader});
my ($outer) = $readme =~ /^ {4}(SELECT \* FROM \(SELECT \* FROM mails.*)$/m or die 'README has the recipe';
my $planned = $node->safe_psql('postgres', 'SET enable_seqscan = off; EXPLAIN (COSTS OFF) ' . $outer =~ s/\$1/'the boat house is closed 4'/r);
like($planned, qr/Sort.*Index Cond: \(body =~~/s, 'OFFSET 0: the search comes first');
my ($secured) = $readme =~ /(fp <~> \(SELECT.*?body\s=~~\s\$1)/s or die 'README has the condition';
$planned = $node->safe_psql('postgres', 'SET ROLE reader; SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT FROM mails WHERE '
	. $secured =~ s/\$1/'the boat house is closed 4'/gr);
like($planned, qr/Filter: \(\(sent >.*mails_fp\n\s+Index Cond: \(fp <@/s, 'row-level security: fingerprints by the index');

my $database = 'photos';

# ---- hashes of 256 bits: the page's statement finds what the sequential scan finds, by the index ----

{
	my ($photos) = grep { /PREPARE photos_near/ } map { $_->{sql} } read_examples(slurp_file("$top/docs/pictures.md"));
	my ($table, $statement) = $photos =~ /\A(CREATE TABLE.*?)^(PREPARE photos_near.*?;\n)/ms;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, "CREATE EXTENSION simhash; $table");
	# Every tenth photo is a copy of the one before, in which up to 45 bits were changed: evenly, or in one or two words only.
	$node->safe_psql($database, q{
		CREATE FUNCTION some_hash(i integer) RETURNS bit(256) LANGUAGE sql IMMUTABLE AS $$
			SELECT ('x' || md5(i::text) || md5('photo' || i))::bit(256) $$;
		CREATE FUNCTION changed(hash bit(256), i integer) RETURNS bit(256) LANGUAGE plpgsql IMMUTABLE AS $$
			BEGIN
				FOR k IN 1 .. i / 10 % 46 LOOP
					hash := hash # (1::bit(256) << (abs(hashint8extended(k, i)) % (64 << (i / 10 % 3)))::integer);
				END LOOP;
				RETURN hash;
			END $$;
		INSERT INTO photo SELECT 100 + i, CASE WHEN i % 10 = 0 THEN changed(some_hash(i - 1), i) ELSE some_hash(i) END
			FROM generate_series(1, 4000) i;
		ANALYZE photo});
	my $queries = $node->safe_psql($database, 'SELECT pdq FROM photo WHERE id % 10 = 9');
	my $found = $node->safe_psql($database, join('', "SET enable_seqscan = off;\n$statement",
		map { "EXECUTE photos_near(b'$_');\n" } split /\n/, $queries));
	my $expected = $node->safe_psql($database, q{
		SET enable_indexscan = off; SET enable_bitmapscan = off;
		SELECT p.id, bit_count(p.pdq # q.pdq) AS distance FROM photo q JOIN photo p ON bit_count(p.pdq # q.pdq) <= 31
		WHERE q.id % 10 = 9 ORDER BY q.ctid, distance, p.id});
	is($found, $expected, 'photos within 31 of 256 bits, as the sequential scan finds them');
	my @distances = map { (split /\|/)[1] } split /\n/, $expected;
	cmp_ok(scalar(grep { $_ > 20 } @distances), '>=', 30, 'some of them far');
	my ($first) = split /\n/, $queries;
	my $plan = $node->safe_psql($database, "SET enable_seqscan = off; $statement EXPLAIN (COSTS OFF) EXECUTE photos_near(b'$first')");
	like($plan, qr/Scan (using|on) photo_pdq\b.*Index Cond: \(pdq <\@/s, 'by the index');
}

# ---- the expressions of an index on bytes, and those that programs send and read ----

like($node->safe_psql('pictures', q{SET search_path = pictures, public; SET enable_seqscan = off;
	CREATE TABLE frame (dhash bytea); CREATE INDEX frame_dhash ON frame USING simhash ((code_from_hex(encode(dhash, 'hex'), 64)::bit(64)));
	EXPLAIN (COSTS OFF) SELECT FROM frame WHERE code_from_hex(encode(dhash, 'hex'), 64)::bit(64) <~~> x'd4c4b2a39b6a5950' <= 6}),
	qr/Scan (using|on) frame_dhash/, 'by the index on the expression');
like(($node->psql('pictures', q{INSERT INTO pictures.frame VALUES ('\xd4c4b2a39b6a59')}))[2], qr/14 digits, which are not those of 64 bits/, '... which takes no other length');
my ($reversed) = slurp_file("$top/docs/programs.md") =~ /lowest bit first \| `(code_from_hex\(.*?\))` \|/ or die 'docs/programs.md reverses bits';
is($node->safe_psql('pictures', "SELECT count(*) FROM (SELECT set_byte('\\x00b1'::bytea, 0, i) AS given, i FROM generate_series(0, 255) i) b
	WHERE " . $reversed =~ s/\$1/given/r . " <> reverse(i::bit(8)::text)::bit(8) || B'10001101'"), 0, 'bytes with the lowest bit first');
is($node->safe_psql('pictures', q{SELECT encode(substring(bit_send(code) FROM 5), 'hex') = '00d4c4b2a39b6a59503b', substring(bit_send(code) FROM 5) = bytes
	FROM (VALUES ('\x00d4c4b2a39b6a59503b'::bytea)) v (bytes), code_from_hex(encode(bytes, 'hex')) code}), 't|t', 'codes in digits and bytes, and back');
is($node->safe_psql('pictures', q{SELECT simhash_from_hex(encode(decode(simhash_to_hex(fp), 'hex'), 'hex')) = fp, fp::bit(64)::bigint = fp,
	simhash_from_unsigned(simhash_to_unsigned(fp)) = fp FROM (VALUES (-1089357896855742841)) v (fp)}), 't|t|t', 'fingerprints in bytes, bits and as unsigned numbers');

# ---- beside another operator <~> a pair of literals needs a type ----

$node->safe_psql($database, q{
	CREATE FUNCTION distance_of_bits(bit, bit) RETURNS double precision LANGUAGE sql IMMUTABLE AS 'SELECT bit_count($1 # $2)::double precision';
	CREATE OPERATOR <~> (FUNCTION = distance_of_bits, LEFTARG = bit, RIGHTARG = bit, COMMUTATOR = <~>)});
my (undef, undef, $ambiguous) = $node->psql($database, q{SELECT '1' <~> '2'});
like($ambiguous, qr/ERROR:  operator is not unique: unknown <~> unknown/, 'literals without a type, as the page says');
is($node->safe_psql($database, q{SELECT '1'::bigint <~> '2', '1' <~> 2::bigint}), '2|2', 'one side has a type');
is($node->safe_psql('postgres', q{SELECT '1' <~> '2'}), 2, 'no type is needed where there is one such operator');

$node->stop;
done_testing();
