-- The binary forms of all types, as COPY and drivers send them: bytes in the network's order, whatever the machine's, and signs at both
-- ends of the ranges; there and back, alone and in arrays and composite values.
CREATE TABLE forms (
    number integer GENERATED ALWAYS AS IDENTITY, ball hamming_ball, code_ball bit_ball, shingles shingle_set, pair simhash_pair,
    balls hamming_ball[], code_balls bit_ball[], sets shingle_set[], pairs simhash_pair[]);
INSERT INTO forms (ball) VALUES ('(0,0)'), ('(1,1)'), ('(-1,-1)'), ('(42,3)'), ('(4294967295,64)'), ('(-4294967296,65)'), ('(72623859790382856,16909060)'),
    ('(9223372036854775807,2147483647)'), ('(-9223372036854775808,-2147483648)'), ('(-9223372036854775807,-2)');
INSERT INTO forms (code_ball) VALUES ('(,0)'), ('(,-1)'), ('(1,-2147483648)'), ('(0,2147483647)'), ('(10000000,16909060)'), ('(100000001,-2)'), ('(1111111,1)');
INSERT INTO forms (code_ball)
SELECT bit_ball(repeat(digit, bits)::varbit, radius) FROM unnest(ARRAY['0', '1']) digit, unnest(ARRAY[63, 64, 65, 1024, 20000]) bits, unnest(ARRAY[-1, bits]) radius;
INSERT INTO forms (shingles) VALUES ('words/3:'), ('chars/32:00000000000000010000000000000002'), ('words/1:00000000000000007fffffffffffffff'),
    ('chars/8:8000000000000000ffffffffffffffff');
INSERT INTO forms (shingles)
SELECT simhash_shingles((SELECT string_agg(md5(i::text), ' ') FROM generate_series(1, words) i), features, width)
FROM unnest(ARRAY[0, 1, 3, 2000]) words, unnest(ARRAY['words', 'chars']) features, unnest(ARRAY[1, 32]) width;
INSERT INTO forms (pair) VALUES ((0, 0, 0)), ((-1, 1, 64)), ((-9223372036854775808, 9223372036854775807, -1)), ((NULL, -1, NULL));
INSERT INTO forms (balls, code_balls, sets, pairs) VALUES
    ('{}', '{}', '{}', '{}'), (ARRAY['(-1,-1)', NULL, '(1,64)']::hamming_ball[], ARRAY['(1,-1)', NULL, '(,0)']::bit_ball[],
     ARRAY['chars/8:8000000000000000ffffffffffffffff', NULL, 'words/3:']::shingle_set[], ARRAY[(-1, -2, -3)::simhash_pair, NULL]);
INSERT INTO forms DEFAULT VALUES;

-- The bytes.
SELECT ball, hamming_ball_send(ball) FROM forms WHERE ball IS NOT NULL ORDER BY number;
SELECT code_ball, bit_ball_send(code_ball) FROM forms WHERE length(code_ball::text) < 40 ORDER BY number;
SELECT shingles, shingle_set_send(shingles) FROM forms WHERE length(shingles::text) < 60 ORDER BY number;

-- There and back: rows that are not what they were.
\copy forms TO 'results/binary_forms.bin' (FORMAT binary)
CREATE TABLE copied (LIKE forms);
\copy copied FROM 'results/binary_forms.bin' (FORMAT binary)
SELECT count(*) FROM forms JOIN copied USING (number);
SELECT f.number, left(f::text, 80) AS sent, left(c::text, 80) AS received FROM forms f FULL JOIN copied c USING (number)
WHERE f::text IS DISTINCT FROM c::text ORDER BY 1 LIMIT 3;
-- What was received means the same: in a ball of negative radius there is nothing, in one of the greatest there is all.
SELECT count(*) AS compared, count(*) FILTER (WHERE fp <@ f.ball) AS inside,
    min(format('%s in %s', fp, f.ball)) FILTER (WHERE (fp <@ f.ball) <> (fp <@ c.ball)) AS wrong
FROM forms f JOIN copied c USING (number), unnest(ARRAY[0, -1, 1, 42, 9223372036854775807, -9223372036854775808]) fp WHERE f.ball IS NOT NULL;
SELECT count(*) AS compared, count(*) FILTER (WHERE code <@ f.code_ball) AS inside,
    min(format('%s in %s', left(code::text, 70), left(f.code_ball::text, 70))) FILTER (WHERE (code <@ f.code_ball) <> (code <@ c.code_ball)) AS wrong
FROM forms f JOIN copied c USING (number), LATERAL (SELECT substring(f.code_ball::text, '[01]*(?=,)')::varbit AS center) t,
    unnest(ARRAY[center, ~center]) code WHERE f.code_ball IS NOT NULL;
SELECT count(*) AS compared, min(f.number) FILTER (WHERE shingle_similarity(f.shingles, c.shingles) < 1) AS wrong
FROM forms f JOIN copied c USING (number) WHERE f.shingles IS NOT NULL;
-- Sets that nobody has sent: with a part of a hash at the end, without a width, of an unknown kind, in disorder, and with one hash twice.
CREATE TABLE sets (shingles shingle_set);
\copy (SELECT shingle_set_send('words/3:0000000000000001') || '\x00'::bytea) TO 'results/binary_forms.bin' (FORMAT binary)
\copy sets FROM 'results/binary_forms.bin' (FORMAT binary)
\copy (SELECT '\x00000000'::bytea) TO 'results/binary_forms.bin' (FORMAT binary)
\copy sets FROM 'results/binary_forms.bin' (FORMAT binary)
\copy (SELECT '\xffff0001'::bytea) TO 'results/binary_forms.bin' (FORMAT binary)
\copy sets FROM 'results/binary_forms.bin' (FORMAT binary)
\copy (SELECT '\x0000000380000000000000007fffffffffffffff'::bytea) TO 'results/binary_forms.bin' (FORMAT binary)
\copy sets FROM 'results/binary_forms.bin' (FORMAT binary)
\copy (SELECT '\x0000000300000000000000010000000000000001'::bytea) TO 'results/binary_forms.bin' (FORMAT binary)
\copy sets FROM 'results/binary_forms.bin' (FORMAT binary)
TABLE sets;
DROP TABLE forms, copied, sets;
