# The fingerprints in test/data/known_answers.tsv, which programs elsewhere are compared with, are those of
# this server; and a second implementation, in Python, has the same. What the server computes is left in
# tmp_check/known_answers.tsv, to be taken over where texts or forms are added. And docs/fingerprints.md, from
# which that implementation is written: its examples with an output print it, and the functions of
# scripts/folding.sql return what they should.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use MarkdownExamples;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $top = "$FindBin::RealBin/../..";
my $file = "$top/test/data/known_answers.tsv";
my $node = start_node('known_answers', conf => "fsync = off\n");

my ($heading) = slurp_file($file) =~ /\A(.*)/;
my (undef, undef, @forms) = split /\t/, $heading;
cmp_ok(scalar(@forms), '>=', 10, 'the file has forms');

# A form, such as minhash/words/3, minhash_code/words/3/128 or simhash/words/1/balanced/xxh3, as an expression.
sub expression
{
	my ($function, @arguments) = split m{/}, $_[0];
	my ($features, $width, @rest) = @arguments;
	return "minhash_code(text, $rest[0], '$features', $width)" if $function eq 'minhash_code';
	return "$function(text, '$features', $width" . join('', map { ", '$_'" } @rest) . ')';
}

my $columns = join ', ', map { qq("$_" ) . (m{^minhash_code/} ? 'bit varying' : 'bigint') } @forms;
my $computed = join ', ', map { expression($_) . qq( AS "$_") } @forms;
$node->safe_psql('postgres', "CREATE TABLE known (number serial, name text, text text, $columns)");
my $named = join ', ', 'name', 'text', map { qq("$_") } @forms;
$node->safe_psql('postgres', "\\copy known ($named) FROM '$file' WITH (HEADER match)");
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM known'), '>=', 90, 'and texts');
$node->safe_psql('postgres',
	"\\copy (SELECT name, text, $computed FROM known ORDER BY number) TO '$PostgreSQL::Test::Utils::tmp_check/known_answers.tsv' WITH (HEADER)");

for my $form (@forms)
{
	my $differing = $node->safe_psql('postgres',
		qq(SELECT string_agg(name, ', ') FROM known WHERE "$form" IS DISTINCT FROM ) . expression($form));
	is($differing, '', "$form is what the file has");
}

# The same of the features one by one.
my $by_features = $node->safe_psql('postgres', q{
	SELECT count(*) FROM known
	WHERE minhash(text) IS DISTINCT FROM (SELECT minhash_agg(feature) FROM simhash_features(text, 'words', 3))});
is($by_features, '0', 'minhash_agg of the features is minhash of the text');

my ($stdout, $stderr);
my $agrees = IPC::Run::run([ 'python3', "$top/test/known_answers.py", $file ], '>', \$stdout, '2>', \$stderr);
ok($agrees, 'the implementation in Python agrees') or diag $stdout, $stderr;

# ---- the page's examples ----

my @examples = grep { $_->{output} } read_examples(slurp_file("$top/docs/fingerprints.md"));
cmp_ok(scalar(@examples), '>=', 1, 'docs/fingerprints.md has examples with an output');
my @printed = run_examples($node, 'postgres', "\\pset footer off\n", @examples);
is($printed[$_], $examples[$_]{output}, "docs/fingerprints.md:$examples[$_]{line}") for 0 .. $#examples;

$node->safe_psql('postgres', q{CREATE TYPE colour AS ENUM ('red', 'green', 'blue')});
# The other functions of scripts/folding.sql, which the page loads.
for (
	[ q{fold_kana('カタカナでもひらがなでもおなじ') =~~ 'かたかなでもひらがなでもおなじ'}, 't' ],
	[ q{fold_korean('나는 밥을 먹고 학교에 간다') =~~ fold_korean('나는 밥을먹고 학교에간다')}, 't' ],
	[ q{mask_numbers('order 4711 of 3 May was sent to room 12') =~~ mask_numbers('order 4712 of 4 May was sent to room 7')}, 't' ],
	[ q{fold_digits('رقم الهاتف ١٢٣ في المكتب') =~~ 'رقم الهاتف 123 في المكتب'}, 't' ],
	[ q{fold_kurdish(U&'\0628\0647\200C\0695\06CE\0648\0647\200C') =~~ U&'\0628\06D5\0695\06CE\0648\06D5'}, 't' ],
	[ q{join_hyphens(E'The soft-\r\n  ware of Baden-\nBaden, a price-\ndetermining factor, 3-\n4')},
		"The software of Baden-\nBaden, a pricedetermining factor, 3-\n4" ],
	[ q{drop_notes('as shown [12], and again [3, 5–7], elsewhere.¹² In word¹ and m², a[i] and 2³')},
		'as shown  , and again  , elsewhere.  In word  and m , a[i] and 2³' ],
	[ q{drop_line_numbers(E'  1 BEGIN\n 20 of 30 lines\n1984\n1.5 m')}, " BEGIN\n of 30 lines\n1984\n1.5 m" ],
	[ q{drop_tags('<!DOCTYPE html><p class="a">one<br/>two&nbsp;three</p> 1 < 2 > 0 <!-- no -->')}, '  one two three  1 < 2 > 0  ' ],
	[ q{(SELECT string_agg(simhash_to_hex(enum_hash(colour)), ' ') FROM unnest(enum_range(NULL::colour)) colour)},
		'0000000000000000 5555555555555555 aaaaaaaaaaaaaaaa' ])
{
	my ($expression, $expected) = @$_;
	is($node->safe_psql('postgres', "SELECT $expression"), $expected, $expression);
}

# The index on a folded text serves the condition.
my $plan = $node->safe_psql('postgres',
	q{SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE fold_han(body) =~~ fold_han('漢語時間')});
like($plan, qr/Index Scan using notes_fold_han(_body)?_idx/, 'by the index on the folded text');

$node->stop;
done_testing();
