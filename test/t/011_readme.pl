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
cmp_ok(scalar(@blocks), '>=', 5, 'README has SQL');

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

my $lines = printed_by('CREATE TABLE docs');
is_deeply([sort grep { /^[12]\|\d+$/ } @$lines], [@$lines[0, 1]], 'two near-duplicates') or diag(explain($lines));
like($lines->[2], qr/^[12]\|The boat house/, 'the nearest');
is(scalar(grep { /^\d\|[A-Z]/ } @$lines), 3, 'all three in order of distance');
like($lines->[-1], qr/^1\|2\|[0-3]$/, 'and one pair');
like(slurp_file("$top/README.md"), qr/with\s+April\s+in\s+place\s+of\s+March\s+the\s+first\s+document\s+keeps\s+\.68\s+of\s+its\s+features\s+and\s+is\s+13\s+bits\s+away/, 'a miss is named');
is($node->safe_psql('postgres', q{SELECT fp <~> minhash(replace(body, 'March', 'April')) FROM docs WHERE id = 1}), 13, '... as it is');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pages'), 1, 'the near-duplicate page was not inserted');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_index WHERE indrelid = \'docs\'::regclass'), 3, 'the index with options was made');
$lines = printed_by('SELECT id, simhash_cluster');
is(scalar(@$lines), 3 + $node->safe_psql('postgres', 'SELECT count(*) FROM unnest((SELECT simhash_pairs_agg(fp) FROM docs))'),
	'clusters of all rows, and the pairs');
is(scalar(@$lines), 3, 'no pair of different fingerprints, although two documents are duplicates');
is_deeply(printed_by('SELECT x.id, y.id AS other'), ['1|2|0'], 'the form that reports equal fingerprints, too');
$lines = printed_by('CREATE INDEX ON docs');
is((split /\|/, (grep { /^4\|/ } @$lines)[0])[3], '610.35', 'candidates of the default layout');
is((split /\|/, (grep { /^10\|/ } @$lines)[0])[3], '2.09', 'candidates of 10 tables');
is($node->safe_psql('postgres', 'SELECT probes > 200, round(100 * candidates / 1e7) FROM simhash_layouts(10, 10000000) WHERE tables IN (4, 11) ORDER BY tables'),
	"t|1\nf|5", 'hundreds of prefixes with radius = 10, and a twentieth of the rows with tables = 11');

# ---- pages that print what their statements print ----

for my $page ('docs/fingerprints-from-elsewhere.md', 'docs/constraints.md', 'docs/clusters.md', 'docs/choosing.md')
{
	my ($database) = $page =~ m!/(.*)\.md!;
	$node->safe_psql('postgres', qq(CREATE DATABASE "$database"));
	$node->safe_psql($database, 'CREATE EXTENSION simhash');
	@blocks = blocks_of($page);
	cmp_ok(scalar(@blocks), '>=', 2, "$page has SQL");
	for my $block (@blocks)
	{
		my ($sql, $expected) = @$block;
		my ($first) = $sql =~ /\A(.*)/;
		my ($code, $output, $errors) = $node->psql($database, $sql,
			on_error_stop => 0, extra_params => [ '-P', 'format=aligned', '-P', 'tuples_only=off' ]);
		is(plain("$output\n$errors"), plain($expected // ''), "$page: $first");
	}
}

# ---- hashes of 256 bits: the page's statement finds what the sequential scan finds, by all four indexes ----

{
	my ($statement) = slurp_file("$top/docs/fingerprints-from-elsewhere.md") =~ /^(PREPARE photos_near.*?;\n)/ms;
	my $database = 'fingerprints-from-elsewhere';
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
	my $plan = $node->safe_psql($database, "$statement EXPLAIN (COSTS OFF) EXECUTE photos_near(b'$first')");
	like($plan, qr/BitmapOr\n(\s+->  Bitmap Index Scan on photo_word\d\n\s+Index Cond: .*\n?){4}\z/, 'by a BitmapOr of four index scans');
}

# ---- beside another operator <~> a pair of literals needs a type ----

$node->safe_psql('fingerprints-from-elsewhere', q{
	CREATE FUNCTION distance_of_bits(bit, bit) RETURNS double precision LANGUAGE sql IMMUTABLE AS 'SELECT bit_count($1 # $2)::double precision';
	CREATE OPERATOR <~> (FUNCTION = distance_of_bits, LEFTARG = bit, RIGHTARG = bit, COMMUTATOR = <~>)});
my (undef, undef, $ambiguous) = $node->psql('fingerprints-from-elsewhere', q{SELECT '1' <~> '2'});
like($ambiguous, qr/ERROR:  operator is not unique: unknown <~> unknown/, 'literals without a type, as the page says');
is($node->safe_psql('fingerprints-from-elsewhere', q{SELECT '1'::bigint <~> '2', '1' <~> 2::bigint}), '2|2', 'one side has a type');
is($node->safe_psql('postgres', q{SELECT '1' <~> '2'}), 2, 'no type is needed where there is one such operator');

# Rows of a table: what is an error, its message, what is none.
my $page = slurp_file("$top/docs/fingerprints-from-elsewhere.md");
my @mistakes = $page =~ /^\| `([^`]+)` \| ([^|`]+) \| `([^`]+)` \|$/mg;
cmp_ok(scalar(@mistakes) / 3, '>=', 8, 'types that do not fit');
while (my ($wrong, $message, $right) = splice(@mistakes, 0, 3))
{
	my ($code, $output, $errors) = $node->psql('postgres', "SELECT $wrong");
	like($errors, qr/ERROR:  \Q$message\E$/m, "refused: $wrong");
	($code, $output, $errors) = $node->psql('postgres', "SELECT $right");
	is("$code $errors", '0 ', "runs: $right");
}

$node->stop;
done_testing();
