# Recovery that ends right after a record which changes several pages: a split, its downlink, a root pushed down, an unlinked leaf. Whatever the
# next record would have been, the index is sound, goes on being written, and vacuum leaves nothing behind.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $targets = $ENV{SIMHASH_RECOVERY_TARGETS} // 6;
# Full images only where a record asks for one: so a split is told from an append.
my $primary = start_node('primary', init => { allows_streaming => 1, has_archiving => 1 }, conf => "full_page_writes = off\nfsync = off\nlog_statement = none\nwal_keep_size = 2GB\n");
$primary->safe_psql('postgres', $_) for (
	q{CREATE TABLE docs (id integer, fp bigint)},
	q{INSERT INTO docs SELECT i, hashint8extended(i, 1) FROM generate_series(1, 36000) i},
	q{INSERT INTO docs SELECT i, NULL FROM generate_series(1, 4000) i},
	q{CREATE INDEX docs_fp ON docs USING simhash (fp) WITH (tables = 2, radius = 1, fillfactor = 10)},
	q{CREATE TABLE young (id integer, fp bigint)},
	q{CREATE INDEX young_fp ON young USING simhash (fp) WITH (tables = 2, radius = 1)},
	'CHECKPOINT');
add_codes($primary, 'young', 'tables = 2, radius = 7');
$primary->backup('base');
my $start = $primary->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
$primary->safe_psql('postgres', $_) for (
	q{INSERT INTO young SELECT i, hashint8extended(i, 7) FROM generate_series(1, 2500) i},
	q{INSERT INTO young SELECT i, NULL FROM generate_series(1, 6000) i},
	q{INSERT INTO docs SELECT i, hashint8extended(i, 2) FROM generate_series(1, 60000) i},
	q{DELETE FROM docs WHERE fp BETWEEN -6e18::bigint AND 5e18::bigint});
my $vacuum = $primary->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
$primary->safe_psql('postgres', $_) for (
	'VACUUM docs', 'DELETE FROM young WHERE fp > 0 OR (fp IS NULL AND id > 100)', 'VACUUM young', 'VACUUM docs',
	q{INSERT INTO docs SELECT i, hashint8extended(i, 3) FROM generate_series(1, 20000) i});
my $end = $primary->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
my $archived = $primary->safe_psql('postgres', "SELECT pg_walfile_name('$end')");
$primary->poll_query_until('postgres', "SELECT last_archived_wal >= '$archived' FROM pg_stat_archiver") or die 'WAL was not archived';

# Records of several pages that are not appends, and what follows such a one. A split, or a root pushed down, is followed by a record of several
# pages: the next step towards the downlink, or the downlink itself with the end of the split.
my (@records, $follows, $follows_split);
my ($stdout, $stderr) = run_command([ 'pg_waldump', '-p', $primary->data_dir . '/pg_wal', '-r', 'Generic', '-s', $start, '-e', $end ]);
for (split /\n/, $stdout)
{
	my ($lsn) = /lsn: ([0-9A-F\/]+)/ or next;
	my $pages = () = /blkref/g;
	my $splits = $pages == 2 && /FPW/;
	my $wanted = $pages > 2 || $splits;
	push @records, [ $lsn, $pages ] if $wanted || $follows_split || ($follows && $pages > 1);
	($follows, $follows_split) = ($wanted, $splits);
}
# VACUUM says in the metapage that a removal begins before it removes anything.
my ($generic) = run_command([ 'pg_waldump', '-p', $primary->data_dir . '/pg_wal', '-r', 'Generic', '-s', $vacuum, '-e', $end, '-n', 1 ]);
like($generic, qr/blkref #0: rel \S+ blk 0\b/, 'the first record of VACUUM is that of the metapage');
$primary->stop;
my %by_pages;
push @{ $by_pages{ $_->[1] } }, $_ for @records;
is(join(' ', sort keys %by_pages), '2 3 4', 'records of 2, 3 and 4 pages');

# As many of each, spread over the time.
my @chosen;
for my $some (values %by_pages)
{
	my $count = int($targets / 3) < @$some ? int($targets / 3) : @$some;
	push @chosen, map { $some->[ int(($_ + 0.5) * @$some / $count) ] } 0 .. $count - 1;
}
for (@chosen)
{
	my ($lsn, $pages) = @$_;
	my $node = PostgreSQL::Test::Cluster->new('target_' . $lsn =~ s/\W/_/r);
	$node->init_from_backup($primary, 'base', has_restoring => 1, standby => 0);
	$node->append_conf('postgresql.conf', "recovery_target_lsn = '$lsn'\nrecovery_target_inclusive = on\nrecovery_target_action = promote\narchive_mode = off\n");
	$node->start;
	$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
	my ($code, $found, $message) = $node->psql('postgres', q{
		SELECT rows >= (SELECT count(*) FROM docs) FROM simhash_index_check('docs_fp', true);
		SELECT rows >= (SELECT count(*) FROM young) FROM simhash_index_check('young_fp', true);
		SELECT rows >= (SELECT count(*) FROM young) FROM simhash_index_check('young_code', true);
		INSERT INTO docs SELECT i, hashint8extended(i, 9) FROM generate_series(1, 3000) i;
		INSERT INTO young SELECT i, hashint8extended(i, 9) FROM generate_series(1, 1000) i;
		INSERT INTO young SELECT i, NULL FROM generate_series(1, 500) i;});
	is("$code $found", "0 t\nt\nt", "target $lsn, a record of $pages pages: check, and insert") or diag($message);
	$node->safe_psql('postgres', "VACUUM (INDEX_CLEANUP ON) $_") for qw(docs young);
	is($node->safe_psql('postgres', qq{SELECT rows = (SELECT count(*) FROM $_->[0]), orphans FROM simhash_index_check('$_->[1]', true)}), 't|0', "target $lsn: $_->[1] after vacuum")
		for [ 'docs', 'docs_fp' ], [ 'young', 'young_fp' ], [ 'young', 'young_code' ];
	$node->stop('immediate');
	$node->clean_node;
}
note('measured: ' . scalar(@chosen) . ' targets of ' . scalar(@records) . ' such records');
done_testing();
