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

my $most = 0;
for my $query (5555555555555555555, 1111111111111111111, -3333333333333333333, 7, 4611686018427387904)
{
	my $analyzed = $node->safe_psql('postgres',
		"EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM docs WHERE fp <~> $query <= 3");
	$analyzed =~ s/Planning:.*//s;
	my $touched = 0;
	$touched = $1 > $touched ? $1 : $touched while $analyzed =~ /(?:hit|read)=(\d+)/g;
	$most = $touched if $touched > $most;
}
cmp_ok($most, '<', 60, 'a query touches fewer than 60 pages');
cmp_ok($megabytes, '<', 40, 'the index takes less than 40 MB');
# Generous, for a busy machine; measured below 1 s.
cmp_ok($build, '<', 3 * ($ENV{SIMHASH_TEST_PATIENCE} // 2), 'the build is quick');
printf "# measured: build %.2f s, %.1f MB, at most %d pages a query\n", $build, $megabytes, $most;
$node->stop;
done_testing();
