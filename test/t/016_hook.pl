# The planner's hook, beside a library that takes it away (test/hooks/displacer.cpp): the condition
# uses the index in every order in which the two are loaded, and no chain of hooks is endless. An
# index that the library imagines costs what an empty one does.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use SimhashTest;
use Test::More;

my $displacer = build_library('displacer.so');
my $node = start_node('hook');
$node->safe_psql('postgres', qq{
	CREATE FUNCTION displace() RETURNS void LANGUAGE c AS '$displacer', 'displace';
	CREATE FUNCTION displaced() RETURNS bigint LANGUAGE c AS '$displacer', 'displaced';
});
create_data($node, 'docs', 'random', 10000);
$node->safe_psql('postgres', 'CREATE INDEX docs_fp ON docs USING simhash (fp); ANALYZE docs');

my $query = 'SELECT id FROM docs WHERE fp <~> 4711 <= 3';
my $explained = "EXPLAIN (COSTS OFF) $query";

# How many of the plans in psql's output use the index, and how many do not.
sub plans
{
	my ($output) = @_;
	my $by_index = () = $output =~ /Index Cond: \(fp <\@ '\(4711,3\)'::hamming_ball\)/g;
	my $by_scan  = () = $output =~ /Seq Scan/g;
	return "$by_index by index, $by_scan by scan";
}

# What stands between two plans of one session, and is to be survived.
my %between = (
	'nothing'        => '',
	'LOAD'           => "LOAD '$displacer'",
	'displace()'     => 'SELECT displace()',
	'another LOAD'   => "LOAD 'simhash'");

for my $manners ('overwrites', 'chains', 'insists')
{
	my $set = "SET displacer.manners = '$manners'";
	for my $preloaded ('', 'simhash', $displacer, "simhash, $displacer", "$displacer, simhash")
	{
		my $named = $preloaded =~ s/\S*displacer\.so/displacer/r;
		$node->append_conf('postgresql.conf', "shared_preload_libraries = '$preloaded'");
		$node->restart;
		for my $event (sort keys %between)
		{
			my $output = $node->safe_psql('postgres', "$set; $explained; $between{$event}; $explained; $explained");
			is(plans($output), '3 by index, 0 by scan', "$manners, preloaded '$named', then $event");
		}
		my $output = $node->safe_psql('postgres', "LOAD '$displacer'; $set; $explained; LOAD 'simhash'; $explained");
		is(plans($output), '2 by index, 0 by scan', "$manners, preloaded '$named', loaded by hand before the first query");
	}
}

# Both libraries take the hook back for each query, and still it is called once for each table.
my $counts = $node->safe_psql('postgres', qq{
	SET displacer.manners = 'insists';
	CREATE TEMP TABLE counted (place integer, calls bigint);
	DO \$\$ BEGIN
		FOR place IN 1 .. 20 LOOP
			EXECUTE 'EXPLAIN SELECT 1 FROM docs a JOIN docs b ON a.fp <~> b.fp <= 3';
			INSERT INTO counted SELECT place, displaced();
		END LOOP;
	END \$\$;
	SELECT calls - lag(calls) OVER (ORDER BY place) FROM counted ORDER BY place OFFSET 1;
});
is($counts, join("\n", (2) x 19), 'the other library is called as often for every query');

# An error within the other's hook leaves nothing behind.
my ($code, $output, $errors) = $node->psql(
	'postgres', "SET displacer.manners = 'fails'; $explained; $explained; $explained", on_error_stop => 0);
like($errors, qr/the displacer fails once/, 'the other hook raises an error');
is(plans($output), '2 by index, 0 by scan', 'and the next query is planned as ever');

# An index that the other library imagines has no pages yet. It is taken for a small one, of which a search reads two
# pages, not for one with less than nothing: a search that reads more of it costs more.
$node->safe_psql('postgres', q{
	CREATE TABLE few AS SELECT fp FROM docs LIMIT 10;
	CREATE INDEX few_fp ON few USING simhash (fp);
	ANALYZE few});
my @costs;
for my $asked ('WHERE fp <~> 42 <= 3', 'WHERE fp <~> 42 <= 24', 'ORDER BY fp <~> 42 LIMIT 5')
{
	my $plan = $node->safe_psql('postgres', qq{
		LOAD '$displacer';
		SET displacer.manners = 'imagines';
		SET enable_seqscan = off;
		SET enable_bitmapscan = off;
		EXPLAIN SELECT fp FROM few $asked});
	my ($startup, $total) = $plan =~ /Index.* Scan using few_fp .*cost=([-.\d]+)\.\.([-.\d]+)/ or die $plan;
	cmp_ok($total, '>', $startup, "an imagined index, $asked: its cost");
	cmp_ok($total, '>', 2 * 4, '... of two random pages at least');
	push @costs, $total;
}
cmp_ok($costs[1], '>=', $costs[0], 'an imagined index: a search within a greater radius costs no less');
cmp_ok($costs[2], '>', 2 * $costs[0], 'an imagined index: an order costs far more');

$node->stop;
done_testing();
