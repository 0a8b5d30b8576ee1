# Random damage to pages of every type: what follows is an error or an answer, never a crash and never a hang.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use SimhashTest;
use Test::More;

my $trials = $ENV{SIMHASH_DAMAGE_TRIALS} // 300;
my $seed = $ENV{SIMHASH_DAMAGE_SEED} // 20240601;
srand($seed);

my $library = testing_library();
my $node;
{
	# Only the server is under the sanitizer: psql's libraries may wait for a lock of their own at its exit.
	my $preload = $ENV{SIMHASH_PRELOAD};
	local %ENV = (%ENV, $preload ? (LD_PRELOAD => $preload, ASAN_OPTIONS => 'detect_leaks=0:handle_segv=0:abort_on_error=1') : ());
	$node = start_node('damage', conf => "fsync = off\nrestart_after_crash = off\nstatement_timeout = 30s\nlog_statement = none\nlog_min_error_statement = panic\nlog_min_messages = fatal\nmax_stack_depth = 2MB\n",
		no_extension => defined $preload);
}
use_library($node, $library);

# Small indexes with pages of all types: two levels, one fingerprint on several leaves, nulls on several leaves, deleted pages; and one of
# codes, whose pages are of fewer types.
$node->safe_psql('postgres', q{
	CREATE FUNCTION read_page(regclass, integer) RETURNS bytea AS '$library', 'simhash_test_read_page' LANGUAGE C STRICT;
	CREATE FUNCTION write_page(regclass, integer, bytea) RETURNS void AS '$library', 'simhash_test_write_page' LANGUAGE C STRICT;
} =~ s/\$library/$library/gr);
$node->safe_psql('postgres', $_) for (
	q{CREATE TABLE docs (id integer, fp bigint) WITH (fillfactor = 90)},
	q{CREATE INDEX docs_fp ON docs USING simhash (fp)},
	q{INSERT INTO docs SELECT i, ('x' || md5(i::text))::bit(64)::bigint FROM generate_series(1, 9000) i},
	q{INSERT INTO docs SELECT i, 42 FROM generate_series(1, 3000) i},
	q{INSERT INTO docs SELECT i, NULL FROM generate_series(1, 6000) i},
	q{DELETE FROM docs WHERE fp BETWEEN 1e18::bigint AND 4e18::bigint},
	q{VACUUM docs});
create_codes($node, 'codes', 256, 1500);
$node->safe_psql('postgres', $_) for (
	q{CREATE INDEX codes_code ON codes USING simhash (code) WITH (radius = 7)},
	q{INSERT INTO codes SELECT i, random_code(i)::bit(256) FROM generate_series(2000, 3000) i},
	q{CREATE TABLE pristine AS SELECT name, block, read_page(name, block) AS page
		FROM unnest(ARRAY['docs_fp', 'codes_code']) name, generate_series(0, (pg_relation_size(name::regclass) / 8192)::integer - 1) block});
my %tables = (docs_fp => 'docs', codes_code => 'codes');
my %rows = map { $_ => $node->safe_psql('postgres', "SELECT count(*) FROM $tables{$_}") } keys %tables;

# Blocks by type: tree, level and flags stand at the page's end (src/index/store/page.hpp, PageOpaque).
my (%blocks, %block_count);
for (split /\n/, $node->safe_psql('postgres', q{SELECT name, block, get_byte(page, 8184), get_byte(page, 8186), get_byte(page, 8187) FROM pristine}))
{
	my ($index, $block, $flags, $tree, $level) = split /\|/;
	my $trees = $index eq 'docs_fp' ? 4 : 8;
	my $type = $flags & 1 ? 'metapage' : $flags & 4 ? 'deleted page'
		: sprintf('%s %s', $tree == $trees ? 'null' : $tree % ($index eq 'docs_fp' ? 4 : 2) ? 'block' : 'posting', $level ? 'parent' : 'leaf');
	$type = "codes: $type" if $index ne 'docs_fp';
	push @{ $blocks{$type} }, [ $index, $block ];
	$block_count{$index}++;
}
my @types = sort keys %blocks;
is(join(', ', @types), 'block leaf, block parent, codes: block leaf, codes: block parent, codes: metapage, codes: null leaf, codes: posting leaf, codes: posting parent, '
		. 'deleted page, metapage, null leaf, null parent, posting leaf, posting parent', 'pages of every type');

# An offset: header, special space, start of the body (run header, pivots), or anywhere.
sub random_offset
{
	my $kind = int(rand(4));
	return int(rand(24)) if $kind == 0;
	return 8144 + int(rand(48)) if $kind == 1;
	return 24 + int(rand(72)) if $kind == 2;
	return int(rand(8192));
}

# SQL that damages one page.
sub damage
{
	my ($index, $block) = @_;
	my $kind = rand();
	return "SELECT write_page('$index', $block, (SELECT page FROM pristine WHERE name = '$index' AND block = " . int(rand($block_count{$index})) . "));" if $kind < 0.03;
	return "SELECT write_page('$index', $block, decode(repeat('00', 8192), 'hex'));" if $kind < 0.04;
	my $page = "read_page('$index', $block)";
	if ($kind < 0.3)
	{
		# A link or count of a plausible value: 4 bytes.
		my $offset = (8180, 24, 36, 34 + 4 * int(rand(20)), 32 + 12 * int(rand(60)), 38 + 18 * int(rand(60)))[ int(rand(6)) ];
		my $value = unpack('H8', pack('V', rand() < 0.1 ? 0xffffffff : int(rand($block_count{$index} + 3))));
		$page = "overlay($page placing '\\x$value'::bytea from " . ($offset + 1) . ')';
	}
	else
	{
		for (1 .. 1 + int(rand(6)))
		{
			my $value = (0, 255, int(rand(256)), 1 << int(rand(8)))[ int(rand(4)) ];
			$page = "set_byte($page, " . random_offset() . ", $value)";
		}
	}
	return "SELECT write_page('$index', $block, $page);";
}

# What is done with the damaged index. Rows of earlier trials are deleted; those of `pristine` stay.
sub use_index
{
	my ($trial, $index) = @_;
	my $query = int(rand(2**31)) * 4_000_000_000 + int(rand(2**31));
	my $code = 'random_code(' . int(rand(150)) . ')::bit(256)';
	my @statements = $index eq 'codes_code' ? (
		(map { "SELECT count(*) FROM codes WHERE code <~~> $code <= $_;" } 0, 3, 7, 20, 40, 256),
		'SELECT count(*) FROM codes WHERE code = sparse_code(1, 3)::bit(256);', 'SELECT count(*) FROM codes WHERE code IS NULL;',
		(map { "SELECT count(*) FROM (SELECT FROM codes ORDER BY code <~~> $code LIMIT $_) d;" } 1, 20, 'ALL'),
		"INSERT INTO codes SELECT 1000000, random_code(i + 5000 * $trial)::bit(256) FROM generate_series(1, 150) i;",
		"INSERT INTO codes SELECT 1000000, sparse_code(1, 3)::bit(256) FROM generate_series(1, 100) i;",
		'DELETE FROM codes WHERE id = 1000000;') : (
		(map { "SELECT count(*) FROM docs WHERE fp <~> $query <= $_;" } 0, 3, 5, 8, 64),
		(map { "SELECT count(*) FROM docs WHERE fp <~> ('x' || md5('" . (1 + int(rand(9000))) . "'))::bit(64)::bigint <= $_;" } 0, 3, 4, 6),
		'SELECT count(*) FROM docs WHERE fp <~> 42 <= 3;', 'SELECT count(fp) FROM docs WHERE fp = 42;',
		'SELECT count(*) FROM docs WHERE fp IS NULL;', "SELECT count(*) FROM (SELECT FROM docs ORDER BY fp <~> $query LIMIT 20) d;",
		"SELECT count(*) FROM (SELECT FROM docs ORDER BY fp <~> $query) d;",
		"INSERT INTO docs SELECT 1000000, hashint8extended(i, $trial) FROM generate_series(1, 250) i;",
		'INSERT INTO docs SELECT 1000000, 42 FROM generate_series(1, 150) i;', 'INSERT INTO docs SELECT 1000000, NULL FROM generate_series(1, 150) i;',
		'DELETE FROM docs WHERE id = 1000000;');
	# Each statement alone meets the damage first some time.
	@statements = map { $statements[ $_ ] } sort { $a <=> $b } map { int(rand(@statements)) } 1 .. 9;
	return join("\n", @statements, "VACUUM (INDEX_CLEANUP ON) $tables{$index};", "SELECT simhash_index_check('$index', true);", "SELECT count(*) FROM simhash_index_info('$index');");
}

my $script = "\\set VERBOSITY verbose\nSET enable_seqscan = off; SET client_min_messages = error;\n";
my %damaged;
for my $trial (1 .. $trials)
{
	my $type = $types[ int(rand(@types)) ];
	$damaged{$type}++;
	my $index = $blocks{$type}[0][0];
	$script .= "\\echo trial $trial\n" . join("\n", map { damage(@{ $blocks{$type}[ int(rand(@{ $blocks{$type} })) ] }) } 1 .. (rand() < 0.2 ? 2 : 1)) . "\n";
	$script .= "SET enable_bitmapscan = " . (rand() < 0.5 ? 'on' : 'off') . "; SET enable_indexscan = " . (rand() < 0.7 ? 'on' : 'off') . ";\n";
	$script .= use_index($trial, $index) . "\n";
	# Everything as it was, pages that were added zero again.
	$script .= "SELECT count(write_page('$index', block, page)) FROM pristine WHERE name = '$index';\n";
	$script .= "SELECT count(write_page('$index', block::integer, decode(repeat('00', 8192), 'hex'))) FROM generate_series($block_count{$index}, pg_relation_size('$index') / 8192 - 1) block;\n";
	$script .= "DELETE FROM $tables{$index} WHERE id = 1000000; VACUUM (INDEX_CLEANUP ON) $tables{$index};\nSELECT 'sound', (simhash_index_check('$index', true)).rows - $rows{$index};\n"
		if $trial % 10 == 0 || $trial == $trials;
}
unlink "$PostgreSQL::Test::Utils::tmp_check/damage.sql";
PostgreSQL::Test::Utils::append_to_file("$PostgreSQL::Test::Utils::tmp_check/damage.sql", $script);
my ($status, $output, $errors) = $node->psql('postgres', '', extra_params => [ '-f', "$PostgreSQL::Test::Utils::tmp_check/damage.sql" ], on_error_stop => 0, timeout => 7200);

# Rows that seem to lie far behind the table's end. An order that adds up distances by the rows' places is done with them soon.
my $far = "\\set VERBOSITY verbose\nSET enable_seqscan = off;\n";
$far .= "SELECT write_page('codes_code', $_->[1], set_byte(read_page('codes_code', $_->[1]), 35, 10));\n" for @{ $blocks{'codes: posting leaf'} };
$far .= "SELECT count(*) FROM (SELECT FROM codes ORDER BY code <~~> random_code(119)::bit(256) LIMIT ALL) d;\n";
$far .= "SELECT count(write_page('codes_code', block, page)) FROM pristine WHERE name = 'codes_code';\n";
my (undef, undef, $far_errors) = $node->psql('postgres', $far, on_error_stop => 0);
unlike($far_errors, qr/57014/, 'rows far behind the end of the table keep no scan busy');

my %states;
$states{$1}++ while $errors =~ /ERROR:  (\w{5})/g;
my $last = (() = $output =~ /^trial \d+/mg);
is($last, $trials, 'all trials were run');
is($status, 0, 'the connection lasted') or diag(substr($errors, -2000));
unlike($errors, qr/server closed|terminat|no connection/, 'the server lives');
is($states{57014} // 0, 0, 'nothing hung');
is($states{53200} // 0, 0, 'memory was not exhausted');
cmp_ok($states{XX002} // 0, '>=', $trials / 4, 'damage was noticed');
# Neither the index nor the table is asked for a block beyond its end.
my $files = join('|', map { quotemeta($node->safe_psql('postgres', "SELECT pg_relation_filepath('$_')")) } sort map { ($_, $tables{$_}) } keys %tables);
my @below = $errors =~ /ERROR:  \w{5}: (?:could not [^\n]*"(?:$files)[".]|tuple offset out of range)[^\n]*/g;
is(scalar(@below), 0, 'no link was followed beyond the end of the index, no posting beyond that of the table') or diag($below[0]);
my @sound = $output =~ /^sound\|(-?\d+)/mg;
is(scalar(grep { $_ != 0 } @sound), 0, 'the restored index is sound');
cmp_ok(scalar(@sound), '>=', $trials / 10, 'and was looked at');

# Postings with an offset that no page has, or a block beyond the table's end: noticed before the server looks there, one by one and in a
# bitmap, and by a cursor that has read others. The posting inserted last ends where the page's content does, with the TID.
$node->safe_psql('postgres', $_) for (
	q{CREATE TABLE places (id integer, fp bigint)},
	q{CREATE INDEX places_fp ON places USING simhash (fp) WITH (radius = 0)},
	q{INSERT INTO places SELECT i, CASE WHEN i <= 10 THEN 77 END FROM generate_series(1, 20) i},
	q{CREATE TABLE places_pages AS SELECT block, page, get_byte(page, 12) + 256 * get_byte(page, 13) - 6 AS place, get_byte(page, 8186) = 1 AS is_null
		FROM generate_series(1, pg_relation_size('places_fp')::integer / 8192 - 1) block, read_page('places_fp', block) page});
my @places = (
	[ '000000000100', undef ], # sound, of another row
	[ '000000002401', 'points to offset 292; a page has at most 291 rows' ],
	[ '00000000ffff', 'points to offset 65535;' ],
	[ '000001000100', 'points to block 1, which the table lacks' ],
	[ '030000000100', 'points to block 196608,' ], # in another file of the table, which PostgreSQL would open
	[ 'fffffeff0100', 'points to block 4294967294,' ]);
my @wrong;
for my $place (@places)
{
	$node->safe_psql('postgres', "SELECT write_page('places_fp', block, overlay(page placing '\\x$place->[0]'::bytea from place + 1)) FROM places_pages");
	for my $condition ('fp = 77', 'fp IS NULL')
	{
		for my $way ('bitmapscan', 'indexscan')
		{
			my (undef, undef, $said) = $node->psql('postgres', "\\set VERBOSITY verbose\nSET enable_seqscan = off; SET enable_" . ($way eq 'indexscan' ? 'bitmapscan' : 'indexscan') . " = off;\n"
					. "SELECT count(id) FROM places WHERE $condition", on_error_stop => 0);
			my $is_right = $place->[1] ? $said =~ /XX002: .*\nDETAIL:  A posting $place->[1].*\nHINT:  Please REINDEX it/ : $said eq '';
			push @wrong, "$place->[0] $condition $way: $said" if !$is_right;
		}
	}
}
is(join("\n", @wrong), '', 'a posting of a place that the table does not have is noticed');
$node->safe_psql('postgres', q{SELECT write_page('places_fp', block, page) FROM places_pages});
# The table grows while a scan that knows its size goes on: the second lookup of the join is of a row on a block that was added meanwhile.
is($node->safe_psql('postgres', q{
	SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off;
	CREATE FUNCTION grow(i integer) RETURNS bigint VOLATILE LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO places SELECT 100, 78 FROM generate_series(1, 1000);
		RETURN 76 + i; END $$;
	SELECT count(n) FROM (SELECT grow(i) AS fp FROM generate_series(1, 3) i OFFSET 0) a, LATERAL (SELECT count(*) AS n FROM places p WHERE p.fp = a.fp OFFSET 0) d}), 3,
	'and a table that has grown since the scan began has more');

# A link from the second of three levels back to the root, found by the inner scan of a join.
$node->safe_psql('postgres', $_) for (
	q{CREATE TABLE tall AS SELECT i AS id, hashint8extended(i, 1) AS fp FROM generate_series(1, 80000) i},
	q{CREATE INDEX tall_fp ON tall USING simhash (fp) WITH (tables = 1, fillfactor = 10)});
is($node->safe_psql('postgres', q{SELECT max(level) FROM simhash_index_info('tall_fp')}), 2, 'three levels');
$node->safe_psql('postgres', q{SELECT write_page('tall_fp', 1, overlay(read_page('tall_fp', 1) placing '\x01000000'::bytea from 24 + 18 + 14 + 1))});
my (undef, undef, $circle) = $node->psql('postgres', q{
	SET enable_seqscan = off;
	SET enable_bitmapscan = off;
	SELECT count(n) FROM (SELECT hashint8extended(i, 1) AS fp FROM generate_series(1, 80000) i) a, LATERAL (SELECT count(*) AS n FROM tall WHERE tall.fp <~> a.fp <= 0) d
	WHERE n > 0});
like($circle, qr/is corrupted at block 1/, 'a link back to the root is noticed');
is($node->safe_psql('postgres', 'SELECT 1'), 1, 'and the server lives');

# A right link that leads out of the posting table, to a page whose fences would be in order there: the root, the deleted leaf that the link
# led to before, the last leaf of the null table.
$node->safe_psql('postgres', q{CREATE VIEW links AS SELECT block, get_byte(page, 8186) AS tree, get_byte(page, 8187) AS level,
	get_byte(page, 8184) & 4 <> 0 AS deleted, get_byte(page, 8183) = 255 AS rightmost,
	substring(page FROM 8145 FOR 8) || substring(page FROM 8169 FOR 6) AS low, substring(page FROM 8153 FOR 8) || substring(page FROM 8175 FOR 6) AS high
	FROM pristine WHERE name = 'docs_fp' AND block > 0});
my %elsewhere = (root => 'o.tree = 0 AND o.level > 0 AND o.rightmost', 'deleted leaf' => 'o.tree = 0 AND o.level = 0 AND o.deleted AND o.low = l.high',
	'leaf of another table' => 'o.tree = 4 AND o.level = 0 AND o.rightmost');
for my $where (sort keys %elsewhere)
{
	my ($leaf, $target) = split /\|/, $node->safe_psql('postgres', "SELECT l.block, o.block FROM links l JOIN links o ON $elsewhere{$where}
		WHERE l.tree = 0 AND l.level = 0 AND NOT l.deleted AND NOT l.rightmost ORDER BY 1, 2 LIMIT 1");
	my $link = unpack('H8', pack('V', $target));
	my (undef, undef, $noticed) = $node->psql('postgres', "DELETE FROM docs WHERE id = (SELECT min(id) FROM docs);
		SELECT write_page('docs_fp', $leaf, overlay(read_page('docs_fp', $leaf) placing '\\x$link'::bytea from 8180 + 1));
		\\set VERBOSITY verbose
		VACUUM (INDEX_CLEANUP ON) docs", on_error_stop => 0);
	like($noticed, qr/XX002: .* at block $target\n.*right link leads out/, "VACUUM notices a right link to a $where");
	$node->safe_psql('postgres', q{SELECT write_page('docs_fp', block, page) FROM pristine WHERE name = 'docs_fp'});
}

# The layout is under a checksum: a wrong one would give wrong answers without any other sign. Radius, tables, lanes, scope; the checksum.
my @unnoticed = grep {
	my $byte = $_;
	$node->safe_psql('postgres', qq{SELECT write_page('docs_fp', 0, set_byte(page, $byte, get_byte(page, $byte) # 1)) FROM pristine WHERE name = 'docs_fp' AND block = 0});
	my (undef, undef, $message) = $node->psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM docs WHERE fp <~> 42 <= 3');
	$message !~ /is corrupted at block 0/
} (30 .. 33, 36, 39);
is("@unnoticed", '', 'a bit of the layout that has flipped is noticed');
$node->safe_psql('postgres', q{SELECT write_page('docs_fp', 0, set_byte(page, 28, 99)) FROM pristine WHERE name = 'docs_fp' AND block = 0});
my (undef, undef, $later) = $node->psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM docs WHERE fp <~> 42 <= 3');
like($later, qr/has storage format version 99/, 'a later format is refused');

# Pages that a crash left between extension and linking, where the index that was there before had leaves: a session that searched that
# one still has links to them.
my $after = $node->safe_psql('postgres', q{
	SET enable_seqscan = off;
	SET enable_bitmapscan = off;
	CREATE TABLE anew AS SELECT i AS id, hashint8extended(i, 1) AS fp FROM generate_series(1, 20000) i;
	CREATE INDEX anew_fp ON anew USING simhash (fp);
	SELECT count(*) FROM anew a JOIN anew b ON a.fp <~> b.fp <= 3;
	DELETE FROM anew WHERE id > 1000;
	SELECT pg_relation_size('anew_fp') / 8192 AS pages \gset
	VACUUM anew;
	REINDEX INDEX anew_fp;
	SELECT write_page('anew_fp', -1, decode(repeat('00', 8192), 'hex')) FROM generate_series(pg_relation_size('anew_fp') / 8192, :pages);
	SELECT count(*) FROM anew a JOIN anew b ON a.fp <~> b.fp <= 3});
is($after, "20000\n" . "\n" x ($after =~ tr/\n// - 1) . '1000', 'pages of zeros where leaves were are passed by');

# A table that has lost its end. In one of another access method a TID need not lie within the file.
$node->safe_psql('postgres', 'CREATE ACCESS METHOD other TYPE TABLE HANDLER heap_tableam_handler');
for my $method ('heap', 'other')
{
	$node->safe_psql('postgres', $_) for ("CREATE TABLE short_$method (fp bigint) USING $method",
		"INSERT INTO short_$method SELECT hashint8extended(i, 1) FROM generate_series(1, 1000) i",
		"CREATE INDEX short_${method}_fp ON short_$method USING simhash (fp)", 'CHECKPOINT');
	truncate($node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('short_$method')"), 8192) or die "truncate: $!";
}
my $check = q{SELECT rows FROM simhash_index_check('short_%s_fp')};
my (undef, undef, $beyond) = $node->psql('postgres', sprintf($check, 'heap'));
like($beyond, qr/A posting points to .*; the table has 1 blocks/, 'a TID beyond the end of the table is noticed');
is($node->safe_psql('postgres', sprintf($check, 'other')), 1000, 'and is none in a table of another access method');
# A scan as the check. The server leaves out of a bitmap what lies beyond the file.
my $scan = q{SET enable_seqscan = off; SET enable_indexscan = off; SELECT count(*) > 0 FROM short_%s WHERE fp IS NOT NULL};
(undef, undef, $beyond) = $node->psql('postgres', sprintf($scan, 'heap'));
like($beyond, qr/A posting points to block \d+, which the table lacks/, 'a scan notices it, too');
is($node->safe_psql('postgres', sprintf($scan, 'other')), 't', 'and takes none in that other table for one');

note("measured: $trials trials (seed $seed), " . join(', ', map { "$damaged{$_} $_" } sort keys %damaged) . '; errors: ' . join(', ', map { "$_ $states{$_}" } sort keys %states));
$node->stop;
done_testing();
