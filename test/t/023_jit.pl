# Every function, operator and aggregate of the extension, and every kind of scan, in expressions that the server compiles: the same results
# as interpreted.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use SimhashTest;
use Test::More;

my $node = start_node('jit', conf => "max_parallel_workers_per_gather = 0\n");
# PostgreSQL 19 has it off by default, and pg_jit_available() says no then.
if ($node->safe_psql('postgres', 'SET jit = on; SELECT pg_jit_available()') ne 't')
{
	plan skip_all => 'the server has no JIT';
}

$node->safe_psql('postgres', q{
	CREATE TYPE color AS ENUM ('red', 'green', 'blue');
	CREATE TABLE docs AS
	SELECT i AS id, fp, fp # (1::bigint << i % 64) AS other, simhash_to_hex(fp) AS hex, simhash_to_unsigned(fp) AS digits, i % 9 AS radius,
		hamming_ball(fp, 3) AS ball, hamming_ball(fp, 3)::text AS ball_text, body, body || ' again' AS copy,
		string_to_array(body, ' ') AS features, ARRAY[i, 2, 3, 4, 5]::double precision[] AS weights, ARRAY[i, i + 1, i + 2]::bigint[] AS hashes,
		to_tsvector('simple', body) AS lexemes, simhash_shingles(body) AS shingles,
		(ARRAY['red', 'green', 'blue'])[1 + i % 3]::color AS color, 'words'::text AS words,
		minhash_code(body) AS code, minhash_code(body || ' again') AS other_code, bit_ball(minhash_code(body), 9) AS code_ball,
		bit_ball(minhash_code(body), 9)::text AS code_ball_text,
		'\x0100000000000000000000000000e03f'::bytea AS pass
	FROM (SELECT i, hashint8extended(i / 2, 42) # (i % 2) AS fp, 'one two three four ' || i AS body FROM generate_series(1, 600) i) d;
	CREATE INDEX docs_fp ON docs USING simhash (fp);
	CREATE INDEX docs_scope ON docs USING simhash (other, color);
	CREATE INDEX docs_body ON docs USING simhash (body);
	ANALYZE docs;
});

# ---- what is called ----

# For each function, an expression over a row of docs. What the server itself calls, or another function's name stands for, is given by how it
# is reached.
my %calls = (
	'hamming(bigint,bigint)'                        => 'hamming(fp, other)',
	'hamming_within(bigint,bigint,bigint)'          => 'hamming_within(fp, other, radius)',
	'hamming_radius_below(bigint)'                  => 'hamming_radius_below(radius)',
	'hamming_radius(numeric,boolean)'               => 'hamming_radius(radius + 0.5, id > 5)',
	'hamming_near(bigint,bigint)'                   => 'fp ~= other',
	'hamming_ball_in(cstring)'                      => 'ball_text::hamming_ball',
	'hamming_ball_out(hamming_ball)'                => 'ball::text',
	'hamming_ball_recv(internal)'                   => '',
	'hamming_ball_send(hamming_ball)'               => 'hamming_ball_send(ball)',
	'hamming_ball(bigint,bigint)'                   => 'hamming_ball(fp, radius)',
	'hamming_ball_contained(bigint,hamming_ball)'   => 'other <@ ball',
	'hamming_ball_contains(hamming_ball,bigint)'    => 'ball @> other',
	'simhash(text,text,integer,text,text)'          => 'simhash(body, words, 1 + radius)',
	'simhash_of(text[],double precision[],text)'    => 'simhash_of(features, weights)',
	'simhash_of(bigint[],double precision[])'       => 'simhash_of(hashes)',
	'simhash(tsvector)'                             => 'simhash(lexemes)',
	'simhash_features(text,text,integer)'           => 'simhash_features(body, words, 2)',
	'simhash_hash(text,text)'                       => 'simhash_hash(body)',
	'shingle_similarity(text,text,text,integer)'    => 'shingle_similarity(body, copy)',
	'shingle_set_in(cstring)'                       => 'shingles::text::shingle_set',
	'shingle_set_out(shingle_set)'                  => 'shingles::text',
	'shingle_set_recv(internal)'                    => '',
	'shingle_set_send(shingle_set)'                 => 'shingle_set_send(shingles)',
	'simhash_shingles(text,text,integer)'           => 'simhash_shingles(body, words, 2)',
	'shingle_similarity(shingle_set,shingle_set)'   => 'shingle_similarity(shingles, simhash_shingles(copy))',
	'simhash_to_hex(bigint)'                        => 'simhash_to_hex(fp)',
	'simhash_from_hex(text)'                        => 'simhash_from_hex(hex)',
	'simhash_to_unsigned(bigint)'                   => 'simhash_to_unsigned(fp)',
	'simhash_from_unsigned(numeric)'                => 'simhash_from_unsigned(digits)',
	'simhash_agg(text)'                             => 'simhash_agg(body)',
	'simhash_agg(text,double precision)'            => 'simhash_agg(body, weights[1])',
	'simhash_cluster(bigint,integer)'               => 'simhash_cluster(fp, 3) OVER ()',
	'simhash_pairs(text,integer)'                   => q{simhash_pairs(format('VALUES (1, %L::bigint), (2, %L)', fp, other), radius)},
	'simhash_pairs(text,integer,anyelement)'        => q{simhash_pairs(format('VALUES (%L, %L::bigint), (''2'', %L)', hex, fp, other), radius, hex)},
	'simhash_groups(text,integer,boolean)'          => q{simhash_groups(format('VALUES (1, %L::bit(128)), (2, %L)', code, other_code), radius)},
	'simhash_groups(text,integer,boolean,anyelement)'       =>
		q{simhash_groups(format('VALUES (%L, %L::bit(128)), (''2'', %L)', hex, code, other_code), radius, true, hex)},
	'simhash_join(text,text,integer)'               => q{simhash_join('SELECT 1, ' || fp || '::bigint', 'SELECT 2, ' || other || '::bigint', 64)},
	'simhash_join(text,text,integer,anyelement)'    =>
		q{simhash_join(format('SELECT %L, %L::bit(128)', hex, code), format('SELECT %L, %L::bit(128)', hex, other_code), 128, hex)},
	'simhash_pairs_agg(bigint)'                     => 'simhash_pairs_agg(fp)',
	'simhash_pairs_agg(bigint,integer)'             => 'simhash_pairs_agg(other, 3)',
	'simhash_blocks(bigint,integer)'                => 'simhash_blocks(fp, 3)',

	'simhash_index_check(regclass,boolean)'         => q{simhash_index_check(('docs_fp' || left('', id))::regclass)},
	'simhash_index_info(regclass)'                  => q{simhash_index_info(('docs_fp' || left('', id))::regclass)},
	'minhash(text,text,integer)'                    => 'minhash(body, words, 1 + radius)',
	'minhash_of(text[])'                            => 'minhash_of(features)',
	'minhash_of(bigint[])'                          => 'minhash_of(hashes)',
	'minhash(tsvector)'                             => 'minhash(lexemes)',
	'minhash_agg(text)'                             => 'minhash_agg(body)',
	'minhash_radius(double precision,double precision)'     => 'minhash_radius(1 / (1.0 + radius), .9)',
	'simhash_quality(text[],double precision,double precision)' =>
		q{simhash_quality(ARRAY[body, copy, 'a b c'])},
	'near_duplicate(text,text,double precision)'    => 'near_duplicate(body, copy, .1 * radius)',
	'documents_alike(text,text)'                    => 'body =~~ copy',
	'shares_passage(text,text,integer)'             => 'shares_passage(body, copy, 1 + radius)',
	'passage_shared(text,text)'                     => 'body &~~ copy',
	'common_passages(text,text,integer)'            => '(SELECT sum(p.words) FROM common_passages(body, copy, 2) p)',
	'repeated_passages(text,integer)'               => '(SELECT sum(p.words) FROM repeated_passages(body || copy || body, 2) p)',
	'without_passages(text,text[],integer)'         => 'without_passages(body, ARRAY[copy], 1 + radius)',
	'passage_headline(text,text,integer,text)'      => q{passage_headline(body, copy, 2, 'EscapeHtml=on')},
	'shared_passages_agg(text)'                     => 'shared_passages_agg(body || copy)',
	'shared_passages_agg(text,integer)'             => 'shared_passages_agg(body || copy, 1)',
	'shared_passages_agg(text,integer,integer,integer)'     => 'shared_passages_agg(body, 1, NULL, 3)',
	'passage_hashes(text)'                          => 'passage_hashes(body || copy || body)',
	'shingle_containment(text,text,text,integer)'   => 'shingle_containment(body, copy)',
	'document_in_ball(text,bit_ball)'               => 'body <@~~ bit_ball(minhash_code(copy), 10)',
	'document_lanes(text)'                          => 'document_lanes(body)',
	'minhash_similarity(integer,double precision)'          => 'minhash_similarity(hamming(fp, other))',
	'near_duplicate_pairs(text,double precision)'   => q{near_duplicate_pairs(format('VALUES (1, %L), (2, %L)', body, copy), .3)},
	'near_duplicate_pairs(text,double precision,anyelement)'  =>
		q{near_duplicate_pairs(format('VALUES (%L, %L), (''2'', %L)', hex, body, copy), .3, hex)},
	'near_duplicate_groups(text,double precision,boolean)'  =>
		q{near_duplicate_groups(format('VALUES (1, %L), (2, %L)', body, copy), .3)},
	'near_duplicate_groups(text,double precision,boolean,anyelement)' =>
		q{near_duplicate_groups(format('VALUES (%L, %L), (''2'', %L)', hex, body, copy), .3, true, hex)},
	'near_duplicate_join(text,text,double precision)'       =>
		q{near_duplicate_join(format('SELECT 1, %L', body), format('SELECT 2, %L', copy), .3)},
	'near_duplicate_join(text,text,double precision,anyelement)' =>
		q{near_duplicate_join(format('SELECT %L, %L', hex, body), format('SELECT %L, %L', hex, copy), .3, hex)},
	'passage_pairs(text,integer,integer)'           => q{passage_pairs(format('VALUES (1, %L), (2, %L)', body, copy), 2)},
	'passage_pairs(text,integer,integer,anyelement)' =>
		q{passage_pairs(format('VALUES (%L, %L), (''2'', %L)', hex, body, copy), 2, 1000, hex)},
	'passage_join(text,text,integer,integer)'       =>
		q{passage_join(format('SELECT 1, %L', body), format('SELECT 2, %L', copy), 2)},
	'passage_join(text,text,integer,integer,anyelement)' =>
		q{passage_join(format('SELECT %L, %L', hex, body), format('SELECT %L, %L', hex, copy), 2, 1000, hex)},
	'passage_groups(text,integer,integer,boolean)'  => q{passage_groups(format('VALUES (1, %L), (2, %L)', body, copy), 2)},
	'passage_groups(text,integer,integer,boolean,anyelement)' =>
		q{passage_groups(format('VALUES (%L, %L), (''2'', %L)', hex, body, copy), 2, 1000, true, hex)},
	'containment_pairs(text,double precision,integer)'      => q{containment_pairs(format('VALUES (1, %L), (2, %L)', body, copy), .1)},
	'containment_pairs(text,double precision,integer,anyelement)' =>
		q{containment_pairs(format('VALUES (%L, %L), (''2'', %L)', hex, body, copy), .1, 1000, hex)},
	'minhash_code(text,integer,text,integer)'       => 'minhash_code(body, 128, words, 1 + radius)',
	'code_from_hex(text)'                           => q{code_from_hex(hex || hex)},
	'minhash_code_of(text[],integer)'               => 'minhash_code_of(features)',
	'minhash_code_of(bigint[],integer)'             => 'minhash_code_of(hashes, 256)',
	'minhash_code(tsvector,integer)'                => 'minhash_code(lexemes, 64)',
	'hamming(bit,bit)'                              => 'hamming(code, other_code)',
	'hamming_within(bit,bit,bigint)'                => 'hamming_within(code, other_code, radius)',
	'codes_alike(bit,bit)'                          => 'code =~~ other_code',
	'bit_ball_in(cstring)'                          => 'code_ball_text::bit_ball',
	'bit_ball_out(bit_ball)'                        => 'code_ball::text',
	'bit_ball_recv(internal)'                       => '',
	'bit_ball_send(bit_ball)'                       => 'bit_ball_send(code_ball)',
	'bit_ball(bit,bigint)'                          => 'bit_ball(code, radius)',
	'bit_ball_contained(bit,bit_ball)'              => 'other_code <@ code_ball',
	'bit_ball_contains(bit_ball,bit)'               => 'code_ball @> other_code',
	'bit_lanes(bit,integer)'                        => 'bit_lanes(code, radius - radius - 1)',
	'bit_lane_layout(integer)'                      => 'bit_lane_layout(1 + radius)',
	'document_lane_layout(integer)'                 => 'document_lane_layout(radius)',
	'passage_lane_layout(integer)'                  => 'passage_lane_layout(radius)',
	'code_from_hex(text,integer)'                   => "code_from_hex('0f0', 12)",
	'simhash_shingles_of(text[])'                   => 'simhash_shingles_of(features)',
	'simhash_shingles_of(bigint[])'                 => 'simhash_shingles_of(hashes)',
	'passage_hashes(text,integer)'                  => 'passage_hashes(body, 6 + radius)',
	'passage_query(text,integer)'                   => 'passage_query(copy, 3 + radius)',
	'passage_query_shared(text,passage_query)'      => 'body &~~ passage_query(copy, 3)',
	'passage_query_hashes(passage_query)'           => 'passage_query_hashes(passage_query(body, 16))',
	'document_digest(text,bytea)'                   => 'length(document_digest(body, pass))',
	'document_digest(shingle_set,bytea)'            => 'length(document_digest(shingles, pass))',
	'document_content(text,bytea)'                  => q{document_content(body, pass || decode(repeat('ff', 64), 'hex'))},
	'document_content(shingle_set,bytea)'           => q{document_content(shingles, pass || decode(repeat('ff', 64), 'hex'))},
	'containment_digest(text,bytea)'                => 'length(containment_digest(body, pass))',
	'passage_digest(text,bytea)'                    => 'passage_digest(body, pass)',
	'passage_content(text,bytea)'                   => q{passage_content(body, pass || decode(repeat('ff', 64), 'hex'))},
);
$calls{"hamming_near_$_(bigint,bigint)"} = 'fp ~' . '|' x $_ . '= other' for 1 .. 8;
# Called by the planner, or by the aggregates above.
my $internal = qr/^\w+\(internal\b|\binternal\)$/;

my @functions = split /\n/, $node->safe_psql('postgres', q{
	SELECT objid::regprocedure FROM pg_depend
	WHERE refclassid = 'pg_extension'::regclass AND classid = 'pg_proc'::regclass AND deptype = 'e'
		AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
	ORDER BY 1::text});
is_deeply([ grep { $_ !~ $internal && !exists $calls{$_} } @functions ], [], 'every function has a call here');

# ---- the comparison ----

my $compiled = 'SET jit = on; SET jit_above_cost = 0; SET jit_inline_above_cost = -1; SET jit_optimize_above_cost = 0;';
# Says what was compiled. EXPLAIN would compile it once more.
my $explained = q{LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_level = notice;};

# The statement's result is the same compiled and interpreted. Its columns are named by what they test.
sub same_by_jit
{
	my ($statement, $settings) = @_;
	$settings //= '';
	my (undef, $interpreted) = $node->psql('postgres', "SET jit = off; $settings $statement", extra_params => [ '-P', 'tuples_only=off', '-P', 'footer=off' ]);
	my ($names, $wanted) = split /\n/, $interpreted, 2;
	my @names = split /\|/, $names;
	my ($status, $found, $said) = $node->psql('postgres', "$compiled $settings $explained $statement");
	if ($status != 0)
	{
		fail("the server goes on: $statement");
		$node->poll_query_until('postgres', 'SELECT true');
		return;
	}
	like($said, qr/Optimization true/, "compiled: $names[0]");
	is_deeply([ split /\|/, $found ], [ split /\|/, $wanted ], join(', ', @names));
	return;
}

# A column that sums up the results of an expression.
sub column
{
	my ($expression, $name) = @_;
	return qq{md5(string_agg(($expression)::text, ' ' ORDER BY id)) AS "$name"};
}

my (@scalar, @others);
for my $function (grep { $calls{$_} } sort keys %calls)
{
	my $call = $calls{$function};
	if ($node->safe_psql('postgres', "SELECT prokind = 'f' AND NOT proretset FROM pg_proc WHERE oid = '$function'::regprocedure") eq 't')
	{
		push @scalar, column($call, $function);
	}
	else
	{
		push @others, [ $function, $call ];
	}
}
same_by_jit('SELECT ' . join(",\n", @scalar) . ' FROM docs WHERE id <= 40');
for (@others)
{
	my ($function, $call) = @$_;
	my $few = $function =~ /index_|_of\(|quality|near_duplicate_|passage_(?:pairs|join|groups)|containment_pairs/ ? 'WHERE id <= 3' : '';
	my $groups = $function =~ /_agg\(/ ? 'GROUP BY radius' : '';
	same_by_jit(qq{SELECT md5(string_agg(r::text, ' ' ORDER BY r::text)) AS "$function" FROM (SELECT $call AS r FROM docs $few $groups) d});
}

my $by_index = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';
my $by_bitmap = 'SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off;';
sub join_of { return qq{SELECT count(*) AS "$_[0]", sum(a.fp <~> b.fp) FROM docs a JOIN docs b ON a.fp <~> b.fp <= 3} }
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;';
same_by_jit(join_of('a scan within a radius'), $by_index);
same_by_jit(join_of('a bitmap scan'), $by_bitmap);
same_by_jit(join_of('a sequential scan'), 'SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;');
same_by_jit('SELECT sum(b.fp::numeric) AS "an index-only scan" FROM docs a JOIN docs b ON b.fp <~> a.fp <= 3', $by_index);
same_by_jit('SELECT sum(n.distance) AS "the nearest" FROM docs a, LATERAL (SELECT b.fp <~> a.fp AS distance FROM docs b ORDER BY 1 LIMIT 5) n', "$by_index SET enable_sort = off;");
same_by_jit(q{SELECT count(*) AS "a scope" FROM docs a JOIN docs b ON a.other <~> b.other <= 3 AND a.color = b.color}, $by_index);
same_by_jit('SELECT count(*) AS "an index on texts" FROM docs a JOIN docs b ON near_duplicate(a.body, b.body, .1) AND a.id % 50 = 0', $by_index);
same_by_jit('SELECT simhash_agg(body, weights[1]) AS "parallel workers", count(*) FILTER (WHERE fp <~> other <= radius) FROM docs', $parallel);
same_by_jit('SELECT fp <~> other AS "a grouping", count(*) FROM docs GROUP BY 1 HAVING max(simhash(body) <~> fp) >= 0 ORDER BY 1 LIMIT 1');
same_by_jit(q{
	SELECT count(*) AS "verified pairs", sum(shingle_similarity(x.shingles, y.shingles))::numeric(9, 3)
	FROM unnest((SELECT simhash_pairs_agg(fp, 8) FROM docs)) p JOIN docs x ON x.fp = p.a JOIN docs y ON y.fp = p.b
	WHERE shingle_similarity(x.shingles, y.shingles) >= .3});
is($node->safe_psql('postgres', "$compiled CREATE INDEX again ON docs USING simhash ((fp # other)) WHERE fp <~> other <= 3; SELECT rows FROM simhash_index_check('again', true)"),
	600, 'the build of an index on an expression');
$node->stop;
done_testing();
