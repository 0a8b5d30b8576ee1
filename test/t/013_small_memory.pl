# With hardly any shared memory every buffer is given to another page all the time, and what a backend noted about where pages are
# (src/index/search/notes.cpp) is mostly wrong. One session asks two indexes in turn, which it also rebuilds, empties and fills.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use SimhashTest;
use Test::More;

my $node = start_node('small_memory', conf => "shared_buffers = 512kB\nlog_statement = none\n");
create_data($node, 'a', 'clustered', 20000);
create_data($node, 'b', 'clustered', 20000);
$node->safe_psql('postgres', q{
	CREATE INDEX a_fp ON a USING simhash (fp);
	CREATE INDEX b_fp ON b USING simhash (fp);
	CREATE TABLE q AS SELECT row_number() OVER (ORDER BY hashint4(id)) AS n, fp # (1::bigint << (id % 64)) AS fp FROM a WHERE id % 10 = 0;
	CREATE FUNCTION found(near text, tables text[] DEFAULT '{a,b}') RETURNS SETOF text LANGUAGE plpgsql AS $$
		DECLARE t text; r text; BEGIN FOREACH t IN ARRAY tables LOOP
			EXECUTE format('SELECT concat_ws('' '', count(*), sum(n * hashint8(id)::numeric)) FROM q CROSS JOIN LATERAL '
				'(SELECT id FROM %I t WHERE %s) t', t, near) INTO r;
			RETURN NEXT r;
		END LOOP; END $$});

my $scan = 'SET enable_indexscan = off; SET enable_bitmapscan = off; SET max_parallel_workers_per_gather = 0; SET jit = off;';
my $index = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET max_parallel_workers_per_gather = 0; SET jit = off;';
my $near = "found('bit_count((t.fp # q.fp)::bit(64)) <= 3')";
my ($expected_a, $expected_b) = split /\n/, $node->safe_psql('postgres', "$scan SELECT $near");
like($expected_a, qr/^[1-9]\d{3} /, 'there is something to find');

my $plan = $node->safe_psql('postgres',
	"$index SET enable_material = off; EXPLAIN SELECT FROM q CROSS JOIN LATERAL (SELECT id FROM b t WHERE t.fp <~> q.fp <= 3) t");
like($plan, qr/Index.* Scan using b_fp/, 'the index is used');

my $by_index = "SELECT found('t.fp <~> q.fp <= 3')";
for my $ahead (0, 1, 100)
{
	my $found = $node->safe_psql('postgres', qq{
		$index
		SET effective_io_concurrency = $ahead;
		$by_index;
		REINDEX INDEX a_fp;
		$by_index;
		TRUNCATE q;
		INSERT INTO q SELECT row_number() OVER (ORDER BY hashint4(id)) AS n, fp # (1::bigint << (id % 64)) AS fp FROM a WHERE id % 10 = 0;
		CREATE TEMP TABLE c AS SELECT * FROM b;
		CREATE INDEX ON c USING simhash (fp);
		SELECT found('t.fp <~> q.fp <= 3', '{c,b,c,a}');
		BEGIN;
		TRUNCATE a;
		INSERT INTO a SELECT * FROM b;
		$by_index;
		ROLLBACK;
		$by_index;
	});
	my @expected = ($expected_a, $expected_b);
	is($found, join("\n", @expected, @expected, ($expected_b) x 3, $expected_a, ($expected_b) x 2, @expected),
		"answers with effective_io_concurrency = $ahead are those of the sequential scan");
}
$node->safe_psql('postgres', "SELECT * FROM simhash_index_check('a_fp', true)");
$node->stop;
done_testing();
