# 100 000 rows: what a query touches, what a row takes, what an insert logs, and how these compare with the alternatives. Only such
# figures as a busy machine does not turn; `make bench` measures times.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use SimhashTest;
use Test::More;

my $rows = 100_000;
my $hot = 6616326155283851669;
my $node = start_node('size', conf => "max_parallel_workers_per_gather = 0\nmax_parallel_maintenance_workers = 0\njit = off\n");
create_processor_clock($node);

sub sql { return $node->safe_psql('postgres', $_[0]); }

# Processor time, ms, and bytes of WAL of a statement.
sub measured
{
	my ($statement) = @_;
	my $clock = 'SELECT pg_current_wal_insert_lsn(), processor_ms(pg_backend_pid())';
	my ($first, $last) = map { [ split /\|/ ] } (split /\n/, sql("$clock; $statement; $clock"))[ 0, -1 ];
	return ($last->[1] - $first->[1], sql("SELECT '$last->[0]'::pg_lsn - '$first->[0]'"));
}

# Pages that a statement touches: those found in the buffer cache and those that were not, under the plan's topmost node.
sub pages_touched
{
	my ($settings, $query) = @_;
	my $analyzed = sql("$settings EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");
	my ($buffers) = $analyzed =~ /Buffers: shared(.*)/ or die "no buffers in $analyzed";
	my $touched = 0;
	$touched += $1 while $buffers =~ /(?:hit|read)=(\d+)/g;
	return ($touched, $analyzed);
}

# Pages that each of the query table's fingerprints touches, on average, by the index on the table, the first or second time in a session.
# Reading the query table is a few pages more.
sub pages_per_query
{
	my ($table, $queries, $time) = @_;
	my $join = "SELECT count(m.id) FROM $queries q CROSS JOIN LATERAL (SELECT id FROM $table t WHERE t.fp <~> q.fp <= 3) m";
	my $settings = 'SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off;';
	$settings .= "$join;" if ($time // 1) > 1;
	my ($touched, $analyzed) = pages_touched($settings, $join);
	like($analyzed, qr/Index Scan using ${table}_fp/, "$table, $queries: by the index");
	return $touched / sql("SELECT count(*) FROM $queries");
}

my $by_scan = 'SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;';
my $query = 'SELECT * FROM docs WHERE fp <~> 5555555555555555555 <= 3';

# ---- as built ----
create_data($node, 'docs', 'clustered', $rows);
sql('VACUUM ANALYZE docs');
my (@build, @btree_build, $build_wal);
for (1 .. 3)
{
	my ($seconds, $wal) = measured('CREATE INDEX docs_fp ON docs USING simhash (fp)');
	push @build, $seconds;
	$build_wal = $wal;
	push @btree_build, (measured('CREATE INDEX docs_btree ON docs (fp)'))[0];
	sql('DROP INDEX docs_btree');
	sql('DROP INDEX docs_fp') if $_ < 3;
}
my $built = sql("SELECT pg_relation_size('docs_fp')");
sub least { return (sort { $a <=> $b } @_)[0]; }
my $build_ratio = least(@build) / least(@btree_build);
cmp_ok($built / $rows, '<', 32, 'as built, the index takes less than 32 bytes a row');
cmp_ok($build_wal / $built, '<', 1.1, 'its build logs each page once');
cmp_ok($build_ratio, '<', 3, 'and does not take three times as long as a plain B-tree\'s');

# ---- queries ----
like(sql("EXPLAIN (COSTS OFF) $query"), qr/docs_fp/, 'the planner takes the index for radius 3');
my ($cost) = sql("EXPLAIN $query") =~ /cost=[\d.]+\.\.([\d.]+)/;
cmp_ok($cost, '<', 100, 'at the price of a few pages, not of all leaves');
like(sql('EXPLAIN (COSTS OFF) SELECT * FROM docs WHERE fp <~> 5555555555555555555 <= 40'), qr/Seq Scan/, 'and leaves it for radius 40');
my ($by_index) = pages_touched('', $query);
my ($scanned) = pages_touched($by_scan, $query);
cmp_ok($by_index, '<', 20, 'a query touches fewer than 20 pages');
cmp_ok($scanned, '>', 500, 'where a sequential scan touches hundreds');

# Near some row, each of them, and finding it; and far from all.
sql('CREATE TABLE near AS SELECT fp # 1 AS fp FROM docs WHERE fp IS NOT NULL ORDER BY hashint4(id) LIMIT 1000');
sql("CREATE TABLE far AS SELECT ('x' || md5('far' || i))::bit(64)::bigint AS fp FROM generate_series(1, 1000) i");
my $pages_near = pages_per_query('docs', 'near');
my $pages_far = pages_per_query('docs', 'far');
cmp_ok($pages_near, '<', 14, 'a query that finds rows touches fewer than 14 pages on average');
cmp_ok($pages_far, '<', 11, 'one that finds none fewer than 11');

my $timed = sub {
	my ($settings, $runs) = @_;
	my ($milliseconds) = measured("$settings DO \$\$ BEGIN
		FOR i IN 1 .. $runs LOOP PERFORM id FROM docs WHERE fp <~> 5555555555555555555 <= 3; END LOOP; END \$\$");
	return $milliseconds / $runs;
};
my $speedup = $timed->($by_scan, 10) / $timed->('SET enable_seqscan = off;', 1000);
cmp_ok($speedup, '>', 20, 'a query by the index is more than 20 times as fast as by sequential scan');

# ---- growth: a tenth of the rows ----
sql("CREATE TABLE tenth AS SELECT * FROM docs WHERE id % 10 = 3");
sql('CREATE INDEX tenth_fp ON tenth USING simhash (fp)');
sql('VACUUM ANALYZE tenth');
my $growth = $pages_far / pages_per_query('tenth', 'far');
cmp_ok($growth, '<', 1.6, 'from 10 000 to 100 000 rows, a query touches less than 1.6 times as many pages');

# ---- a hot fingerprint: half of the rows, so that its postings fill many leaves ----
sql("CREATE TABLE hot AS SELECT id, CASE WHEN id % 2 = 1 THEN $hot ELSE fp END AS fp FROM docs");
sql('CREATE INDEX hot_fp ON hot USING simhash (fp)');
sql('VACUUM ANALYZE hot');
# Block 0 to 3 of the hot fingerprint, from its leading bits on, all other bits as in `far`.
my @hot_ratios;
for my $block (0 .. 3)
{
	sql("CREATE TABLE hot_$block AS SELECT (fp & ~mask) | ($hot & mask) AS fp FROM (SELECT fp, 65535::bigint << (48 - 16 * $block) AS mask FROM far) q");
	push @hot_ratios, pages_per_query('hot', "hot_$block") / pages_per_query('hot', 'far');
	cmp_ok($hot_ratios[$block], '<', 1.4, "a query that shares block $block with the hot fingerprint touches less than 1.4 times as many pages");
}
my $hot_ratio = (sort { $a <=> $b } @hot_ratios)[3];

# ---- runs of 156 rows that share their first 16 bits: each stands on one leaf, of some six runs ----
sub runs
{
	my ($table) = @_;
	sql("INSERT INTO $table SELECT i, ('x' || lpad(to_hex(i % 256 * 257), 4, '0') || substr(md5(i::text), 1, 12))::bit(64)::bigint FROM generate_series(1, 40000) i");
}
sql("CREATE TABLE run_queries AS SELECT ('x' || lpad(to_hex(i * 257), 4, '0') || substr(md5('query' || i), 1, 12))::bit(64)::bigint AS fp FROM generate_series(0, 255) i");
sql("CREATE TABLE $_ (id int, fp bigint)") for qw(built_runs grown_runs);
sql('CREATE INDEX grown_runs_fp ON grown_runs USING simhash (fp)');
runs($_) for qw(built_runs grown_runs);
sql('CREATE INDEX built_runs_fp ON built_runs USING simhash (fp)');
sql("VACUUM ANALYZE $_") for qw(built_runs grown_runs run_queries);
for my $table (qw(built_runs grown_runs))
{
	# The first time, descents are counted, too.
	my $pages = pages_per_query($table, 'run_queries', 2);
	cmp_ok($pages, '<', 4.05, "$table: a query of four probes touches four leaves");
}

# ---- random inserts ----
sql('CREATE TABLE inserted (id integer, fp bigint)');
sql('CREATE TABLE bare (id integer, fp bigint)');
sql('CREATE INDEX inserted_fp ON inserted USING simhash (fp)');
sql('CHECKPOINT');
my $insert_wal = (measured('INSERT INTO inserted SELECT * FROM docs'))[1] - (measured('INSERT INTO bare SELECT * FROM docs'))[1];
my $inserted = sql("SELECT pg_relation_size('inserted_fp')");
cmp_ok($insert_wal / $rows, '<', 400, 'an insert logs less than 400 bytes for the index');
cmp_ok($inserted / $rows, '<', 46, 'after random inserts, the index takes less than 46 bytes a row');
sql('VACUUM ANALYZE inserted');
my $pages_inserted = pages_per_query('inserted', 'far');
cmp_ok($pages_inserted, '<', 11, 'and a query touches as few pages');

# ---- what is deleted makes room ----
sql("DELETE FROM inserted WHERE id % 2 = 0");
sql('VACUUM inserted');
sql("INSERT INTO inserted SELECT id, ('x' || md5('again' || id))::bit(64)::bigint FROM docs WHERE id % 2 = 0");
my $again = sql("SELECT pg_relation_size('inserted_fp')") / $inserted;
cmp_ok($again, '<', 1.25, 'with half of the rows deleted and as many inserted, it has grown by less than a quarter');

# ---- what VACUUM says of pages ----
# Leaves that are hardly filled, so that a block table has several parents. A parent's last leaf stays.
sql('CREATE INDEX inserted_thin ON inserted USING simhash (fp) WITH (fillfactor = 10)');
sql('DELETE FROM inserted');
my (undef, undef, $said) = $node->psql('postgres', 'VACUUM (VERBOSE) inserted');
my ($total, $newly, $deleted) = $said =~ /"inserted_thin": pages: (\d+) in total, (\d+) newly deleted, (\d+) currently deleted/;
is($newly, $deleted, 'VACUUM counts each leaf that it removes once');
cmp_ok($newly, '>', .9 * $total, 'nearly all are removed');

# ---- what a session pays ----
SKIP:
{
	skip('no /proc here', 3) unless -r '/proc/self/status';
	my $anonymous = q{SELECT substring(pg_read_file('/proc/self/status') FROM 'RssAnon:\s+(\d+) kB')::integer};
	my $join = 'SELECT count(*) FROM (SELECT fp FROM docs LIMIT 20000) q JOIN docs t ON t.fp <~> q.fp <= 3';
	my ($before, $loaded, $searched) = grep { /^\d+$/ } split /\n/,
		sql("$anonymous; LOAD 'simhash'; $anonymous; DO 'BEGIN PERFORM ($join); END'; $anonymous");
	cmp_ok($loaded - $before, '<', 1000, 'loading the library takes less than 1 MB of memory of its own');
	cmp_ok($searched, '>', $loaded, 'notes on leaves take memory as they are written');
	cmp_ok($searched - $loaded, '<', 10_000, 'and less than there is room for');
	note("measured: $before kB of a session's own memory, $loaded with the library, $searched after 20 000 searches");
}

note(sprintf('measured: %.1f bytes a row built, %.1f by inserts, %.2f times that after half were replaced; %.0f bytes of WAL an insert; '
	. 'pages a query: %.1f finding rows, %.1f finding none, %.1f by inserts, times %.2f from 10 000 rows, times %.2f at a hot block; '
	. 'a sequential scan %d; %.0f times as fast; build %.2f of a B-tree\'s', $built / $rows, $inserted / $rows, $again, $insert_wal / $rows,
	$pages_near, $pages_far, $pages_inserted, $growth, $hot_ratio, $scanned, $speedup, $build_ratio));
$node->stop;
done_testing();
