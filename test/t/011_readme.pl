# The SQL of README.md and of four pages of docs runs as printed, in its order, in a database of its own, and finds what the text around it says.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $top = "$FindBin::RealBin/../..";
my $node = start_node('readme', no_extension => 1);

# The page's blocks of SQL: [SQL, what it prints, where the page has a plain block right after it].
sub blocks_of
{
	my ($page) = @_;
	my @blocks;
	my $text = slurp_file("$top/$page");
	push @blocks, [ $1, $2 ] while $text =~ /^```sql\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?/msg;
	return @blocks;
}

# Without what differs between psql in a terminal and here: blanks at the ends of lines, empty lines, places of errors.
sub plain
{
	my ($text) = @_;
	$text =~ s/^psql:<stdin>:\d+: //mg;
	$text =~ s/^LINE \d+: .*\n.*\n//mg;
	$text =~ s/[ \t]+$//mg;
	$text =~ s/\n+/\n/g;
	return $text =~ s/\A\n|\n\z//gr;
}

# ---- README.md ----

my @blocks = blocks_of('README.md');
cmp_ok(scalar(@blocks), '>=', 4, 'README has SQL');

# What the statements of a block print.
my %printed;
for my $block (map { $_->[0] } @blocks)
{
	my ($first) = $block =~ /\A(.*)/;
	my ($code, $output, $errors) = $node->psql('postgres', $block);
	is("$code $errors", '0 ', "runs: $first");
	$printed{$first} = $output;
}

sub printed_by
{
	my ($beginning) = @_;
	my ($block) = grep { /^\Q$beginning\E/ } keys %printed;
	return [split /\n/, $printed{ $block // die "README has no block that begins with $beginning" }];
}

my $lines = printed_by('CREATE TABLE pages');
is_deeply([sort @$lines[0, 1]], [1, 2], 'two near-duplicates');
is_deeply([@$lines[2 .. $#$lines]], ['1|2|1'], '... which are the only pair');
is($node->safe_psql('postgres', 'SELECT string_agg(id::text, \' \' ORDER BY id) FROM pages'), '1 3', 'the first of the two stays, and a copy is not inserted');
like(slurp_file("$top/README.md"), qr/with\s+April\s+in\s+place\s+of\s+March\s+the\s+first\s+page\s+keeps\s+\.68\s+of\s+its\s+shingles/, 'a miss is named');
is($node->safe_psql('postgres', q{SELECT round(shingle_similarity(body, replace(body, 'March', 'April'))::numeric, 2) FROM pages WHERE id = 1}), '0.68', '... as it is');
like($node->safe_psql('postgres', 'SET enable_seqscan = off; EXPLAIN SELECT id FROM pages WHERE near_duplicate(body, \'a\', 0.6)'), qr/no_copies/,
	'near_duplicate() uses the same index');
is_deeply(printed_by('CREATE INDEX pages_passages'), [1], 'the page of which the text has a part');
$lines = printed_by('CREATE TABLE docs');
is(scalar(grep { /^\d\|[A-Z]/ } @$lines), 2, 'both documents in order of distance');
like($lines->[-2], qr/\|The boat house/, '... the nearer one first');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_index WHERE indrelid = \'docs\'::regclass'), 4, 'the constraint and the index with options were made');

# ---- pages that print what their statements print ----

for my $page ('docs/constraints.md', 'docs/clusters.md', 'docs/choosing.md', 'docs/passages.md')
{
	my ($database) = $page =~ m!/(.*)\.md!;
	$node->safe_psql('postgres', qq(CREATE DATABASE "$database"));
	$node->safe_psql($database, 'CREATE EXTENSION simhash');
	@blocks = blocks_of($page);
	cmp_ok(scalar(@blocks), '>=', 1, "$page has SQL");
	for my $block (@blocks)
	{
		my ($sql, $expected) = @$block;
		my ($first) = $sql =~ /\A(.*)/;
		my ($code, $output, $errors) = $node->psql($database, $sql,
			on_error_stop => 0, extra_params => [ '-P', 'format=aligned', '-P', 'tuples_only=off' ]);
		is(plain("$output\n$errors"), plain($expected // ''), "$page: $first");
	}
}

my $database = 'photos';

# ---- hashes of 256 bits: the page's statement finds what the sequential scan finds, by the index ----

{
	my ($photos) = grep { /PREPARE photos_near/ } map { $_->[0] } blocks_of('docs/fingerprints.md');
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

# ---- beside another operator <~> a pair of literals needs a type ----

$node->safe_psql($database, q{
	CREATE FUNCTION distance_of_bits(bit, bit) RETURNS double precision LANGUAGE sql IMMUTABLE AS 'SELECT bit_count($1 # $2)::double precision';
	CREATE OPERATOR <~> (FUNCTION = distance_of_bits, LEFTARG = bit, RIGHTARG = bit, COMMUTATOR = <~>)});
my (undef, undef, $ambiguous) = $node->psql($database, q{SELECT '1' <~> '2'});
like($ambiguous, qr/ERROR:  operator is not unique: unknown <~> unknown/, 'literals without a type, as the page says');
is($node->safe_psql($database, q{SELECT '1'::bigint <~> '2', '1' <~> 2::bigint}), '2|2', 'one side has a type');
is($node->safe_psql('postgres', q{SELECT '1' <~> '2'}), 2, 'no type is needed where there is one such operator');

# Rows of a table: what is an error, its message, what is none.
my $page = slurp_file("$top/docs/fingerprints.md");
my @mistakes = $page =~ /^\| `([^`]+)` \| ([^|`]+) \| `([^`]+)` \|$/mg;
cmp_ok(scalar(@mistakes) / 3, '>=', 6, 'types that do not fit');
while (my ($wrong, $message, $right) = splice(@mistakes, 0, 3))
{
	my ($code, $output, $errors) = $node->psql('postgres', "SELECT $wrong");
	like($errors, qr/ERROR:  \Q$message\E$/m, "refused: $wrong");
	($code, $output, $errors) = $node->psql('postgres', "SELECT $right");
	is("$code $errors", '0 ', "runs: $right");
}

$node->stop;
done_testing();
