# Open cursors and repeatable reads under writers and VACUUM: each sees its snapshot's rows, each once, by index scan, index-only scan and in
# order of distance, also when the places of removed rows are taken again between two fetches.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seconds = $ENV{SIMHASH_SNAPSHOT_SECONDS} // 6;
my $node = start_node('snapshots', conf => "log_statement = none\n");
$node->safe_psql('postgres', q{
	CREATE TABLE docs (id bigint, fp bigint);
	INSERT INTO docs SELECT i, hashint8extended(i % 3000, 1) # (i % 4) FROM generate_series(1, 8000) i;
	INSERT INTO docs SELECT i, NULL FROM generate_series(1, 300) i;
	CREATE INDEX docs_fp ON docs USING simhash (fp);
	CREATE INDEX ON docs (id);
	CREATE FUNCTION rest(c refcursor) RETURNS bigint LANGUAGE plpgsql AS $$
		DECLARE n bigint := 0; r record; BEGIN LOOP FETCH c INTO r; EXIT WHEN NOT FOUND; n := n + 1; END LOOP; RETURN n; END $$;
	CREATE FUNCTION plans() RETURNS text LANGUAGE plpgsql AS $$
		DECLARE line text; lines text := ''; BEGIN
			FOR line IN EXECUTE 'EXPLAIN SELECT id FROM docs WHERE fp <~> 1 <= 64' LOOP lines := lines || line; END LOOP;
			FOR line IN EXECUTE 'EXPLAIN SELECT fp FROM docs ORDER BY fp <~> 1' LOOP lines := lines || line; END LOOP;
			RETURN lines; END $$});
my $dir = PostgreSQL::Test::Utils::tempdir;
PostgreSQL::Test::Utils::append_to_file("$dir/write.sql", <<'SQL');
\set i random(1, 3000)
\set k random(1, 9000)
INSERT INTO docs SELECT :k + j, hashint8extended((:i + j) % 3000, 1) # (j % 4) FROM generate_series(1, 30) j;
DELETE FROM docs WHERE id BETWEEN :k AND :k + 22;
UPDATE docs SET fp = fp # 1 WHERE id = :k + 40;
SQL
PostgreSQL::Test::Utils::append_to_file("$dir/vacuum.sql", "VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) docs;\n");
PostgreSQL::Test::Utils::append_to_file("$dir/read.sql", <<'SQL');
\set i random(1, 3000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SET LOCAL enable_bitmapscan = off;
SET LOCAL enable_seqscan = off;
DECLARE by_distances CURSOR FOR SELECT id, fp FROM docs ORDER BY fp <~> hashint8extended(:i, 1), fp <~> 5;
DECLARE in_ball CURSOR FOR SELECT id, fp FROM docs WHERE fp <~> hashint8extended(:i, 1) <= 64;
DECLARE fingerprints CURSOR FOR SELECT fp FROM docs WHERE fp <~> hashint8extended(:i, 1) <= 64;
FETCH 3 FROM by_distances;
FETCH 3 FROM fingerprints;
FETCH 3 FROM in_ball;
\sleep 20 ms
SELECT count(*) AS n, coalesce(sum(hashint8(id)::numeric), 0) AS ids FROM docs WHERE fp <~> hashint8extended(:i, 1) <= 3 \gset near_
SELECT count(fp) AS n, sum(fp::numeric) AS fps FROM (SELECT fp FROM docs ORDER BY fp <~> :i) d \gset only_
SELECT count(*) AS n FROM docs WHERE fp IS NULL \gset null_
\sleep 10 ms
SELECT rest('by_distances') + 3 AS n \gset by_distances_
SELECT rest('in_ball') + 3 AS n \gset in_ball_
SELECT rest('fingerprints') + 3 AS n \gset fingerprints_
SET LOCAL enable_seqscan = on;
SET LOCAL enable_indexscan = off;
SET LOCAL enable_indexonlyscan = off;
SELECT 1 / (count(*) = :near_n AND coalesce(sum(hashint8(id)::numeric), 0) = :near_ids)::integer FROM docs WHERE fp <~> hashint8extended(:i, 1) <= 3;
SELECT 1 / (count(fp) = :only_n AND sum(fp::numeric) = :only_fps AND count(*) - count(fp) = :null_n)::integer FROM docs;
SELECT 1 / (count(*) = :by_distances_n AND count(fp) = :in_ball_n AND count(fp) = :fingerprints_n)::integer FROM docs;
COMMIT;
SQL
like($node->safe_psql('postgres', 'SET enable_bitmapscan = off; SET enable_seqscan = off; SELECT plans()'), qr/^Index Scan.*Index Only Scan/, 'the plans that are meant');

my %output = (write => '', vacuum => '', read => '');
my %clients = (write => 2, vacuum => 1, read => 3);
my @runs = map {
	IPC::Run::start([ 'pgbench', '-n', '-c', $clients{$_}, '-T', $seconds, '-f', "$dir/$_.sql", $node->connstr('postgres') ], '>&', \$output{$_})
} sort keys %clients;
IPC::Run::finish($_) for @runs;
my %done;
for my $what (sort keys %clients)
{
	unlike($output{$what}, qr/ERROR/, "$what: no error, no difference") or diag($output{$what});
	($done{$what}) = $output{$what} =~ /actually processed: (\d+)/;
	cmp_ok($done{$what}, '>', 0, "$what: was done");
}
is($node->safe_psql('postgres', q{SELECT rows >= (SELECT count(*) FROM docs) FROM simhash_index_check('docs_fp', true)}), 't', 'check');
note('measured: ' . join(', ', map { "$_ $done{$_}" } sort keys %done));
$node->stop;
done_testing();
