# An index on texts is an index, and so is one on their passages, where a row has many postings: its answers equal brute force through changes, VACUUM, crashes, on a standby, in a dump and a base
# backup; built by workers, concurrently and anew under load; with damaged pages it gives an error or an answer. Short forms of what
# the other tests do with fingerprints.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;
use Time::HiRes qw(usleep);

my $rows = 6_000;
my $node = start_node('documents', init => { allows_streaming => 1 },
	conf => "wal_consistency_checking = 'all'\nlog_statement = none\nmax_parallel_maintenance_workers = 2\nrestart_after_crash = off\n");
my $dir = PostgreSQL::Test::Utils::tempdir;

# document(group, changed): 30 words, of which the first `changed` are others. Five documents of each group, some equal ones, some
# without a feature, some NULL, some that are stored out of line.
$node->safe_psql('postgres', qq{
	CREATE FUNCTION document(of_group integer, changed integer) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS \$\$
		SELECT string_agg(left(md5(of_group || ' ' || w || CASE WHEN w <= changed THEN ' ' || changed ELSE '' END), 6), ' ' ORDER BY md5(w::text))
		FROM generate_series(1, 30) w \$\$;
	CREATE TABLE docs (id integer, body text);
	INSERT INTO docs SELECT i, CASE WHEN i % 50 = 0 THEN '...' WHEN i % 51 = 0 THEN NULL WHEN i % 500 = 7 THEN repeat(document(i, 0), 300)
		ELSE document(i / 5, i % 5 % 4) END FROM generate_series(1, $rows) i});

# The pairs that the index finds, beside those of the lanes by brute force with the texts compared. Each is a number and a
# checksum, over some of the documents.
# A lane is a half of the code.
sub lanes_of
{
	my ($key, $table) = @_;
	return "WITH fingerprint AS MATERIALIZED (SELECT $key, body, substring(code, 1, 64)::bigint AS one, substring(code, 65)::bigint AS two
		FROM (SELECT $key, body, minhash_code(body) AS code FROM $table) d)";
}
my $lanes = lanes_of('id', 'docs');
my $near = 'least(hamming(a.one, b.one), hamming(a.two, b.two))';
my $pairs = 'SELECT count(*), sum(hashint8(a.id::bigint * 1000003 + b.id)::numeric)';
sub compare
{
	my ($what, $on) = @_;
	$on //= $node;
	my $output = $on->safe_psql('postgres', qq{
		SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off;
		EXPLAIN (COSTS OFF) $pairs FROM docs b JOIN docs a ON a.body =~~ b.body WHERE b.id % 7 = 3;
		$pairs FROM docs b JOIN docs a ON a.body =~~ b.body WHERE b.id % 7 = 3;
		EXPLAIN (COSTS OFF) $pairs FROM docs b JOIN docs a ON a.body &~~ b.body WHERE b.id % 100 = 3;
		$pairs FROM docs b JOIN docs a ON near_duplicate(b.body, a.body, .5) WHERE b.id % 50 = 3;
		$pairs FROM docs b JOIN docs a ON a.body &~~ b.body WHERE b.id % 100 = 3;
		SELECT count(*) FROM docs WHERE body IS NOT NULL;
		SELECT count(*) FROM docs WHERE body = '...'});
	like($output, qr/Index Scan using docs_passages on docs a\n\s+Index Cond: \(body &~~ b\.body\)/, "$what: passages by the index");
	like($output, qr/Index Scan using docs_body on docs a\n\s+Index Cond: \(body =~~ b\.body\)/, "$what: by the index");
	my $brute = $on->safe_psql('postgres', qq{
		$lanes
		$pairs FROM fingerprint a JOIN fingerprint b ON $near <= 11
		WHERE b.id % 7 = 3 AND shingle_similarity(a.body, b.body) >= .8;
		$lanes
		$pairs FROM fingerprint a JOIN fingerprint b ON $near <= minhash_radius(.5, .96)
		WHERE b.id % 50 = 3 AND shingle_similarity(a.body, b.body) >= .5;
		-- The planner does not know that this is 16.
		$pairs FROM docs a, docs b WHERE b.id % 100 = 3 AND shares_passage(b.body, a.body, 16 + b.id % 2 - 1);
		SELECT count(*) FILTER (WHERE body IS NOT NULL) FROM docs;
		SELECT count(*) FILTER (WHERE body = '...') FROM docs});
	is(join("\n", grep { /^\d/ } split /\n/, $output), $brute, "$what: the pairs are those of brute force");
	return;
}

# The indexes hold every row.
sub sound
{
	my ($what, $on) = @_;
	is(($on // $node)->psql('postgres', q{SELECT simhash_index_check('docs_passages', true)}), 0, "$what: check of passages");
	my ($code, $found, $message) = ($on // $node)->psql('postgres', q{SELECT rows = (SELECT count(*) FROM docs) FROM simhash_index_check('docs_body', true)});
	is($code, 0, "$what: check") or diag($message);
	return $found;
}

# ---- built, grown, changed ----

$node->safe_psql('postgres', 'CREATE INDEX docs_body ON docs USING simhash (body); CREATE INDEX docs_passages ON docs USING simhash (body passage_ops)');
compare('built');
my $built = $node->safe_psql('postgres', q{SELECT rows, fingerprints FROM simhash_index_check('docs_body', true)});
# Each row has a posting for each of its two lanes.
is($node->safe_psql('postgres', q{
		SELECT sum(entries) = 2 * (SELECT count(minhash(body)) FROM docs) FROM simhash_index_info('docs_body') WHERE contents = 'postings' AND level = 0}),
	't', 'each row has two postings');
$node->safe_psql('postgres', q{
	DROP INDEX docs_body;
	CREATE TABLE loaded AS TABLE docs;
	TRUNCATE docs;
	CREATE INDEX docs_body ON docs USING simhash (body);
	INSERT INTO docs SELECT * FROM loaded ORDER BY hashint4(id)});
compare('grown');
is($node->safe_psql('postgres', q{SELECT rows, fingerprints FROM simhash_index_check('docs_body', true)}), $built, 'grown: as many entries as built');
$node->safe_psql('postgres', q{
	DELETE FROM docs WHERE id % 9 = 0;
	UPDATE docs SET body = document(id / 5, 7) WHERE id % 11 = 0;
	UPDATE docs SET body = CASE WHEN body IS NULL THEN '...' END WHERE id % 50 = 0 OR body IS NULL;
	VACUUM docs});
compare('after changes and VACUUM');
is(sound('after changes and VACUUM'), 't', 'it has each row once');

# ---- built by workers ----

$node->safe_psql('postgres', 'DROP INDEX docs_body, docs_passages; ALTER TABLE docs SET (parallel_workers = 2)');
my (undef, undef, $messages) = $node->psql('postgres', q{
	SET client_min_messages = debug1; SET maintenance_work_mem = '128MB';
	CREATE INDEX docs_body ON docs USING simhash (body);
	CREATE INDEX docs_passages ON docs USING simhash (body passage_ops)});
is(() = $messages =~ /simhash build: 2 of 2 workers/g, 2, 'workers take part in the builds');
compare('built by workers');
$node->safe_psql('postgres', q{ALTER FUNCTION document_lanes(text) PARALLEL UNSAFE});
(undef, undef, $messages) = $node->psql('postgres', 'SET client_min_messages = debug1; CREATE INDEX alone ON docs USING simhash (body); DROP INDEX alone');
unlike($messages, qr/simhash build: \d+ of/, 'no workers where the words are not parallel safe');
$node->safe_psql('postgres', q{ALTER FUNCTION document_lanes(text) PARALLEL SAFE});

# ---- a standby, under load; concurrent builds ----

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
append_to_file("$dir/write.sql", <<'SQL');
\set i random(1, 100000)
\set old random(1, 6000)
INSERT INTO docs SELECT 100000 + :i, document(:i / 3, :i % 3);
INSERT INTO docs VALUES (200000 + :i, '...'), (200000 + :i, NULL);
UPDATE docs SET body = document(:old, 2) WHERE id = :old;
DELETE FROM docs WHERE id = :old + 1;
SQL
append_to_file("$dir/vacuum.sql", "VACUUM docs;\n");
$node->safe_psql('postgres', 'CREATE INDEX ON docs (id)');

sub start_load
{
	my ($seconds) = @_;
	my @runs;
	for ([ 'write', 3 ], [ 'vacuum', 1 ])
	{
		my $output = '';
		my $run = IPC::Run::start([ 'pgbench', '-n', '-c', $_->[1], '-T', $seconds, '-f', "$dir/$_->[0].sql", $node->connstr('postgres') ], '>&', \$output);
		push @runs, { run => $run, output => \$output };
	}
	return @runs;
}
my @load = start_load(5);
$node->safe_psql('postgres', 'DROP INDEX docs_body');
$node->safe_psql('postgres', 'CREATE INDEX CONCURRENTLY docs_body ON docs USING simhash (body)');
$node->safe_psql('postgres', 'DROP INDEX docs_passages');
$node->safe_psql('postgres', 'CREATE INDEX CONCURRENTLY docs_passages ON docs USING simhash (body passage_ops)');
sound('CREATE INDEX CONCURRENTLY under load');
$node->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY docs_body');
$node->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY docs_passages');
sound('REINDEX CONCURRENTLY under load');
IPC::Run::finish($_->{run}) for @load;
unlike(join('', map { ${ $_->{output} } } @load), qr/ERROR/, 'no error under load');
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) docs');
compare('after load');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
compare('on the standby', $standby);
$standby->promote;
is(sound('promoted', $standby), 't', 'the promoted standby has each row');
$standby->safe_psql('postgres', 'DELETE FROM docs WHERE id % 3 = 0; VACUUM docs');
compare('the promoted standby goes on', $standby);
unlike(slurp_file($standby->logfile), qr/inconsistent page found|PANIC/, 'every replayed page equals the primary\'s');
$standby->stop;

# ---- crashes ----

srand(31);
for my $round (1 .. 2)
{
	@load = start_load(60);
	my $idle = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
	$node->poll_query_until('postgres', "SELECT pg_current_wal_insert_lsn() - '$idle' > 500000") or die 'nothing is written';
	usleep(int(rand(300_000)));
	my $postmaster = $node->{_pid};
	$node->kill9;
	IPC::Run::finish($_->{run}) for @load;
	my $patience = 3600;
	usleep(50_000) while kill(0, $postmaster) && --$patience;
	until ($node->start(fail_ok => 1))
	{
		die 'the server does not start' unless --$patience > 0;
		$node->{_pid} = undef;
		usleep(50_000);
	}
	sound("crash $round");
	compare("crash $round");
}

# ---- tables rewritten, unlogged, dumped ----

$node->safe_psql('postgres', 'VACUUM FULL docs; ALTER TABLE docs ALTER body TYPE varchar USING body');
is(sound('rewritten, of another type'), 't', '... with each row');
$node->safe_psql('postgres', 'ALTER TABLE docs ALTER body TYPE text; ALTER TABLE docs SET UNLOGGED; INSERT INTO docs SELECT * FROM loaded LIMIT 100');
is(sound('unlogged'), 't', '... with each row');
$node->safe_psql('postgres', 'ALTER TABLE docs SET LOGGED; CREATE TABLE kept (body text, CONSTRAINT no_copies EXCLUDE USING simhash (body WITH =~~));
	INSERT INTO kept SELECT body FROM loaded ON CONFLICT DO NOTHING');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
system_or_bail('sh', '-c', sprintf(q{pg_dump '%s' | psql -q -X -v ON_ERROR_STOP=1 -d '%s' >/dev/null}, $node->connstr('postgres'), $node->connstr('copy')));
is($node->safe_psql('copy', q{SELECT rows = (SELECT count(*) FROM docs), orphans FROM simhash_index_check('docs_body', true)}), 't|0', 'dump and restore');
my $constraints = q{SELECT conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'x' ORDER BY 1};
is($node->safe_psql('copy', $constraints), $node->safe_psql('postgres', $constraints), 'the constraints are restored');
is($node->safe_psql('copy', q{SELECT count(*) FROM kept a JOIN kept b ON a.body =~~ b.body AND a.ctid <> b.ctid}), 0, 'and hold');

# ---- eight writers ----

append_to_file("$dir/keep.sql", <<'SQL');
\set group random(1, 300)
\set changed random(0, 3)
INSERT INTO kept VALUES (document(100000 + :group, :changed)) ON CONFLICT DO NOTHING;
SQL
my $output = '';
IPC::Run::run([ 'pgbench', '-n', '-c', 8, '-j', 2, '-t', 200, '--random-seed=31', '-f', "$dir/keep.sql", $node->connstr('postgres') ], '>&', \$output);
like($output, qr/processed: 1600\/1600/, 'eight writers: no call failed') or diag($output);
is($node->safe_psql('postgres', qq{
	@{[ lanes_of('place', '(SELECT ctid AS place, body FROM kept) k') ]}
	SELECT count(*) FROM fingerprint a JOIN fingerprint b ON a.place < b.place AND $near <= 11
	WHERE shingle_similarity(a.body, b.body) >= .8}), 0, 'eight writers: no near-duplicates are left');
cmp_ok($node->safe_psql('postgres', q{SELECT count(DISTINCT g) FROM generate_series(1, 300) g JOIN kept ON body =~~ document(100000 + g, 0)}), '>', 250,
	'eight writers: of each group there is one');

# Two at once that share a passage are in conflict, whichever of their postings comes first.
$node->safe_psql('postgres', 'CREATE TABLE kept_passages (body text, CONSTRAINT no_passages EXCLUDE USING simhash (body passage_ops WITH &~~))');
append_to_file("$dir/keep_passages.sql", <<'SQL');
\set piece random(1, 300)
\set own random(1, 100000)
INSERT INTO kept_passages VALUES (document(:own, 7) || ' ' || document(100000 + :piece, 0)), (document(100000 + :piece, 0) || ' ' || document(:own, 8))
	ON CONFLICT DO NOTHING;
SQL
$output = '';
IPC::Run::run([ 'pgbench', '-n', '-c', 8, '-j', 2, '-t', 100, '--random-seed=31', '-f', "$dir/keep_passages.sql", $node->connstr('postgres') ], '>&', \$output);
like($output, qr/processed: 800\/800/, 'eight writers of passages: no call failed') or diag($output);
is($node->safe_psql('postgres', q{SET enable_indexscan = off; SET enable_bitmapscan = off;
	SELECT count(*) FROM kept_passages a, kept_passages b WHERE a.ctid < b.ctid AND a.body &~~ b.body}), 0, '... and none are left that share one');
cmp_ok($node->safe_psql('postgres', q{SELECT count(DISTINCT g) FROM generate_series(1, 300) g JOIN kept_passages ON body &~~ document(100000 + g, 0)}), '>', 250,
	'... and of each piece there is one');

# ---- damage ----
my $library = testing_library();
use_library($node, $library);
$node->safe_psql('postgres', qq{
	CREATE FUNCTION read_page(regclass, integer) RETURNS bytea AS '$library', 'simhash_test_read_page' LANGUAGE C STRICT;
	CREATE FUNCTION write_page(regclass, integer, bytea) RETURNS void AS '$library', 'simhash_test_write_page' LANGUAGE C STRICT;
	TRUNCATE docs;
	INSERT INTO docs SELECT * FROM loaded;
	VACUUM docs;
	CREATE TABLE pristine AS SELECT index, block, read_page(index, block) AS page
		FROM unnest('{docs_body,docs_passages}'::regclass[]) index, generate_series(0, (pg_relation_size(index) / 8192)::integer - 1) block});
my %blocks = split /[|\n]/, $node->safe_psql('postgres', 'SELECT index, count(*) FROM pristine GROUP BY 1');
my $script = "\\set VERBOSITY verbose\nSET statement_timeout = '30s'; SET enable_seqscan = off; SET client_min_messages = error;\n";
for my $trial (1 .. 80)
{
	my $index = $trial % 2 ? 'docs_body' : 'docs_passages';
	my $block = int(rand($blocks{$index}));
	my $page = "read_page('$index', $block)";
	$page = "set_byte($page, " . int(rand(8192)) . ', ' . int(rand(256)) . ')' for 1 .. 1 + int(rand(8));
	$script .= "\\echo trial $trial\nSELECT write_page('$index', $block, $page);\n";
	$script .= 'SET enable_bitmapscan = ' . (rand() < 0.5 ? 'on' : 'off') . ";\n";
	$script .= "SELECT count(*) FROM docs WHERE body =~~ document($_, 0);\nSELECT count(*) FROM docs WHERE body &~~ document($_, 0);\n" for $trial, int(rand(1200));
	$script .= "SELECT count(*) FROM docs WHERE near_duplicate(body, document($trial, 0), .3);\nSELECT count(*) FROM docs WHERE body IS NOT NULL;\n"
		. "SELECT count(*) FROM docs WHERE body = '...';\nINSERT INTO docs SELECT -1, document(i, 0) FROM generate_series($trial, $trial + 9) i;\n"
		. "DELETE FROM docs WHERE id = -1;\nVACUUM (INDEX_CLEANUP ON) docs;\nSELECT simhash_index_check('$index', true);\n"
		. "SELECT count(write_page(index, block, page)) FROM pristine;\n";
	$script .= "SELECT count(write_page('$_', block::integer, decode(repeat('00', 8192), 'hex'))) FROM generate_series($blocks{$_}, pg_relation_size('$_') / 8192 - 1) block;\n"
		for sort keys %blocks;
}
append_to_file("$dir/damage.sql", $script . "VACUUM (INDEX_CLEANUP ON) docs;\nSELECT 'sound', b.rows, p.rows FROM simhash_index_check('docs_body', true) b, simhash_index_check('docs_passages', true) p;\n");
my ($status, $printed, $errors) = $node->psql('postgres', '', extra_params => [ '-f', "$dir/damage.sql" ], on_error_stop => 0);
is($status, 0, 'damage: the connection lasted');
unlike($errors, qr/server closed|ERROR:  57014|ERROR:  53200/, 'damage: nothing hung or took all memory');
like($errors, qr/ERROR:  XX002/, 'damage was noticed');
like($printed, qr/^sound\|$rows\|$rows$/m, 'the restored indexes are sound');
$node->stop;
done_testing();
