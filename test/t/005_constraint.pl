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
$node->safe_psql('postgres', q{
	CREATE TABLE pages (id serial, fp bigint, EXCLUDE USING simhash (fp WITH ~=));
	CREATE TABLE tried (fp bigint);
});
my $dir = PostgreSQL::Test::Utils::tempdir;
# 2 000 centres; each attempt lies within 0..2 bits of one. So every attempt is near the rows of its own centre only, and at least
# one row of each centre that was tried must be there.
PostgreSQL::Test::Utils::append_to_file("$dir/insert.sql", <<'SQL');
\set centre random(1, 2000)
\set a random(0, 63)
\set b random(0, 63)
WITH attempt AS (
	INSERT INTO tried VALUES (('x' || md5(:centre::text))::bit(64)::bigint # (1::bigint << :a) # (1::bigint << :b)) RETURNING fp)
INSERT INTO pages (fp) SELECT fp FROM attempt ON CONFLICT DO NOTHING;
SQL
$node->command_ok([ 'pgbench', '-n', '-c', '8', '-j', '2', '-t', '2500', '-f', "$dir/insert.sql", $node->connstr('postgres') ],
	'eight writers are done');
my $tried = $node->safe_psql('postgres', 'SELECT count(*) FROM tried');
is($tried, 20_000, 'every attempt ended');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pages a JOIN pages b ON hamming(a.fp, b.fp) <= 3 AND a.id < b.id'),
	0, 'no two rows are near-duplicates');
is($node->safe_psql('postgres', 'SELECT count(*) FROM tried t WHERE NOT EXISTS (SELECT FROM pages p WHERE hamming(p.fp, t.fp) <= 3)'),
	0, 'every attempt that was refused has a row that it is near to');
my $rows = $node->safe_psql('postgres', 'SELECT count(*) FROM pages');
note("measured: $tried attempts by 8 writers, $rows rows kept");
$node->stop;
done_testing();
