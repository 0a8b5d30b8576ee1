# Linked groups that stay true (scripts/linked_groups.sql): beside four writers and after them, what is kept up by changes equals the
# whole computed anew, and so does a definition by pairs of documents.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $changes = $ENV{SIMHASH_GROUP_CHANGES} // 4000;
my $node = start_node('groups');
my $dir = PostgreSQL::Test::Utils::tempdir;

my $recipe = slurp_file("$FindBin::RealBin/../../scripts/linked_groups.sql");
$node->safe_psql('postgres', 'CREATE TABLE notices (id bigint PRIMARY KEY, body text, original bigint)');

# A text of 40 words is a notice and what is changed in it: a word at one place of many, or at two. Some texts are short, empty or NULL.
$node->safe_psql('postgres', q{
	CREATE FUNCTION text_of(notice integer, place integer, other integer) RETURNS text LANGUAGE sql AS $$
		SELECT CASE WHEN place < 58 THEN
			(SELECT string_agg(CASE WHEN i IN (place, other) THEN 'changed' || place ELSE left(md5(notice || ' ' || i), 5) END, ' ' ORDER BY i)
			 FROM generate_series(1, 40) i)
			WHEN place = 58 THEN '...' WHEN place = 59 THEN 'notice ' || notice % 7 END $$});
my $row = q{floor(400 * random())::integer, floor(61 * random())::integer, floor(120 * random())::integer};
$node->safe_psql('postgres', qq{SELECT setseed(0.26);
	INSERT INTO notices (id, body) SELECT i, text_of($row) FROM generate_series(1, 2000) i});
# What changes before the trigger is there.
$node->safe_psql('postgres', qq{SELECT setseed(0.27);
	UPDATE notices SET body = text_of($row) WHERE id % 10 = 0; DELETE FROM notices WHERE id % 10 = 1; $recipe});

# What differs from the whole computed anew.
my $wrong = q{
	SELECT count(*) FROM notices n FULL JOIN near_duplicate_groups('SELECT id, body FROM notices ORDER BY id', chains => true) g USING (id)
	WHERE n.original IS DISTINCT FROM g.original};
is($node->safe_psql('postgres', $wrong), 0, 'the whole is computed');
my $pairs_apart = q{
	SELECT count(*) FROM notices a JOIN notices b ON a.body =~~ b.body AND a.id < b.id WHERE a.original <> b.original};
is($node->safe_psql('postgres', $pairs_apart), 0, '... and no near-duplicates are apart');
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM notices WHERE id <> original'), '>', 200, '... in groups of several');

# ---- one change after another ----

for my $change (
	'UPDATE notices SET body = NULL WHERE id = (SELECT original FROM notices WHERE id <> original ORDER BY id LIMIT 1)',
	'DELETE FROM notices WHERE id = (SELECT original FROM notices WHERE id <> original ORDER BY id DESC LIMIT 1)',
	'UPDATE notices SET id = -id WHERE id = (SELECT max(id) FROM notices WHERE id <> original)',
	'INSERT INTO notices (id, body) SELECT -100000 - id, body FROM notices WHERE id % 50 = 3',
	'UPDATE notices SET original = original WHERE id < 10',
	q{BEGIN; SET LOCAL search_path = pg_catalog;
		INSERT INTO public.notices (id, body) SELECT -200000 - id, body FROM public.notices WHERE id % 50 = 7; COMMIT},
	'DELETE FROM notices WHERE id < 0')
{
	$node->safe_psql('postgres', $change);
	$node->safe_psql('postgres', 'SELECT refresh_originals()');
	is($node->safe_psql('postgres', $wrong), 0, $change);
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM touched_notices'), 0, 'nothing waits');

# ---- four writers, and calls beside them ----

PostgreSQL::Test::Utils::append_to_file("$dir/write.sql", <<"SQL");
\\set what random(1, 10)
\\set id random(1, 3000)
\\if :what <= 3
DELETE FROM notices WHERE id = :id;
\\elif :what <= 7
INSERT INTO notices (id, body) VALUES (:id, text_of($row)) ON CONFLICT (id) DO UPDATE SET body = excluded.body;
\\else
UPDATE notices SET body = text_of($row) WHERE id = :id;
\\endif
SQL
PostgreSQL::Test::Utils::append_to_file("$dir/refresh.sql", "SELECT refresh_originals();\n");
PostgreSQL::Test::Utils::append_to_file("$dir/compute.sql", "SELECT compute_originals();\n");
my ($output, $errors) = ('', '');
ok( IPC::Run::run(
		[
			'pgbench', '-n', '-c', '4', '-j', '2', '-t', $changes / 4, '--random-seed=26',
			'-f', "$dir/write.sql\@990", '-f', "$dir/refresh.sql\@9", '-f', "$dir/compute.sql\@1", $node->connstr('postgres')
		],
		'>', \$output, '2>', \$errors),
	"four writers: $changes changes and calls");
unlike("$output$errors", qr/ERROR|aborted/, 'no error') or diag($errors);
$node->safe_psql('postgres', 'SELECT refresh_originals()');
is($node->safe_psql('postgres', $wrong), 0, 'what is kept up equals the whole computed anew');
is($node->safe_psql('postgres', $pairs_apart), 0, '... and no near-duplicates are apart');
is($node->safe_psql('postgres', 'SELECT count(*) FROM touched_notices'), 0, '... and nothing waits');
note('measured: ' . $node->safe_psql('postgres',
	q{SELECT count(*) || ' rows, ' || count(DISTINCT original) || ' groups' FROM notices}));

$node->stop;
done_testing();
