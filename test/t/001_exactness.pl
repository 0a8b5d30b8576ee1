# The index's answers equal brute force: every radius, every kind of data, built before and after loading, after deletes, updates and
# VACUUM, with layouts of few and many tables.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use SimhashTest;
use Test::More;

# Enough for trees of two levels and for fingerprints that fill several leaves.
my $rows = $ENV{SIMHASH_TEST_ROWS} // 30_000;
my $node = start_node('exactness');
my $total = 0;

sub compare_all
{
	my ($table, $what) = @_;
	my ($narrow, $wrong_narrow) = compare_radii($node, $table, 24, -1 .. 12);
	my ($wide, $wrong_wide) = compare_radii($node, $table, 3, 13 .. 65);
	my ($nearest, $wrong_nearest) = (0, 0);
	for my $limit (1, 10, 1000)
	{
		my ($compared, $wrong) = compare_nearest($node, $table, 12, $limit);
		$nearest += $compared;
		$wrong_nearest += $wrong;
	}
	$total += $narrow + $wide + $nearest;
	is($wrong_narrow + $wrong_wide, 0, "$what: every radius");
	is($wrong_nearest, 0, "$what: nearest neighbours");
	cmp_ok($narrow + $wide + $nearest, '>=', 400, "$what: enough was compared");
	return;
}

for my $kind ('random', 'clustered', 'repeated')
{
	create_data($node, "after_$kind", $kind, $rows);
	$node->safe_psql('postgres', "CREATE INDEX ON after_$kind USING simhash (fp)");
	compare_all("after_$kind", "$kind, built after loading");

	$node->safe_psql('postgres', "CREATE TABLE before_$kind (id integer, fp bigint); CREATE INDEX ON before_$kind USING simhash (fp)");
	create_data($node, "before_$kind", $kind, $rows);
	compare_all("before_$kind", "$kind, grown by inserts");

	my $table = "before_$kind";
	$node->safe_psql('postgres', "DELETE FROM $table WHERE id % 7 = 0; UPDATE $table SET fp = fp # 9 WHERE id % 11 = 0");
	compare_all($table, "$kind, after deletes and updates");
	$node->safe_psql('postgres', "VACUUM $table");
	compare_all($table, "$kind, after VACUUM");
	create_data($node, $table, $kind, $rows / 10);
	my ($compared, $wrong) = compare_radii($node, $table, 24, 0 .. 8);
	$total += $compared;
	is($wrong, 0, "$kind, grown again");

	my ($all, $wrong_all) = compare_nearest($node, $table, 2, 'ALL');
	$total += $all;
	is($wrong_all, 0, "$kind: all rows in order of distance");

	for my $tables (1, 2, 3, 4, 6, 10)
	{
		my $index = "tables_$tables";
		$node->safe_psql('postgres', "CREATE TABLE $index (LIKE $table); CREATE INDEX ON $index USING simhash (fp) WITH (radius = @{[ $tables > 4 ? $tables - 1 : 3 ]}, tables = $tables);
			INSERT INTO $index SELECT * FROM $table WHERE id % 3 = 0; REINDEX TABLE $index; INSERT INTO $index SELECT * FROM $table WHERE id % 3 = 1");
		my ($queries, $differences) = compare_radii($node, $index, 40, 3, 2, 5);
		$total += $queries;
		is($differences, 0, "$kind, $tables tables");
		$node->safe_psql('postgres', "DROP TABLE $index");
	}
}
note("compared: $total queries with brute force");
$node->stop;
done_testing();
