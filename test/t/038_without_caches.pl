# What a session keeps of the server's caches may be freed whenever another session changes a table. A server with assertions can be told
# to drop its caches wherever that might happen: one session builds, changes and asks indexes of all classes, with scopes, lanes and orders,
# and whole tables. It prints the same as with its caches.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use SimhashTest;
use Test::More;

my $node = start_node('without_caches');
plan skip_all => 'the server has no assertions'
	if $node->safe_psql('postgres', "SELECT max_val::integer FROM pg_settings WHERE name = 'debug_discard_caches'") == 0;
$node->safe_psql('postgres', q{
	CREATE FUNCTION text_of(n integer, changed integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
		SELECT string_agg(left(md5(n || ' ' || CASE WHEN w <= changed THEN -w ELSE w END), 6), ' ' ORDER BY w) FROM generate_series(1, 40) w $$;
	-- Families of four; NULL, and texts without a feature.
	CREATE TABLE source (id integer, tenant integer, fp bigint, code bit(256), body text);
	INSERT INTO source SELECT i, nullif(i % 5, 4), ('x' || md5((i / 4)::text))::bit(64)::bigint # (i % 4),
		('x' || md5((i / 4)::text) || md5((-i / 4)::text))::bit(256) # (1 << i % 4)::bit(256),
		CASE WHEN i % 50 = 0 THEN '?!' WHEN i % 51 > 0 THEN text_of(i / 4, i % 4) END FROM generate_series(1, 200) i });

my @columns = ('fp', 'fp, tenant', '(fp # 1)', 'code', 'code, tenant', 'body', 'body, tenant', 'body passage_ops', 'body passage_ops, tenant');
my $build = join '', map { "CREATE INDEX i$_ ON docs USING simhash ($columns[$_]);\n" } 0 .. $#columns;
my $check = join '', map { "SELECT rows, orphans FROM simhash_index_check('i$_', true);\n" } 0 .. $#columns;

# Rows that conditions on one column find, by the plan that uses an index, in order where the query has one.
my %near = (
	fp => [ 'fp <~> 1234567890123 <= 30', 'fp <~> (SELECT fp FROM source WHERE id = 42) <= 2', 'fp ~= (SELECT fp FROM source WHERE id = 41)', 'fp IS NULL' ],
	code => [ map { "code <~~> (SELECT code FROM source WHERE id = 42) <= $_" } 2, 31, 90 ],
	body => [ q{body =~~ text_of(10, 1)}, q{near_duplicate(body, text_of(10, 1), 0.9)}, q{body &~~ text_of(11, 0)}, q{shares_passage(body, text_of(11, 0), 20)},
		q{body = '?!'} ]);
my $ask = '';
for my $near (map { @{ $near{$_} } } sort keys %near)
{
	$ask .= "SELECT array_agg(id ORDER BY id) FROM docs WHERE $near$_;\n"
		for '', ' AND tenant = 1', ' AND tenant IS NULL';
}
$ask .= "SELECT array_agg(d) FROM (SELECT fp <~> 99 AS d FROM docs $_ ORDER BY fp <~> 99 LIMIT 20) o;\n" for '', 'WHERE tenant = 1', 'WHERE fp <~> 5 <= 32';
$ask .= "SELECT array_agg(d) FROM (SELECT code <~~> repeat('01', 128)::bit(256) AS d FROM docs ORDER BY code <~~> repeat('01', 128)::bit(256) LIMIT 20) o;\n";
$ask .= "SELECT count(*), sum(a.id) FROM docs a JOIN docs b ON $_;\n"
	for 'a.fp <~> b.fp <= 3', 'a.body =~~ b.body', 'a.tenant = b.tenant AND a.code <~~> b.code <= 4';

my $script = qq{
	CREATE TABLE docs (LIKE source);
	INSERT INTO docs SELECT * FROM source WHERE id <= 180 ORDER BY id;
	$build
	INSERT INTO docs SELECT * FROM source WHERE id > 180 ORDER BY id;
	UPDATE docs SET fp = ~fp, body = body || ' more' WHERE id % 10 = 3;
	DELETE FROM docs WHERE id % 7 = 0;
	VACUUM docs;
	$check
	SET enable_seqscan = off;
	$ask
	SET enable_indexscan = off;
	$ask
	REINDEX TABLE docs;
	SET plan_cache_mode = force_generic_plan;
	PREPARE of_tenant (bigint, integer) AS SELECT count(*) FROM docs WHERE fp <~> \$1 <= 20 AND tenant = \$2;
	EXECUTE of_tenant (1, 1);
	EXECUTE of_tenant (NULL, 1);
	EXECUTE of_tenant (1, NULL);
	CREATE TABLE kept (id integer, tenant integer, body text, EXCLUDE USING simhash (body WITH =~~, tenant WITH =));
	INSERT INTO kept VALUES (1, 1, text_of(1, 0)), (2, 2, text_of(1, 0));
	INSERT INTO kept VALUES (3, 2, text_of(1, 1));
	INSERT INTO kept VALUES (4, 3, text_of(1, 1)) ON CONFLICT DO NOTHING;
	SELECT count(*), sum(id), sum(other) FROM near_duplicate_pairs('SELECT id, body FROM docs');
	SELECT count(DISTINCT original) FROM near_duplicate_groups('SELECT id, body FROM docs ORDER BY id');
	SELECT count(*), sum(id), sum(other) FROM simhash_pairs('SELECT id, code FROM docs', 4);
	SELECT count(*), sum(id), sum(other) FROM passage_pairs('SELECT id, body FROM docs', 16, 1000);
	SELECT count(DISTINCT c) FROM (SELECT simhash_cluster(fp, 3) OVER () AS c FROM docs) o;
	DROP TABLE docs, kept};

# With psql's numbers of lines in messages.
sub printed
{
	my ($discards) = @_;
	my ($status, $rows, $messages) = $node->psql('postgres', "SET debug_discard_caches = $discards;\n$script", on_error_stop => 0);
	is($status, 0, "debug_discard_caches = $discards: the session goes on to its end");
	return ($rows, $messages);
}
my ($rows, $messages) = printed(0);
my ($rows_without, $messages_without) = printed(1);
is($rows_without, $rows, 'without caches the session prints the same');
is($messages_without, $messages, 'and has the same errors');
like($messages, qr/\A\S+ ERROR:  conflicting key value violates exclusion constraint "kept_body_tenant_excl"\n(?!.*ERROR:)/s, 'which are one conflict');
cmp_ok(scalar(() = $rows =~ /^\{/mg), '>', 40, 'most conditions find rows');
$node->stop;
done_testing();
