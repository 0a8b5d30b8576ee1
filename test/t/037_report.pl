# scripts/report.sh: its page says what the functions say, is the same each time, shows texts with HTML in them as text, stays small,
# leaves the database as it is, and is shown by a browser without an error. Without chromium the last is skipped.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run ();
use MarkdownExamples;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $top = "$FindBin::RealBin/../..";
my $node = start_node('report');
my $dir = PostgreSQL::Test::Utils::tempdir;
$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;
delete $ENV{PG_CONFIG};

# (exit status, page, messages)
sub report
{
	my (@arguments) = @_;
	my ($page, $messages) = ('', '');
	IPC::Run::run([ "$top/scripts/report.sh", @arguments ], '<', '/dev/null', '>', \$page, '2>', \$messages);
	return ($? >> 8, $page, $messages);
}

# ---- values that would break a page: HTML, quotes, control characters, NULL; ids and names of other types; a schema of its own ----

$node->safe_psql('postgres', 'CREATE DATABASE uncomfortable');
$node->safe_psql('uncomfortable', <<'END');
CREATE SCHEMA ext;
CREATE EXTENSION simhash SCHEMA ext;
CREATE TABLE "Pages; of ""mine""" ("Id :x" uuid, "body<" varchar, "from" text);
INSERT INTO "Pages; of ""mine""" SELECT md5(i::text)::uuid, body, name FROM (VALUES
	(1, 'Home </pre><script>alert("1")</script> & the boat house is closed for <b>repairs</b> of the roof until the fifteenth of March, says the mayor, and the old ferry does not run on Sundays or before the first of May', '<img src=x onerror=alert(1)>'),
	(2, E'Home </pre><script>alert("2")</script> & the\tBOAT\\house is\nclosed for <b>repairs</b> of the roof until the fifteenth of March, says the mayor, and the old ferry does not run on Sundays or before the first of May \x01\x1b[31m', E'\\ ''quoted'' "name"\t\u202e'),
	(3, 'Home </pre><script>alert("1")</script> & the boat house is closed for <b>repairs</b> of the roof until the fifteenth of March, says the mayor, and the old ferry does not run on Sundays or before the first of May!', NULL),
	(4, NULL, 'without a text'), (5, '', 'empty'), (6, '...', 'without a word'), (7, 'the ferry does not run', 'ferry')) v (i, body, name);
INSERT INTO "Pages; of ""mine""" VALUES (NULL, 'the ferry does not run', NULL);
END
my $query = 'SELECT * FROM "Pages; of ""mine""" WHERE \':csv\' <> \'\' ORDER BY "Id :x" -- the last :similarity';
my $objects = 'SELECT count(*) FROM pg_class';
my $objects_before = $node->safe_psql('uncomfortable', $objects);
my ($status, $page, $messages) = report('--csv', "$dir/|pairs.csv", 'uncomfortable', $query . ' ;;');
is("$status $messages", '0 ', 'a page');
is($node->safe_psql('uncomfortable', $objects), $objects_before, 'the database is as it was');
is((report('uncomfortable', $query))[1], $page, 'the same each time');
sub says { my ($text, $what) = @_; return like($page, qr/\Q$text\E/, $what // "says: $text"); }
says('<b>8</b> documents');
says('<b>2</b> groups of two or more');
says('<b>3</b> copies (37.5 %)');
says('<p>1 document is NULL.</p>');
unlike($page, qr/<(?:script|img|b>repairs)/i, 'no text is HTML');
unlike($page, qr/[\x00-\x08\x0b-\x1f]|\xe2\x80\xae/, 'no control character, no turned text');
says('&lt;img src=x onerror=alert(1)&gt;', 'a name that is HTML');
says('\\ &#39;quoted&#39; &quot;name&quot;', 'a name with quotes');
says($node->safe_psql('postgres', q{SELECT md5('3')::uuid}), 'an id in place of a name');
says('>NULL<', 'not even an id');
says('similarity 0.', 'a pair side by side');
like($page, qr/<a href="#pairs">.*<h2 id="pairs">/s, '... to which a link leads');
my ($left, $right) = map { my $side = $_; [ $page =~ /<a class="c\d" id="$side\d+-(\d+)"/g ] } 'a', 'b';
cmp_ok(scalar(@$left), '>=', 2, 'marked passages');
is(join(' ', sort @$left), join(' ', sort @$right), '... as many in both texts');
# The same words, by number; where a text was cut, none are compared.
my %words;
while ($page =~ /<a class="c\d" id="([ab])(\d+-\d+)"[^>]*>(.*?)<\/a>/sg)
{
	my ($side, $number, $words) = ($1, $2, $3);
	$words{$number}{$side} = lc($words) =~ s/&[a-z#0-9]+;|\W/ /gr =~ s/\A\s+|\s+\z//gr =~ s/\s+/ /gr;
}
is($words{$_}{b}, $words{$_}{a}, "... passage $_ of both texts: $words{$_}{a}") for sort keys %words;
like($page, qr/<a class="c\d" id="a\d+-\d+" href="#b\d+-\d+">[^<]*the boat\b/, '... the words that both have');
is(slurp_file("$dir/|pairs.csv"), $node->safe_psql('uncomfortable', q{SET search_path = ext, public;
	COPY (SELECT a.name, b.name AS other, similarity FROM
		(SELECT row_number() OVER (ORDER BY "Id :x") AS n, coalesce("from", "Id :x"::text, 'NULL') AS name FROM "Pages; of ""mine""") a,
		(SELECT row_number() OVER (ORDER BY "Id :x") AS n, coalesce("from", "Id :x"::text, 'NULL') AS name FROM "Pages; of ""mine""") b,
		near_duplicate_pairs('SELECT row_number() OVER (ORDER BY "Id :x"), "body<" FROM "Pages; of ""mine"""') p
		WHERE a.n = p.id AND b.n = p.other ORDER BY p.id, p.other) TO STDOUT (FORMAT csv, HEADER)}) . "\n", 'all pairs with their names');

# ---- what it refuses, without a page ----

for ([ 'SELECT 1', qr/the query returns 1 columns/ ], [ 'SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS d', qr/the query returns 4 columns/ ],
	[ 'SELECT 1, 2 AS body', qr/second column of the query is of type integer/ ], [ 'SELECT nothing', qr/column "nothing" does not exist/ ])
{
	my ($sql, $message) = @$_;
	($status, $page, $messages) = report('uncomfortable', $sql);
	isnt($status, 0, "refused: $sql");
	is($page, '', '... without a page');
	like($messages, $message, '... with what is wrong');
}
like((report('--similarity', '1.5', 'uncomfortable', $query))[2], qr/similarity/, 'a similarity beyond 1');
like((report('template1', 'SELECT 1, 2'))[2], qr/"simhash" is not in this database\nHINT:  Run CREATE EXTENSION/, 'no extension');
is((report('uncomfortable'))[0], 2, 'too few arguments');
($status, $page) = report('uncomfortable', q{SELECT 1 AS id, 'a' AS body});
like($page, qr/There are no near-duplicates/, 'no near-duplicates');

# ---- 100 000 documents, many groups, one of 20 000, texts of 250 kB: counts by the functions, at most 5 MB ----

$node->safe_psql('postgres', q{
	CREATE TABLE docs AS SELECT i AS id, repeat('name ', 200) || i AS name, CASE
		WHEN i <= 20000 THEN 'the boat house is closed for repairs of the roof'
		WHEN i <= 20400 THEN (SELECT string_agg(md5((i / 8)::text || w) || CASE WHEN w % 50 = i % 8 THEN '<' || i ELSE '' END, ' ')
			FROM generate_series(1, CASE WHEN i % 40 < 8 THEN 7500 ELSE 300 END) w)
		WHEN i % 3 = 0 THEN 'text ' || md5((i / 6)::text) || ' of ' || md5((i / 6 + .5)::text) || ' and ' || md5((i / 7)::text) || ' <&>'
		ELSE md5(i::text) || ' ' || md5((-i)::text) || ' ' || i END AS body
	FROM generate_series(1, 100000) i});
($status, $page, $messages) = report('postgres', 'SELECT id, body, name FROM docs ORDER BY id');
is("$status $messages", '0 ', 'a page of 100 000 documents');
cmp_ok(length($page), '<=', 5_000_000, 'at most 5 MB: ' . length($page));
cmp_ok(length($page), '>', 100_000, '... and not empty');
my ($copies, $groups, $equal) = split /\|/, $node->safe_psql('postgres', q{
	SELECT count(*) FILTER (WHERE id <> original), count(DISTINCT original) FILTER (WHERE id <> original), count(*) FILTER (WHERE similarity = 1)
	FROM near_duplicate_groups('SELECT id, body FROM docs ORDER BY id')});
my $plain = $page =~ s/\xe2\x80\xaf//gr;     # the blank within numbers
like($plain, qr/<b>100000<\/b> documents/, 'as many documents');
like($plain, qr/<b>$groups<\/b> groups/, "as many groups: $groups");
like($plain, qr/<b>$copies<\/b> copies/, "as many copies: $copies");
like($plain, qr/<b>$equal<\/b> of them equal/, "as many equal ones: $equal");
my @bars = map { [ /<title>([^<]*): (\d+)<\/title>/g ] } $plain =~ /<svg(.*?)<\/svg>/sg;
is(scalar(@bars), 2, 'two plots');
my @sums = map { my $sum = 0; my @pairs = @$_; $sum += $pairs[$_] for grep { $_ % 2 } 0 .. $#pairs; $sum } @bars;
is("@sums", "$groups $copies", 'their columns are all groups and all copies');

# ---- in a browser ----

SKIP:
{
	my ($browser) = grep { -x } map { "$_/chromium" } split /:/, $ENV{PATH};
	skip 'no chromium', 4 unless $browser;
	# (messages of its console, the picture)
	my $seen = sub {
		my ($name, $html) = @_;
		write_file("$dir/$name.html", $html);
		local $ENV{HOME} = $dir;
		my ($log, @command) = ('', $browser, qw(--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --enable-logging=stderr --window-size=1280,2000),
			"--user-data-dir=$dir/profile", "--screenshot=$dir/$name.png", "file://$dir/$name.html");
		IPC::Run::run(\@command, '<', '/dev/null', '>', \my $output, '2>', \$log, IPC::Run::timeout(120));
		return ([ grep { /CONSOLE/ } split /\n/, $log ], -e "$dir/$name.png" ? slurp_file("$dir/$name.png") : '');
	};
	my ($errors, $picture) = $seen->('report', $page);
	is_deeply($errors, [], 'no error in the console');
	like($picture, qr/\A\x89PNG/, 'a picture');
	cmp_ok(length($picture), '>', 50_000, '... of something');
	# A script that came into the page would be refused, and seen here.
	($errors) = $seen->('script', $page =~ s{</body>}{<script>alert(1)</script></body>}r);
	like("@$errors", qr/Content Security Policy/, 'the page forbids scripts');
}

$node->stop;
done_testing();
