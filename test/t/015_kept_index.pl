# An index that an earlier simhash wrote (test/data/index_format_N, N being the version of the format) is read, written, vacuumed,
# checked and rebuilt by the present code. test/README.md says how `make kept-index` writes such data.
use strict;
use warnings;

use Compress::Zlib;
use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $page_size = 8192;
my $tmp = $PostgreSQL::Test::Utils::tmp_check;

my %folders = map { /_(\d+)$/ ? ($1 => $_) : () } glob("$FindBin::RealBin/../data/index_format_*");
plan skip_all => 'no index is kept (make kept-index)' unless %folders;
# The pages hold numbers in the machine's byte order.
plan skip_all => 'the kept index was written by a little-endian machine' unless pack('L', 1) eq pack('V', 1);
my $node = start_node('kept_index', conf => "fsync = off\nlog_statement = none\n");
my $sizes = $node->safe_psql('postgres', 'SELECT database_block_size, max_data_alignment FROM pg_control_init()');
unless ($sizes eq "$page_size|8")
{
	$node->stop;
	plan skip_all => "the kept index has blocks of $page_size bytes, data aligned to 8 bytes; this server: " . $sizes =~ s/\|/ and /r;
}

sub gunzipped
{
	my ($file) = @_;
	return Compress::Zlib::memGunzip(slurp_file($file)) // die "$file cannot be unpacked";
}

# What the first page, after the server's own header, says that the index is: (magic, version).
sub meta_of { return unpack('x24 a4 v', $_[0]) }

# Numbers of the pages that are unlinked, and the youngest transaction at whose time one was.
sub deleted_pages
{
	my @pages = unpack("(a$page_size)*", $_[0]);
	my @deleted = grep { unpack('x8184 v', $pages[$_]) & 4 } 0 .. $#pages;
	my ($youngest) = sort { $b <=> $a } map { unpack('x8160 Q<', $pages[$_]) } @deleted;
	return ($youngest, @deleted);
}

# The index's file, as it is when the server has written what it has in memory.
sub file_of_index { return $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('docs_fp')}) }

sub index_on_disk
{
	$node->safe_psql('postgres', 'CHECKPOINT');
	return slurp_file(file_of_index());
}

# Each by the index and by the sequential scan: [query, what stands in its plan].
my @queries = (
	[ 'SELECT count(*), sum(id) FROM docs WHERE fp <~> 42 <= 3', 'Index Scan' ],
	[ 'SELECT count(*), sum(id) FROM docs WHERE fp <@ hamming_ball(-1, 25)', 'Index Scan' ],
	[ 'SELECT count(*), sum(id) FROM docs WHERE fp = 42', 'Index Scan' ],
	[ 'SELECT count(*), sum(id) FROM docs WHERE fp IS NULL', 'Index Scan' ],
	[ 'SELECT count(*), sum(id) FROM docs WHERE fp <~> 42 <= 30 AND fp <~> -1 <= 36', 'Index Scan' ],
	[ 'SELECT count(*), sum(id) FROM docs WHERE fp = ANY (ARRAY[42, 0, -80536857738832964])', 'Bitmap Index Scan' ],
	[ 'SELECT count(*), sum(fp::numeric) FROM docs WHERE fp <~> 42 <= 28', 'Index Only Scan' ],
	[ 'SELECT count(*), count(fp), sum(fp::numeric) FROM docs', 'Index Only Scan' ],
	[ 'SELECT count(*), sum(id) FROM docs WHERE fp <~> 42 <= 24 OR fp <~> -1 <= 24', 'BitmapOr' ],
	[ 'SELECT count(*), sum(a.id - b.id) FROM docs a JOIN docs b ON a.fp <~> b.fp <= 3 WHERE a.id % 7 = 0', 'Index Scan' ]);
my $by_scan = 'SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;';

sub answers_as_by_scan
{
	my ($when) = @_;
	my @wrong;
	for (@queries)
	{
		my ($query, $plan) = @$_;
		my $by_index = 'SET enable_seqscan = off; SET enable_bitmapscan = ' . ($plan =~ /Bitmap/ ? 'on' : 'off') . ';';
		my $shown = $node->safe_psql('postgres', "$by_index EXPLAIN (COSTS OFF) $query");
		my ($found, $truth) = map { $node->safe_psql('postgres', "$_ $query") } $by_index, $by_scan;
		push @wrong, "$query\n$shown\nby the index $found, by the scan $truth" unless $shown =~ /$plan/ && $found eq $truth;
	}
	is(join("\n", @wrong), '', "$when: queries of all kinds");
	my @radii = compare_radii($node, 'docs', 15, -1 .. 6, 8, 12, 20, 32, 48, 64);
	is($radii[1], 0, "$when: every radius, $radii[0] queries");
	for my $limit (10, 'ALL')
	{
		my @nearest = compare_nearest($node, 'docs', 15, $limit);
		is($nearest[1], 0, "$when: nearest neighbours, limit $limit, $nearest[0] queries");
	}
	return;
}

sub is_sound
{
	my ($when, $rows) = @_;
	is($node->safe_psql('postgres', q{SELECT rows, orphans FROM simhash_index_check('docs_fp', true)}), "$rows|0", "$when: the check passes");
	return;
}

sub count_rows { return $node->safe_psql('postgres', 'SELECT count(*) FROM docs') }

# The table as it was, each row in its place, and the kept pages as its index.
sub restore
{
	my ($format, $folder, $pages) = @_;
	my $rows = "$tmp/kept_index_rows.tsv";
	unlink $rows;
	append_to_file($rows, gunzipped("$folder/rows.tsv.gz"));
	$node->safe_psql('postgres', qq{
		DROP TABLE IF EXISTS docs, places;
		CREATE TABLE places (tid tid, id integer, fp bigint, padding bigint, dead boolean);
		COPY places FROM '$rows';
		CREATE TABLE docs (id integer, fp bigint, padding bigint);
		INSERT INTO docs SELECT coalesce(id, -1), CASE WHEN id IS NULL THEN 0 ELSE fp END, padding FROM places ORDER BY tid;
		DELETE FROM docs WHERE id = -1;
		VACUUM (TRUNCATE OFF) docs;
		CREATE INDEX docs_fp ON docs USING simhash (fp);
		ANALYZE docs});
	is($node->safe_psql('postgres', q{
			SELECT count(*), count(*) FILTER (WHERE docs.id IS DISTINCT FROM places.id OR docs.fp IS DISTINCT FROM places.fp)
			FROM docs FULL JOIN (SELECT * FROM places WHERE id IS NOT NULL) places ON docs.ctid = places.tid}),
		count_rows() . '|0', "format $format: every row lies where it lay");
	$node->safe_psql('postgres', 'DELETE FROM docs USING places WHERE docs.id = places.id AND dead');
	my $file = file_of_index();
	my $checksums = $node->safe_psql('postgres', 'SHOW data_checksums');
	$node->stop;
	system_or_bail('pg_checksums', '--disable', '-D', $node->data_dir) if $checksums eq 'on';
	unlink $file, "${file}_fsm";
	append_to_file($file, $pages);
	$node->start;
	return;
}

for my $format (sort { $a <=> $b } keys %folders)
{
	my $when = "format $format";
	my $pages = gunzipped("$folders{$format}/pages.gz");
	is(join(' ', meta_of($pages)), "HMIS $format", "$when: the version in the metapage");
	my ($youngest, @deleted) = deleted_pages($pages);
	restore($format, $folders{$format}, $pages);

	# Read. Rows that were dead, and not vacuumed, are in the index.
	my $dead = $node->safe_psql('postgres', 'SELECT count(*) FROM places WHERE dead');
	is_sound("$when, as it was", count_rows() + $dead);
	is($node->safe_psql('postgres', q{SELECT count(*) FROM simhash_index_info('docs_fp') WHERE level = 0 AND tail_entries > 0}), 5, "$when: entries in the tails of every tree");
	isnt($dead, 0, "$when: rows that vacuum has not seen");
	isnt(scalar(@deleted), 0, "$when: an unlinked page");
	answers_as_by_scan("$when, as it was");

	# Write, up to splits; crash.
	my $size = length $pages;
	$node->safe_psql('postgres', q{
		INSERT INTO docs SELECT 10000 + i, CASE WHEN i % 9 = 0 THEN NULL WHEN i % 9 = 1 THEN 42 WHEN i % 9 < 5 THEN hashint8extended(i, 1) # 5
			ELSE hashint8extended(i, 2) END FROM generate_series(1, 2000) i});
	cmp_ok(length(index_on_disk()), '>', $size, "$when, after inserts: leaves have split");
	is_sound("$when, after inserts", count_rows() + $dead);
	answers_as_by_scan("$when, after inserts");
	$node->safe_psql('postgres', 'INSERT INTO docs SELECT 20000 + i, hashint8extended(i, 3) FROM generate_series(1, 200) i');
	$node->stop('immediate');
	$node->start;
	is_sound("$when, after a crash", count_rows() + $dead);

	# Delete, update and vacuum; then an unlinked page of old is used again, as soon as its transaction is over for everyone.
	$node->safe_psql('postgres', $_) for (
		'DELETE FROM docs WHERE id % 3 = 0 OR fp BETWEEN 3e18::bigint AND 6e18::bigint',
		'UPDATE docs SET fp = fp # 9 WHERE id % 5 = 0',
		'VACUUM (INDEX_CLEANUP ON) docs');
	is_sound("$when, after vacuum", count_rows());
	answers_as_by_scan("$when, after vacuum");
	$node->safe_psql('postgres', qq{
		DO \$\$ BEGIN WHILE pg_current_xact_id()::text::numeric <= $youngest LOOP COMMIT; END LOOP; END \$\$;
		VACUUM docs;
		INSERT INTO docs SELECT 30000 + i, hashint8extended(i, 4) FROM generate_series(1, 6000) i});
	is_sound("$when, grown again", count_rows());
	my %still = map { $_ => 1 } (deleted_pages(index_on_disk()))[ 1 .. 100 ];
	is(scalar(grep { $still{$_} } @deleted), 0, "$when, grown again: unlinked pages are in use");
	answers_as_by_scan("$when, grown again");
	is(join(' ', meta_of(index_on_disk())), "HMIS $format", "$when, grown again: the version is as it was");

	$node->safe_psql('postgres', 'REINDEX INDEX docs_fp');
	is_sound("$when, after REINDEX", count_rows());
	answers_as_by_scan("$when, after REINDEX");
}
$node->stop;
done_testing();
