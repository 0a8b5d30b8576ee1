# Eight writers insert overlapping near-duplicates into a table that refuses them: in the end no two rows are within
# the radius, and none was refused without cause.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = start_node('constraint');
my $dir = PostgreSQL::Test::Utils::tempdir;
# [name of the key, its type, operator, radius, attempt, transactions of each writer]. An attempt lies within 0..2 bits of one of 2 000
# centers, a code four times as far. So every attempt is near the rows of its own center only, and at least one row of each center that
# was tried must be there.
my $attempt = "('x' || md5(:center::text))::bit(64)::bigint # (1::bigint << :a) # (1::bigint << :b)";
for (
	[ 'fp', 'bigint', '~=', 3, $attempt, 2500 ],
	[ 'code', 'bit(256)', '=~~', 31, "((($attempt)::bit(64) || ($attempt)::bit(64)) || (($attempt)::bit(64) || ($attempt)::bit(64)))::bit(256)", 500 ])
{
	my ($key, $type, $operator, $radius, $value, $transactions) = @$_;
	$node->safe_psql('postgres', qq{
		CREATE TABLE pages_$key (id serial, $key $type, EXCLUDE USING simhash ($key WITH $operator));
		CREATE TABLE tried_$key ($key $type);
	});
	PostgreSQL::Test::Utils::append_to_file("$dir/insert_$key.sql", qq{
\\set center random(1, 2000)
\\set a random(0, 63)
\\set b random(0, 63)
WITH attempt AS (INSERT INTO tried_$key VALUES ($value) RETURNING $key)
INSERT INTO pages_$key ($key) SELECT $key FROM attempt ON CONFLICT DO NOTHING;
});
	$node->command_ok([ 'pgbench', '-n', '-c', '8', '-j', '2', '-t', $transactions, '-f', "$dir/insert_$key.sql", $node->connstr('postgres') ],
		"$key: eight writers are done");
	my $tried = $node->safe_psql('postgres', "SELECT count(*) FROM tried_$key");
	is($tried, 8 * $transactions, "$key: every attempt ended");
	is($node->safe_psql('postgres', "SELECT count(*) FROM pages_$key a JOIN pages_$key b ON hamming(a.$key, b.$key) <= $radius AND a.id < b.id"),
		0, "$key: no two rows are near-duplicates");
	is($node->safe_psql('postgres', "SELECT count(*) FROM tried_$key t WHERE NOT EXISTS (SELECT FROM pages_$key p WHERE hamming(p.$key, t.$key) <= $radius)"),
		0, "$key: every attempt that was refused has a row that it is near to");
	my $rows = $node->safe_psql('postgres', "SELECT count(*) FROM pages_$key");
	cmp_ok($rows, '<', $tried, "$key: some were refused");
	note("measured: $key: $tried attempts by 8 writers, $rows rows kept");
}
$node->stop;
done_testing();
