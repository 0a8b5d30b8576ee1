# The interleavings that the protocols of src/index/README.md exist for, with backends stopped at pause points in the middle of a
# statement (src/index/testing.hpp). Each spec of test/pause_points is one test of pg_isolation_regress.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use File::Basename;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $library = testing_library();
my $node = start_node('pause_points', conf => "statement_timeout = 60s\n");
use_library($node, $library);
chomp(my $pgxs = `pg_config --pgxs`);
my $isolation = dirname($pgxs) . '/../test/isolation';
my $input = "$FindBin::RealBin/../pause_points";
my $output = "$PostgreSQL::Test::Utils::tmp_check/pause_points";
mkdir $output;

for my $spec (sort glob("$input/specs/*.spec"))
{
	my $name = basename($spec, '.spec');
	my $done = system_log("$isolation/pg_isolation_regress", '--use-existing', '--dbname=postgres', '--host=' . $node->host, '--port=' . $node->port,
		"--inputdir=$input", "--outputdir=$output", "--bindir=", $name);
	is($done, 0, $name) or diag(slurp_file("$output/regression.diffs"));
}
$node->stop;
done_testing();
