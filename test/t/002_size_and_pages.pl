# One million rows: the planner takes the index, a query touches few pages, the index is small and quickly built.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use SimhashTest;
use Test::More;
use Time::HiRes qw(time);

my $node = start_node('size');
create_data($node, 'docs', 'clustered', 1_000_000);
$node->safe_psql('postgres', 'VACUUM ANALYZE docs');
my $begun = time;
$node->safe_psql('postgres', 'CREATE INDEX docs_fp ON docs USING simhash (fp)');
my $build = time - $begun;
my $megabytes = $node->safe_psql('postgres', "SELECT pg_relation_size('docs_fp')") / 1e6;

my $plan = $node->safe_psql('postgres', 'EXPLAIN (COSTS OFF) SELECT * FROM docs WHERE fp <~> 5555555555555555555 <= 3');
like($plan, qr/docs_fp/, 'the planner takes the index for radius 3');
$plan = $node->safe_psql('postgres', 'EXPLAIN (COSTS OFF) SELECT * FROM docs WHERE fp <~> 5555555555555555555 <= 40');
like($plan, qr/Seq Scan/, 'and leaves it for radius 40');

# Pages that a statement touches: those found in the buffer cache and those that were not, under the plan's topmost node.
sub pages_touched
{
	my ($settings, $query) = @_;
	my $analyzed = $node->safe_psql('postgres', "$settings EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");
	my ($buffers) = $analyzed =~ /Buffers: shared(.*)/ or die "no buffers in $analyzed";
	my $touched = 0;
	$touched += $1 while $buffers =~ /(?:hit|read)=(\d+)/g;
	return ($touched, $analyzed);
}

my $most = 0;
for my $fp (5555555555555555555, 1111111111111111111, -3333333333333333333, 7, 4611686018427387904)
{
	my ($touched, $analyzed) = pages_touched('', "SELECT * FROM docs WHERE fp <~> $fp <= 3");
	like($analyzed, qr/docs_fp/, "by the index: $fp");
	$most = $touched if $touched > $most;
}
cmp_ok($most, '<', 60, 'a query touches fewer than 60 pages');
my ($by_scan) = pages_touched('SET enable_indexscan = off; SET enable_bitmapscan = off; SET max_parallel_workers_per_gather = 0;',
	'SELECT * FROM docs WHERE fp <~> 5555555555555555555 <= 3');
cmp_ok($by_scan, '>', 5000, 'where a sequential scan touches thousands');
cmp_ok($megabytes, '<', 40, 'the index takes less than 40 MB');
# Generous, for a busy machine; measured below 1 s.
cmp_ok($build, '<', 3 * ($ENV{SIMHASH_TEST_PATIENCE} // 2), 'the build is quick');
note(sprintf('measured: build %.2f s, %.1f MB, at most %d pages a query, %d by sequential scan', $build, $megabytes, $most, $by_scan));
$node->stop;
done_testing();
