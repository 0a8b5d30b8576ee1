# What the TAP tests share: a server, data of fixed seeds, and the comparison of the index with brute force.
package SimhashTest;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(build_library testing_library use_library start_node start_conductor create_processor_clock create_data compare_radii compare_nearest);

# A server with the extension in database postgres, of the same encoding wherever the tests run.
sub start_node
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(extra => [ '--encoding=UTF8', '--locale=C' ], %{ $options{init} // {} });
	$node->append_conf('postgresql.conf', "autovacuum = off\nshared_buffers = 256MB\nmax_wal_size = 2GB\n");
	$node->append_conf('postgresql.conf', $options{conf}) if $options{conf};
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION simhash') unless $options{no_extension};
	return $node;
}

# Builds a library that only tests load, and returns its path.
sub build_library
{
	my ($name) = @_;
	my $top = $ENV{TESTDIR} // '.';
	my @command = ('make', '-s', '-C', $top, 'PG_CONFIG=' . ($ENV{PG_CONFIG} // 'pg_config'), 'with_llvm=no', "build/testing/$name");
	PostgreSQL::Test::Utils::system_or_bail(@command) unless $ENV{SIMHASH_PRELOAD};
	chomp(my $path = `cd $top && pwd`);
	return "$path/build/testing/$name";
}

# The library with pause points and functions that damage pages (src/index/testing.hpp).
sub testing_library
{
	return build_library('simhash.so');
}

# Lets the database's extension call this library instead of the installed one.
sub use_library
{
	my ($node, $library) = @_;
	$node->safe_psql('postgres', "CREATE EXTENSION IF NOT EXISTS simhash");
	$node->safe_psql('postgres', "UPDATE pg_proc SET probin = '$library' WHERE probin = '\$libdir/simhash'");
	return;
}

# A session beside the one that is tested. It takes the advisory locks @$locks, which pause points wait for, and then runs $script. Where
# psql is to start a statement that stops at such points, $prepare is run before: it waits until the locks are taken. What the script can
# call: wait_until(CONDITION), which fails after three minutes; waits_at(LOCK), whether a session waits for the lock; go(LOCK), which lets
# it go on. Returns (prepare, finish); finish->() waits for the script's end and returns its errors.
sub start_conductor
{
	my ($node, $locks, $script) = @_;
	$node->safe_psql('postgres', q{
		CREATE OR REPLACE FUNCTION waits_at(lock integer) RETURNS boolean LANGUAGE sql AS
			$$ SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = lock AND NOT granted) $$;
		CREATE OR REPLACE FUNCTION is_taken(lock integer) RETURNS boolean LANGUAGE sql AS
			$$ SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = lock AND granted) $$;
		CREATE OR REPLACE FUNCTION go(lock integer) RETURNS boolean LANGUAGE sql AS $$ SELECT pg_advisory_unlock(lock) $$;
		-- Each look is a transaction of its own: no snapshot is held, and activity is read again.
		CREATE OR REPLACE PROCEDURE wait_until(condition text) LANGUAGE plpgsql AS $$
		DECLARE
			begun timestamptz := clock_timestamp();
			is_met boolean;
		BEGIN
			LOOP
				EXECUTE 'SELECT ' || condition INTO is_met;
				EXIT WHEN is_met;
				IF clock_timestamp() > begun + '3 min' THEN
					RAISE EXCEPTION 'waited in vain until %', condition;
				END IF;
				COMMIT;
				PERFORM pg_sleep(0.01);
				COMMIT;
			END LOOP;
		END $$}) unless $node->{has_conductor}++;
	# A file: IPC::Run would write to a pipe only while it is asked to.
	my $file = PostgreSQL::Test::Utils::tempdir . '/conductor.sql';
	PostgreSQL::Test::Utils::append_to_file($file, join('', map { "SELECT pg_advisory_lock($_);\n" } @$locks) . $script);
	my ($output, $errors) = ('', '');
	my $session = IPC::Run::start([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', $file ], '<', \undef, '>', \$output, '2>', \$errors);
	return (join('', map { "CALL wait_until('is_taken($_)'); " } @$locks), sub { IPC::Run::finish($session); return $errors });
}

# Function processor_ms(pid): how much processor time that process has taken, ms. Other work on the machine does not count, as it would in
# the time by the clock, which stands in where the system does not say.
sub create_processor_clock
{
	my ($node) = @_;
	my $clock = -r '/proc/self/schedstat' ? q{split_part(pg_read_file(format('/proc/%s/schedstat', pid), 0, 1000, true), ' ', 1)::numeric / 1e6}
		: 'extract(epoch FROM clock_timestamp()) * 1000';
	$node->safe_psql('postgres', "CREATE FUNCTION processor_ms(pid integer) RETURNS numeric LANGUAGE sql AS \$\$ SELECT $clock \$\$");
	return;
}

# Table $table (id, fp) of $rows rows: 'random'; 'clustered', where 30 % lie within 0..4 bits of another row; 'repeated', where one fingerprint has 10 %
# of the rows. The least, the greatest and the awkward fingerprints are in each, and some nulls.
sub create_data
{
	my ($node, $table, $kind, $rows) = @_;
	my $random = "('x' || md5('$kind' || i))::bit(64)::bigint";
	my %fp = (
		random    => $random,
		clustered => "CASE WHEN i % 10 < 7 THEN $random
			ELSE ('x' || md5('$kind' || (i - i % 10)))::bit(64)::bigint
				# (CASE WHEN i % 5 > 0 THEN 1::bigint << (i / 3 % 64) ELSE 0 END)
				# (CASE WHEN i % 5 > 1 THEN 1::bigint << (i / 7 % 64) ELSE 0 END)
				# (CASE WHEN i % 5 > 2 THEN 1::bigint << (i / 11 % 64) ELSE 0 END)
				# (CASE WHEN i % 5 > 3 THEN 1::bigint << (i / 13 % 64) ELSE 0 END) END",
		repeated => "CASE WHEN i % 10 = 0 THEN 1234567890123456789 WHEN i % 10 < 4 THEN (i / 100)::bigint << 40 ELSE $random END");
	die "no data of kind $kind" unless $fp{$kind};
	$node->safe_psql('postgres', qq{
		CREATE TABLE IF NOT EXISTS $table (id integer, fp bigint);
		INSERT INTO $table SELECT i, $fp{$kind} FROM generate_series(1, $rows) i ORDER BY hashint4(i);
		INSERT INTO $table SELECT $rows + row_number() OVER (), fp
			FROM unnest(ARRAY[0, -1, 1, 9223372036854775807, -9223372036854775808, NULL, NULL]) fp;
	});
	return;
}

my $by_scan_only = 'SET max_parallel_workers_per_gather = 0; SET jit = off;
	SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;';
my $by_index_only = 'RESET enable_indexscan; RESET enable_indexonlyscan; SET enable_seqscan = off;';

# Runs $setup and then $query in one session, and returns the fields of the query's only row. Its plan must match $plan: with settings
# that only discourage, a comparison of the scan with itself would pass.
sub query_by_plan
{
	my ($node, $setup, $query, $plan) = @_;
	my $output = $node->safe_psql('postgres', "$setup; EXPLAIN (COSTS OFF) $query; $query");
	my @lines = split /\n/, $output;
	my $row = pop @lines;
	die "not the plan that is to be tested ($plan):\n" . join("\n", @lines) . "\n" unless join("\n", @lines) =~ $plan;
	return split /\|/, $row;
}

# Compares, for $queries fingerprints of the table and each of the radii, the rows that the index finds (their number and a checksum of
# their ids) with those of brute force. Returns (queries compared, differences).
sub compare_radii
{
	my ($node, $table, $queries, @radii) = @_;
	my $list = join(',', @radii);
	return query_by_plan($node, qq{
		$by_scan_only
		CREATE TEMP TABLE query AS
			SELECT row_number() OVER () AS n, fp FROM (
				(SELECT fp FROM (VALUES (0::bigint), (-1), (9223372036854775807), (1234567890123456789)) v (fp))
				UNION (SELECT fp # 5 FROM (SELECT fp FROM $table WHERE fp IS NOT NULL ORDER BY hashint4(id) LIMIT 2) a)
				UNION (SELECT fp FROM (SELECT fp FROM $table WHERE fp IS NOT NULL ORDER BY hashint4(id + 1) LIMIT $queries) b)) q
			ORDER BY hashint8(fp) LIMIT $queries;
		CREATE TEMP TABLE brute AS
			SELECT n, hamming(query.fp, d.fp) AS distance, count(*) AS rows, sum(hashint4(id)::numeric) AS ids
			FROM query CROSS JOIN $table d WHERE d.fp IS NOT NULL GROUP BY 1, 2;
		$by_index_only},
		qq{SELECT count(*), count(*) FILTER (WHERE (coalesce(i.rows, 0), coalesce(i.ids, 0)) IS DISTINCT FROM
			(SELECT (coalesce(sum(b.rows), 0), coalesce(sum(b.ids), 0)) FROM brute b WHERE b.n = q.n AND b.distance <= radius))
		FROM unnest(ARRAY[$list]) radius CROSS JOIN query q CROSS JOIN LATERAL (
			SELECT count(*)::numeric AS rows, sum(hashint4(d.id)::numeric) AS ids FROM $table d WHERE d.fp <~> q.fp <= radius) i},
		qr/Index Scan using \S+ on $table d\b.*\n\s+Index Cond: \(fp <\@ hamming_ball\(/);
}

# Compares, for $queries fingerprints, the distances of the $limit (a number or ALL) nearest rows by the index with those of brute
# force, and that no row comes twice. Returns (queries compared, differences).
sub compare_nearest
{
	my ($node, $table, $queries, $limit) = @_;
	return query_by_plan($node, qq{
		$by_scan_only
		CREATE TEMP TABLE query AS
			SELECT row_number() OVER () AS n, fp FROM (
				SELECT fp FROM $table WHERE fp IS NOT NULL ORDER BY hashint4(id + 2) LIMIT $queries) q;
		CREATE TEMP TABLE brute AS
			SELECT n, (SELECT string_agg(coalesce(distance::text, 'null'), ',' ORDER BY distance)
				FROM (SELECT hamming(t.fp, q.fp) AS distance FROM $table t ORDER BY 1 LIMIT $limit) b) AS distances
			FROM query q;
		$by_index_only
		SET enable_sort = off},
		qq{SELECT count(*), count(*) FILTER (WHERE rows IS DISTINCT FROM different OR i.distances IS DISTINCT FROM b.distances)
		FROM query q JOIN brute b USING (n) CROSS JOIN LATERAL (
			SELECT string_agg(coalesce(distance::text, 'null'), ',' ORDER BY place) AS distances, count(*) AS rows, count(DISTINCT ctid) AS different
			FROM (SELECT d.ctid, d.fp <~> q.fp AS distance, row_number() OVER () AS place
				FROM (SELECT ctid, fp FROM $table t ORDER BY t.fp <~> q.fp LIMIT $limit) d) numbered) i},
		qr/Index Scan using \S+ on $table t\b.*\n\s+Order By: \(fp <~> q\.fp\)/);
}

1;
