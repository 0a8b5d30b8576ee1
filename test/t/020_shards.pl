# A coordinator and three shards, by postgres_fdw and as docs/scaling.md sets them up: its statements
# run as they stand there, every form of query (test/shards) has the answer of one node, and what
# is sent to the shards is what the page says.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use MarkdownExamples;
use PostgreSQL::Test::Utils;
use QueryForms;
use SimhashTest;
use Test::More;

my $top    = "$FindBin::RealBin/../..";
my $rows   = 4000;
my %shards = map { ("shard$_" => start_node("shard$_", no_extension => 1)) } 1 .. 3;
my $coordinator = start_node('coordinator', no_extension => 1);
$coordinator->safe_psql('postgres', 'CREATE DATABASE one');
$_->safe_psql('postgres', 'CREATE DATABASE sharded') for $coordinator, values %shards;

# ---- docs/scaling.md ----

# A block begins with a comment that says where it runs.
my %places = (
	'on one node'        => [ [ $coordinator, 'one' ] ],
	'on each shard'      => [ map { [ $shards{$_}, 'sharded' ] } sort keys %shards ],
	'on the coordinator' => [ [ $coordinator, 'sharded' ] ],
	'with Citus'         => []); # tried by hand

# The page names a shard by its host alone, for format(… n, n - 1).
sub with_addresses
{
	my ($sql) = @_;
	my $ports = join(', ', map { $shards{$_}->port } sort keys %shards);
	return $sql unless $sql =~ s/host 'shard%1\$s'/"host '" . $coordinator->host . q{', port '%3$s'}/e;
	return $sql =~ s/\$\$, n, n - 1\K/, (ARRAY[$ports])[n]/r;
}

# What psql prints, without blanks at the ends of lines and without empty lines.
sub printed
{
	my ($node, $database, $sql) = @_;
	my (undef, $output, $errors) = $node->psql(
		$database, $sql,
		on_error_stop => 0,
		extra_params  => [ '-P', 'format=aligned', '-P', 'tuples_only=off', '-P', 'footer=off' ]);
	$errors =~ s/^psql:<stdin>:\d+: //mg;
	$output = "$output\n$errors";
	$output =~ s/[ \t]+$//mg;
	$output =~ s/\n+/\n/g;
	return $output =~ s/\A\n|\n\z//gr;
}

my @examples = read_examples(slurp_file("$top/docs/scaling.md"));
cmp_ok(scalar(@examples), '>=', 8, 'the page has examples');
for my $example (@examples)
{
	my ($place) = $example->{sql} =~ /\A-- (.*)\n/;
	my $nodes = $places{ $place // '' };
	ok($nodes, "docs/scaling.md:$example->{line} says where it runs") or next;
	for my $where (@$nodes)
	{
		my $output = printed(@$where, with_addresses($example->{sql}));
		my $name   = "docs/scaling.md:$example->{line}: $place";
		if   ($example->{output} eq '') { unlike($output, qr/ERROR/, $name); }
		else                            { is($output, $example->{output} =~ s/\n+/\n/gr =~ s/\n\z//r, $name); }
	}
}

# ---- forms of query ----

$coordinator->safe_psql('one', 'CREATE EXTENSION IF NOT EXISTS simhash; DROP TABLE IF EXISTS docs;
	CREATE TABLE docs (id bigint, tenant integer, body text, fp bigint); CREATE TABLE queries (n integer, fp bigint)');
$coordinator->safe_psql('sharded', 'TRUNCATE docs; CREATE TABLE queries (n integer, fp bigint)');
for my $database ('one', 'sharded')
{
	$coordinator->command_ok([ 'psql', '-X', '-q', '-d', $coordinator->connstr($database),
			'-v', "rows=$rows", '-f', "$top/test/shards/tables.sql" ], "the tables of $database");
}
$_->safe_psql('sharded', 'CREATE INDEX ON docs USING simhash (body); CREATE INDEX ON docs USING simhash (body passage_ops); ANALYZE')
	for values %shards;
$coordinator->safe_psql('sharded', 'ANALYZE');
$coordinator->safe_psql('one', 'CREATE INDEX ON docs USING simhash (fp); ANALYZE');

# The plans of a form's statements. Parameters stay parameters.
sub explained
{
	my ($form) = @_;
	my $sql = $form->{sql} =~ s/(?:\A|;\n)\K(?=SELECT|WITH|EXECUTE|UPDATE|DELETE)/EXPLAIN (VERBOSE, COSTS OFF) /gr;
	return $coordinator->safe_psql('sharded', "SET plan_cache_mode = force_generic_plan; $sql");
}

sub estimate_on_shards
{
	my ($option) = @_;
	$coordinator->safe_psql('sharded', join('', map { "ALTER FOREIGN TABLE docs_$_ OPTIONS ($option);" } 1 .. 3));
	return;
}

# What of a shard's SQL its index is for, and EXPLAIN of PostgreSQL 15 can show.
my $for_the_index = qr/
	hamming_within\(fp,|(?:documents_alike|near_duplicate|passage_shared|shares_passage)\(body,
	|OPERATOR\(public\.(?:~=|~\|+=|<@)\)|body\ OPERATOR\(public\.=~~\)
	|ORDER\ BY\ \(fp\ OPERATOR\(public\.<~>\)/x;

my $version = $coordinator->safe_psql('sharded', q{SELECT current_setting('server_version_num')::integer / 10000});
my @forms = read_forms("$top/test/shards/forms.sql");
cmp_ok(scalar(@forms), '>=', 36, 'forms of query');
for my $form (@forms)
{
	# As the page has it for whole tables, and not for searches.
	my $estimate = $form->{sql} =~ /document_digest/;
	estimate_on_shards("ADD use_remote_estimate 'true'") if $estimate;
	my ($one, $answer) = map { $coordinator->safe_psql($_, $form->{sql}) } 'one', 'sharded';
	is($answer, $one, "$form->{name}: the answer of one node");
	my @remote = explained($form) =~ /Remote SQL: (.*)/g;
	estimate_on_shards('DROP use_remote_estimate') if $estimate;
	if (!$form->{shipped} || $version < $form->{since})
	{
		is(join("\n", grep { /WHERE .*hamming/ } @remote), '', "$form->{name}: is not shipped");
		next;
	}
	cmp_ok(scalar(grep { index($_, $form->{shipped}) >= 0 } @remote), '>=', 3, "$form->{name}: is shipped to each shard")
		or diag(join("\n", @remote));
	next if $remote[0] !~ $for_the_index || $remote[0] =~ /\$\d|\AUPDATE|\ADELETE/;
	like($shards{shard1}->safe_psql('sharded', "SET enable_seqscan = off; SET enable_sort = off; EXPLAIN (COSTS OFF) $remote[0]"),
		qr/Index (?:Only )?Scan/, "$form->{name}: a shard can use its index");
}

# ---- the groups by steps ----

my $recipe = slurp_file("$top/scripts/groups_on_citus.sql");
like($recipe, qr/^SELECT create_distributed_table\(/m, 'the recipe distributes its tables');
$recipe =~ s/^SELECT create_distributed_table\(.*\n//mg;
$coordinator->safe_psql('one', "DELETE FROM docs WHERE id % 3 > 0; $recipe");
my $groups = $coordinator->safe_psql('one',
	"SELECT * FROM near_duplicate_groups('SELECT id, body FROM docs ORDER BY id', 0.8) WHERE id <> original ORDER BY id");
cmp_ok(length($groups), '>', 1000, 'there are copies');
is( $coordinator->safe_psql('one', 'SELECT count(DISTINCT key) > 1 FROM bands GROUP BY band ORDER BY 1 LIMIT 1'),
	't', 'each band has keys of its own');
is($coordinator->safe_psql('one', 'SELECT * FROM copies ORDER BY id'), $groups, 'near_duplicate_groups by steps');

$_->stop for $coordinator, values %shards;
done_testing();
