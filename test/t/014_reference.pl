# docs/reference.md: its examples print what stands there, what it calls an error has its SQLSTATE,
# and every object of the extension is in it with its signature.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use MarkdownExamples;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $top = "$FindBin::RealBin/../..";
my $page = slurp_file("$top/docs/reference.md");
my $node = start_node('reference', no_extension => 1);

# ---- examples ----

my @examples = read_examples($page);
cmp_ok(scalar(@examples), '>=', 20, 'the page has examples');
my @printed = run_examples($node, 'postgres', "\\pset footer off\n\\pset null NULL\n", @examples);
is(scalar(@printed), scalar(@examples), 'all of them ran');
for my $i (0 .. $#examples)
{
	my ($example, $printed) = ($examples[$i], $printed[$i]);
	my ($first) = $example->{sql} =~ /\A(.*)/;
	is($printed, $example->{output}, "docs/reference.md:$example->{line}: $first");
}
# The page with what was printed, to be looked at and taken over where a change is meant.
write_file("$PostgreSQL::Test::Utils::tmp_check/reference.md", with_outputs($page, @printed));

# ---- errors: each SQLSTATE and a statement that raises it ----

$node->safe_psql('postgres', 'ALTER DATABASE postgres SET search_path = reference, public; GRANT USAGE ON SCHEMA reference TO pg_monitor');
$node->safe_psql('postgres', q{
	CREATE TABLE notes (fp bigint, tenant integer, EXCLUDE USING simhash (fp WITH ~=, tenant WITH =));
	INSERT INTO notes VALUES (0, 2);
	CREATE TABLE pictures (id integer, pdq bit(256));
	CREATE INDEX ON pictures USING simhash (pdq);
	INSERT INTO pictures VALUES (1, 1::bit(256))});

my @errors = map { /^(\w+) (.+)/ ? ($2, $1) : () } split /\n/, <<'END';
22023 SELECT simhash(NULL::text, 'lines')
22P02 SELECT simhash_from_hex('2a-')
22P02 SELECT code_from_hex('2a0', 8)
42725 SELECT minhash_of('{the,fox}')
22003 SELECT simhash_from_unsigned(-1)
22026 SELECT B'101' <~~> B'10'
22023 CREATE INDEX ON marks USING simhash (fp) WITH (tables = 65)
0A000 CREATE UNIQUE INDEX ON marks USING simhash (fp)
22023 SELECT simhash_cluster((random() * 9)::bigint) OVER ()
0A000 SELECT simhash_pairs_agg(fp) OVER () FROM marks
42804 SELECT * FROM simhash_pairs('SELECT 1', 3)
0A000 SELECT * FROM simhash_pairs('DELETE FROM marks RETURNING id, fp', 3)
42809 SELECT * FROM simhash_index_info('essay_pkey')
42501 SET ROLE pg_monitor; SELECT simhash_index_check('marks_fp')
22023 SELECT simhash('a', 'lines')
22023 SELECT simhash('a', width => 33)
22023 SELECT simhash('a', weighting => 'idf')
22023 SELECT simhash('a', hash => 'md5')
22023 SELECT simhash_of(ARRAY['a'], ARRAY[1, 2])
22023 SELECT simhash_of(ARRAY['a'], ARRAY[NULL::float8])
22023 SELECT simhash_of(ARRAY['a'], ARRAY['NaN'::float8])
22023 SELECT simhash_of(ARRAY['a'], ARRAY[1e13])
22023 SELECT simhash_of(ARRAY[['a'], ['b']])
22023 SELECT simhash_agg('a', NULL)
22023 SELECT minhash('a', 'lines')
22023 SELECT minhash(NULL::text, width => 33)
22023 SELECT minhash_of(ARRAY[['a'], ['b']])
22023 SELECT minhash_code('a', 100)
22023 SELECT minhash_code_of(NULL::text[], 0)
22023 SELECT minhash_radius(1.5)
22023 SELECT minhash_radius(0.8, 'NaN')
22023 SELECT minhash_similarity(-1)
22023 SELECT minhash_similarity(8, 1)
22023 SELECT * FROM simhash_features('a', width => 0)
22023 SELECT simhash_hash('a', 'md5')
22023 SELECT shingle_similarity('a', 'b', 'lines')
22023 SELECT shingle_similarity(simhash_shingles('a'), simhash_shingles('a', 'chars'))
22023 SELECT near_duplicate('a', 'a', 2)
22023 SELECT shares_passage('a', 'a', 0)
22023 SELECT * FROM common_passages('a', 'a', 0)
22023 SELECT * FROM repeated_passages('a', 0)
22023 SELECT without_passages('a', ARRAY[['a']])
22023 SELECT passage_headline('a', 'a', 1, 'MaxWords=1')
22023 SELECT shared_passages_agg('a', 0)
22023 SELECT shingle_containment('a', 'b', width => 0)
22P02 SELECT 'a'::shingle_set
22P02 SELECT '(1;2)'::hamming_ball
22003 SELECT '(9223372036854775808,3)'::hamming_ball
22026 SELECT B'101' <@ '(10,1)'::bit_ball
22P02 SELECT '(102,1)'::bit_ball
22003 SELECT '(101,9223372036854775808)'::bit_ball
54000 SELECT bit_lanes(repeat('1', 1025)::bit(1025))
22023 CREATE INDEX ON marks USING simhash (fp) WITH (pages = 1)
42804 CREATE INDEX ON marks USING simhash (id)
42804 CREATE INDEX ON pictures USING simhash (substring(pdq, 1, 128))
22026 SELECT id FROM pictures WHERE pdq <~~> B'1011' <= 31
23P01 INSERT INTO notes VALUES (1, 2)
22023 SELECT simhash_cluster(1, -1) OVER ()
22023 SELECT simhash_cluster(fp, id) OVER () FROM marks WHERE id < 3
22023 SELECT simhash_pairs_agg(fp, 65) FROM marks
22023 SELECT simhash_pairs_agg(fp, id) FROM marks WHERE id < 3
22023 SELECT * FROM simhash_pairs('SELECT 1, 1::bigint', 65)
22023 SELECT * FROM simhash_pairs('SELECT 1, B''1''', -1)
22004 SELECT * FROM simhash_groups('SELECT 1, 1::bigint', NULL)
42601 SELECT * FROM simhash_groups('SELECT 1, 1::bigint; SELECT 2, 2::bigint', 3)
42804 SELECT * FROM simhash_join('SELECT 1, 1::bigint', 'SELECT 2, B''1''', 3)
22026 SELECT * FROM simhash_join('SELECT 1, B''101''', 'SELECT 2, B''1111''', 3)
54000 SELECT * FROM simhash_pairs('SELECT 1, 1::bit(1025)', 3)
42804 SELECT * FROM simhash_pairs('SELECT 1::bigint', 3)
42804 SELECT * FROM near_duplicate_pairs('SELECT 1, 1')
42804 SELECT * FROM near_duplicate_groups('SELECT 1.5, ''a''')
22004 SELECT * FROM near_duplicate_groups('SELECT NULL::bigint, ''a''')
22023 SELECT * FROM near_duplicate_pairs('SELECT 1, ''a''', 1.5)
22004 SELECT * FROM near_duplicate_groups('SELECT 1, ''a''', 0.8, NULL)
22023 SELECT * FROM near_duplicate_join('SELECT 1, ''a''', 'SELECT 2, simhash_shingles(''a'', ''chars'', 4)')
0A000 SELECT * FROM near_duplicate_groups('DELETE FROM marks RETURNING id, ''a''')
22023 SELECT * FROM simhash_blocks(1, 65)
42809 SELECT simhash_index_check('marks')
42P01 SELECT simhash_index_check(0)
END
while (my ($statement, $state) = splice @errors, 0, 2)
{
	my (undef, undef, $message) = $node->psql(
		'postgres', $statement,
		on_error_stop => 0,
		extra_params  => [ '-v', 'VERBOSITY=sqlstate' ]);
	like($message, qr/ERROR:  \Q$state\E\b/, "$state: $statement");
}

# ---- objects ----

# Rows of a query, as arrays.
sub query
{
	my ($sql) = @_;
	my $output = $node->safe_psql('postgres', "\\pset fieldsep '\\t'\n$sql");
	return map { [ split /\t/, $_, -1 ] } split /\n/, $output;
}

# Line breaks in the page do not count. Code in a table has its bars escaped.
my $text = $page =~ s/\\\|/|/gr =~ s/\s+/ /gr;

sub is_named
{
	my ($what) = @_;
	return ok(index($text, "`$what`") >= 0, "named: $what");
}

# Functions and aggregates:  name(arguments) → result, a row's columns in parentheses. By their names alone: what is internal, and
# the operators' functions that differ in the radius; of types, aggregates and planner support the page has the endings. One sentence covers the forms with ids of any type.
my $arrow = "\xe2\x86\x92"; # in UTF-8: the page is read as bytes
my ($internal) = $text =~ /(## Internal objects .*)/;
my $by_name = qr/\Ahamming_near_\d\z/;
my $unnamed = qr/_(?:in|out|recv|send|transition|combine|serialize|deserialize|final|support)\z/;
my @functions = query(q{
	SELECT proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
		proretset, 'o' = ANY (proargmodes)
	FROM pg_depend d JOIN pg_proc p ON p.oid = objid JOIN pg_extension e ON e.oid = refobjid
	WHERE classid = 'pg_proc'::regclass AND deptype = 'e' AND extname = 'simhash'});
cmp_ok(scalar(@functions), '>=', 50, 'there are functions');
for my $function (@functions)
{
	my ($name, $arguments, $result, $is_set, $has_columns) = @$function;
	next if $name =~ $unnamed;
	if ($name =~ $by_name || index($internal, "`$name`") >= 0)
	{
		is_named($name);
		next;
	}
	if ($arguments =~ /, id_type anyelement\z/)
	{
		ok((grep { $_->[0] eq $name && $_->[1] =~ /\A(?:a_)?query text, / && $_->[2] =~ /\ATABLE\(id bigint, / } @functions),
			"$name has a form without id_type");
		next;
	}
	my @arguments = split /, /, $arguments;
	if ($has_columns eq 't')
	{
		my $columns = join(', ', map { /^OUT (.*)/ } @arguments);
		$result = ($is_set eq 't' ? 'SETOF ' : '') . "($columns)";
		@arguments = grep { !/^OUT / } @arguments;
	}
	s/(DEFAULT [^:]*)::.*/$1/, s/DEFAULT '(-\d+)'/DEFAULT $1/ for @arguments;
	is_named("$name(" . join(', ', @arguments) . ") $arrow $result");
}

is_named($_->[0]) for query(q{
	SELECT concat_ws(' ', oprleft::regtype, oprname, oprright::regtype)
	FROM pg_depend d JOIN pg_operator o ON o.oid = objid JOIN pg_extension e ON e.oid = refobjid
	WHERE classid = 'pg_operator'::regclass AND deptype = 'e' AND extname = 'simhash'});

# What else there is, by its name alone; operator classes and families have none that is unique.
is_named($_->[0]) for query(q{
	SELECT DISTINCT coalesce(name, (SELECT opcname FROM pg_opclass WHERE oid = objid),
		(SELECT opfname FROM pg_opfamily WHERE oid = objid))
	FROM pg_depend d JOIN pg_extension e ON e.oid = refobjid, pg_identify_object(classid, objid, 0)
	WHERE classid NOT IN ('pg_proc'::regclass, 'pg_operator'::regclass)
		AND deptype = 'e' AND extname = 'simhash'
		AND pg_describe_object(classid, objid, 0) !~ '_scope_ops'
		-- The type's arrays are members of the extension from PostgreSQL 19 on.
		AND objid NOT IN (SELECT typarray FROM pg_type)});

# The operator classes' members: a row of a table begins with the strategy (or has a range of strategies), and names the operator.
# Those of scopes are listed by their types.
my @strategies = map { [ $_ =~ /^\| (\d+)(?: \xe2\x80\xa6 (\d+))?(?:,[^|]*)? \| (.*)/ ] } $page =~ s/\\\|/|/gr =~ /^\| \d+.*`.*/mg;
for my $member (query(q{
	SELECT amopstrategy, concat_ws(' ', amoplefttype::regtype, oprname, amoprighttype::regtype), amoplefttype::regtype, opfname
	FROM pg_amop JOIN pg_am a ON a.oid = amopmethod JOIN pg_operator o ON o.oid = amopopr JOIN pg_opfamily f ON f.oid = amopfamily
	WHERE amname = 'simhash'}))
{
	my ($strategy, $operator, $type, $family) = @$member;
	if ($family =~ /_scope_ops\z/)
	{
		# Equality, <>, and && of ranges.
		ok(($strategy =~ /^[26]\z/ || ($strategy == 7 && $type =~ /range/)) && index($text, "`$type`") >= 0, "a class for scopes of $type");
		next;
	}
	ok((grep { $strategy >= $_->[0] && $strategy <= ($_->[1] // $_->[0]) && index($_->[2], "`$operator`") >= 0 } @strategies),
		"strategy $strategy: $operator");
}

my @parameters = slurp_file("$top/src/index/options.cpp") =~ /add_int_reloption\(\w+, "(\w+)"/g;
cmp_ok(scalar(@parameters), '>=', 3, 'there are storage parameters');
is_named($_) for @parameters;

$node->stop;
done_testing();
