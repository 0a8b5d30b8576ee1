# What the TAP tests share: a server, data of fixed seeds, and the comparison of the index with brute force.
package SimhashTest;

use strict;
use warnings;

use Exporter 'import';
use Fcntl qw(:flock);
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(build_library testing_library use_library start_node start_conductor create_processor_clock create_data create_codes add_codes
	keep_beginning begin_with_as_many compare_radii compare_form compare_nearest);

# A new cluster, of the same encoding wherever the tests run. initdb is run once and its cluster copied: it takes more time than many a
# test. The servers of newer versions can do so, too, but not with these options.
sub initialize
{
	my ($node, %options) = @_;
	my $run = \&PostgreSQL::Test::Utils::system_or_bail;
	my $template = "$PostgreSQL::Test::Utils::tmp_check/t_new_cluster";
	my $run_or_copy = sub {
		return $run->(@_) if $_[0] ne 'initdb';
		# Tests may run side by side.
		open(my $lock, '>', "$template.lock") or die "$template.lock: $!";
		flock($lock, LOCK_EX) or die "$template.lock: $!";
		return $run->('cp', '-a', $template, $node->data_dir) if -e $template;
		$run->(@_);
		$run->('cp', '-a', $node->data_dir, "$template.begun");
		rename("$template.begun", $template) or die "$template: $!";
	};
	no warnings 'redefine';
	local *PostgreSQL::Test::Utils::system_or_bail = $run_or_copy;
	$node->init(extra => [ '--encoding=UTF8', '--locale=C' ], %options);
	return;
}

# A server with the extension in database postgres.
sub start_node
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	initialize($node, %{ $options{init} // {} });
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
	my @command = ('make', '-s', '-C', $top, 'PG_CONFIG=' . ($ENV{PG_CONFIG} // 'pg_config'), "build/testing/$name");
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

# Function processor_ms(pid): how much processor time that process has taken, ms; null if it is gone. Other work on the machine does not
# count, as it would in the time by the clock, which stands in where the system does not say.
sub create_processor_clock
{
	my ($node) = @_;
	my $clock = -r '/proc/self/schedstat' ? q{split_part(pg_read_file(format('/proc/%s/schedstat', pid), 0, 1000, true), ' ', 1)::numeric / 1e6}
		: 'extract(epoch FROM clock_timestamp()) * 1000';
	# A process may end between the opening of its file and the read, which then fails with ESRCH.
	$node->safe_psql('postgres', "CREATE FUNCTION processor_ms(pid integer) RETURNS numeric LANGUAGE plpgsql AS \$\$
		BEGIN RETURN $clock; EXCEPTION WHEN internal_error THEN RETURN NULL; END \$\$");
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

# For a load in rounds on table docs: keeps the rows that the first round begins with.
sub keep_beginning
{
	my ($node) = @_;
	$node->safe_psql('postgres', 'CREATE TABLE beginning AS SELECT id, fp FROM docs');
	return;
}

# Between two rounds: most rows that the load has added go, and those that it has removed come back. So a round takes as long after
# hundreds of others, and its VACUUM has dead rows from the beginning.
sub begin_with_as_many
{
	my ($node) = @_;
	$node->safe_psql('postgres', q{
		DELETE FROM docs WHERE id > (SELECT max(id) FROM beginning) AND id % 8 > 0;
		INSERT INTO docs (id, fp) SELECT id, fp FROM beginning b WHERE NOT EXISTS (SELECT FROM docs WHERE docs.id = b.id)});
	return;
}

# Table $table (id, code bit($bits)) of $rows rows with ids from $first on. A third each: random; clustered, around centers that rows of this
# and other calls share; skewed, with an eighth of the bits set, of which half are equal. The least and the greatest code are there, and nulls.
sub create_codes
{
	my ($node, $table, $bits, $rows, $first) = @_;
	$first //= 1;
	$node->safe_psql('postgres', qq{
		CREATE OR REPLACE FUNCTION random_code(i integer) RETURNS bit LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
			\$\$ SELECT ('x' || encode(sha512((i || 'a')::bytea) || sha512((i || 'b')::bytea), 'hex'))::bit(1024) \$\$;
		-- One bit of 2^halvings is set.
		CREATE OR REPLACE FUNCTION sparse_code(i integer, halvings integer) RETURNS bit LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
			\$\$ SELECT bit_and(random_code(-16 * i - n)) FROM generate_series(1, halvings) n \$\$;
		CREATE TABLE IF NOT EXISTS $table (id integer, code bit($bits));
		INSERT INTO $table SELECT i, (CASE i % 6 WHEN 0 THEN random_code(i) WHEN 1 THEN random_code(i)
				WHEN 2 THEN random_code(i % 150) WHEN 3 THEN random_code(i % 150) # sparse_code(i, 3 + i / 6 % 4)
				WHEN 4 THEN sparse_code(i, 3) ELSE sparse_code(1, 3) END)::bit($bits)
			FROM generate_series($first, $first + $rows - 1) i ORDER BY hashint4(i);
		INSERT INTO $table SELECT $first + $rows - 1 + row_number() OVER (), code::bit($bits)
			FROM unnest(ARRAY[repeat('0', $bits), repeat('1', $bits), NULL, NULL]) code;
	});
	return;
}

# Gives a table with fingerprints `fp` codes that are computed from them, and an index on these, with $options. Codes are four times as far
# apart as the fingerprints.
sub add_codes
{
	my ($node, $table, $options) = @_;
	$options = $options ? "WITH ($options)" : '';
	$node->safe_psql('postgres', qq{
		ALTER TABLE $table ADD code bit(256)
			GENERATED ALWAYS AS ((fp::bit(64) || (~fp)::bit(64) || fp::bit(64) || (fp # 4711)::bit(64))::bit(256)) STORED;
		CREATE INDEX ${table}_code ON $table USING simhash (code) $options});
	return;
}

# The columns that can be compared: the operator of their distance; the function of a ball; what shuffles values; values that are asked for
# beside some of the table, and others that are made of these; what tells rows apart, without the ctid if that would change the plan.
my %keys = (
	fp   => { distance => '<~>', ball => 'hamming_ball', shuffle => 'hashint8(fp)', near => ['fp # 5'], row => 'ctid',
		also => 'UNION (SELECT fp FROM (VALUES (0::bigint), (-1), (9223372036854775807), (1234567890123456789)) v (fp))' },
	code => { distance => '<~~>', ball => 'bit_ball', shuffle => 'hashtext(code::text)', also => '', row => 'ROW(id, code, xmin::text)',
		near => [ '~code', 'code & ~code', 'set_bit(code, 0, 1 - get_bit(code, 0))' ] });

# What is compared, 'docs' or 'docs.code': (the table, its column, what %keys says of it).
sub table_and_key
{
	my ($table, $key) = split /\./, $_[0];
	$key //= 'fp';
	return ($table, $key, $keys{$key});
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

# Compares, for $queries values of the table (or 'table.column') and each of @$radii, the rows that a scan finds (their number and a checksum
# of their ids) with those of brute force. %$form: `rows`, where the rows d come from, beside a query q and a `radius`; `plan`, which must
# match; `settings`. Returns (queries compared, differences).
sub compare_form
{
	my ($node, $of, $queries, $radii, $form) = @_;
	my ($table, $key, $is) = table_and_key($of);
	my $list = join(',', @$radii);
	my $near = join(' ', map { "UNION (SELECT $_ FROM (SELECT $key FROM $table WHERE $key IS NOT NULL ORDER BY hashint4(id) LIMIT 2) a)" } @{ $is->{near} });
	return query_by_plan($node, qq{
		$by_scan_only
		CREATE TEMP TABLE query AS
			SELECT row_number() OVER () AS n, $key FROM (
				(SELECT $key FROM (SELECT $key FROM $table WHERE $key IS NOT NULL ORDER BY hashint4(id + 1) LIMIT $queries) b) $is->{also} $near) q
			ORDER BY $is->{shuffle} LIMIT $queries;
		-- The distances come from below an OFFSET, so that no condition on them becomes one that an index knows.
		CREATE TEMP TABLE brute AS
			SELECT n, distance, count(*) AS rows, sum(hashint4(id)::bigint) AS ids
			FROM (SELECT n, id, hamming(query.$key, d.$key) AS distance FROM query CROSS JOIN $table d OFFSET 0) p
			WHERE distance <= (SELECT max(radius) FROM unnest(ARRAY[$list]) radius) GROUP BY 1, 2;
		$by_index_only} . ($form->{settings} // ''),
		qq{SELECT count(*), count(*) FILTER (WHERE (coalesce(i.rows, 0), coalesce(i.ids, 0)) IS DISTINCT FROM
			(SELECT (coalesce(sum(b.rows), 0), coalesce(sum(b.ids), 0)) FROM brute b WHERE b.n = q.n AND b.distance <= radius))
		FROM unnest(ARRAY[$list]) radius CROSS JOIN query q CROSS JOIN LATERAL (
			SELECT count(*)::numeric AS rows, sum(hashint4(d.id)::bigint) AS ids FROM $form->{rows}) i},
		$form->{plan});
}

# The same by an index scan, as a condition on the distance makes it.
sub compare_radii
{
	my ($node, $of, $queries, @radii) = @_;
	my ($table, $key, $is) = table_and_key($of);
	return compare_form($node, $of, $queries, \@radii, {
		rows => "$table d WHERE d.$key $is->{distance} q.$key <= radius",
		plan => qr/Index Scan using \S+ on $table d\b.*\n\s+Index Cond: \($key <\@ $is->{ball}\(/ });
}

# Compares, for $queries values of the table (or 'table.column'), the $limit (a number or ALL) nearest rows by the index with those of
# brute force: their distances in order, a checksum of the ids that are nearer than the last, and that no row comes twice. Returns (queries
# compared, differences).
sub compare_nearest
{
	my ($node, $of, $queries, $limit) = @_;
	my ($table, $key, $is) = table_and_key($of);
	my $summary = q{string_agg(coalesce(distance::text, 'null'), ',' ORDER BY place) AS distances,
		sum(hashint4(id)::bigint) FILTER (WHERE distance < last) AS ids FROM (SELECT *, max(distance) OVER () AS last};
	return query_by_plan($node, qq{
		$by_scan_only
		CREATE TEMP TABLE query AS
			SELECT row_number() OVER () AS n, $key FROM (
				SELECT $key FROM $table WHERE $key IS NOT NULL ORDER BY hashint4(id + 2) LIMIT $queries) q;
		CREATE TEMP TABLE brute AS
			SELECT n, b.* FROM query q CROSS JOIN LATERAL (SELECT $summary
				FROM (SELECT *, row_number() OVER (ORDER BY distance) AS place
					FROM (SELECT id, hamming(t.$key, q.$key) AS distance FROM $table t ORDER BY 2 LIMIT $limit) n) c) d) b;
		$by_index_only
		SET enable_sort = off},
		qq{SELECT count(*), count(*) FILTER (WHERE rows IS DISTINCT FROM different OR i.distances IS DISTINCT FROM b.distances
			OR i.ids IS DISTINCT FROM b.ids)
		FROM query q JOIN brute b USING (n) CROSS JOIN LATERAL (
			SELECT count(*) AS rows, count(DISTINCT row) AS different, $summary
				FROM (SELECT d.row, d.id, d.$key $is->{distance} q.$key AS distance, row_number() OVER () AS place
					FROM (SELECT $is->{row} AS row, id, $key FROM $table t ORDER BY t.$key $is->{distance} q.$key LIMIT $limit) d) c) numbered) i},
		qr/Index Scan using \S+ on $table t\b.*\n\s+Order By: \($key $is->{distance} q\.$key\)/);
}

1;
