# The SQL of README.md and of two pages of docs runs as printed, in its order, in a database of its own, and finds what the text around it says.
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

for my $page ('docs/fingerprints-from-elsewhere.md', 'docs/constraints.md')
{
	my ($database) = $page =~ m!/(.*)\.md!;
	$node->safe_psql('postgres', qq(CREATE DATABASE "$database"));
	$node->safe_psql($database, 'CREATE EXTENSION simhash');
	@blocks = blocks_of($page);
	cmp_ok(scalar(@blocks), '>=', 5, "$page has SQL");
	for my $block (@blocks)
	{
		my ($sql, $expected) = @$block;
		my ($first) = $sql =~ /\A(.*)/;
		my ($code, $output, $errors) = $node->psql($database, $sql,
			on_error_stop => 0, extra_params => [ '-P', 'format=aligned', '-P', 'tuples_only=off' ]);
		is(plain("$output\n$errors"), plain($expected // ''), "$page: $first");
	}
}

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
