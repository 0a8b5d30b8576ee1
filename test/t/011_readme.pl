# README.md's SQL runs as printed, in its order, in a new database, and finds what the text around it says.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = start_node('readme', no_extension => 1);
my $readme = slurp_file("$FindBin::RealBin/../../README.md");
my @blocks = $readme =~ /^```sql\n(.*?)^```$/msg;
cmp_ok(scalar(@blocks), '>=', 5, 'README has SQL');

# What the statements of a block print.
my %printed;
for my $block (@blocks)
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
is(scalar(@$lines), 3 + $node->safe_psql('postgres', 'SELECT count(*) FROM simhash_pairs((SELECT array_agg(fp) FROM docs), 3)'),
	'clusters of all rows, and the pairs');
is(scalar(@$lines), 3, 'no pair of different fingerprints, although two documents are duplicates');
is_deeply(printed_by('SELECT x.id, y.id AS other'), ['1|2|0'], 'the form that reports equal fingerprints, too');
$lines = printed_by('SELECT * FROM simhash_layouts');
is((split /\|/, (grep { /^4\|/ } @$lines)[0])[3], '610.35', 'candidates of the default layout');
is((split /\|/, (grep { /^10\|/ } @$lines)[0])[3], '2.09', 'candidates of 10 tables');
is($node->safe_psql('postgres', 'SELECT probes > 200, round(100 * candidates / 1e7) FROM simhash_layouts(10, 10000000) WHERE tables IN (4, 11) ORDER BY tables'),
	"t|1\nf|26", 'hundreds of prefixes with radius = 10, and a quarter of the rows with tables = 11');
$node->stop;
done_testing();
