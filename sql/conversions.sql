-- Fingerprints as hexadecimal digits and as unsigned numbers, there and back.
SELECT v, simhash_to_hex(v), simhash_to_unsigned(v),
       simhash_from_hex(simhash_to_hex(v)) = v AND simhash_from_unsigned(simhash_to_unsigned(v)) = v AS back
FROM (VALUES (0), (1), (-1), (9223372036854775807), (-9223372036854775808), (81985529216486895)) AS t(v);
SELECT simhash_from_hex('DEADbeef') = 3735928559, simhash_from_unsigned(5.000);
SELECT simhash_from_hex('');
SELECT simhash_from_hex('0x1f'), simhash_from_hex('0X00000000DEADbeef') = 3735928559,
       simhash_from_hex('0xffffffffffffffff');
SELECT simhash_from_hex('0x');
SELECT simhash_from_hex('x1f');
SELECT simhash_from_hex('0x00000000000000000');
SELECT simhash_from_hex('00000000000000000');
SELECT simhash_from_hex('-1');
SELECT simhash_from_unsigned(-1);
SELECT simhash_from_unsigned(18446744073709551616);
SELECT simhash_from_unsigned(1e30);
SELECT simhash_from_unsigned(1.5);
SELECT simhash_from_unsigned('NaN');
SELECT simhash_from_unsigned('Infinity');
-- Codes: 4 bits of each digit, whose number is the column's.
SELECT code_from_hex('00fF12') AS code, code_from_hex('0123456789abcdef')::bigint = simhash_from_hex('0123456789abcdef') AS as_fingerprint,
       length(code_from_hex(repeat('9c', 5000))) AS long, code_from_hex(NULL) IS NULL AS of_null;
SELECT count(*) FILTER (WHERE code_from_hex(h) = ('x' || h)::bit(256)) AS same, count(DISTINCT code_from_hex(h)) AS different
FROM (SELECT md5(i::text) || upper(md5((-i)::text)) AS h FROM generate_series(1, 1000) i) v;
CREATE TABLE photo (pdq bit(256));
INSERT INTO photo VALUES (code_from_hex(repeat('0f', 32)));
INSERT INTO photo VALUES (code_from_hex(repeat('0f', 31)));
INSERT INTO photo VALUES (code_from_hex(repeat('0f', 33)));
SELECT length(pdq), pdq <~~> code_from_hex(repeat('00', 32)) AS distance FROM photo;
SELECT code_from_hex('');
SELECT code_from_hex('0f0');
SELECT code_from_hex('0X0f') AS after_prefix;
SELECT code_from_hex('0x');
SELECT code_from_hex('\x0f');
SELECT code_from_hex('0f 1');
SELECT code_from_hex('0é0');
SELECT code_from_hex('é0');
SELECT code_from_hex(repeat('0f', 100) || 'g0');
-- As many bits as are given: a hash of 9 x 9 bits is printed as a number of 21 digits, whose first has one bit.
SELECT bits, count(*) FILTER (WHERE code_from_hex(digits, bits) = code) AS same, count(DISTINCT code) AS different
FROM (VALUES (1), (2), (3), (4), (5), (63), (64), (65), (81), (255), (256)) b (bits), generate_series(1, 40) i,
     LATERAL (SELECT left((('x' || md5(i::text) || md5((-i)::text))::bit(256))::text, bits) AS ones) c,
     LATERAL (SELECT ones::bit varying AS code, lpad(ones, (bits + 3) / 4 * 4, '0') AS padded) d,
     LATERAL (SELECT string_agg(to_hex(substr(padded, n, 4)::bit(4)::integer), '' ORDER BY n) AS digits FROM generate_series(1, length(padded), 4) n) e
GROUP BY bits ORDER BY bits;
SELECT code_from_hex('1' || repeat('0', 20), 81) = '1' || repeat('0', 80)::bit(80) AS highest, code_from_hex('0f', NULL) IS NULL AS of_null;
SELECT code_from_hex('2' || repeat('0', 20), 81);
SELECT code_from_hex(repeat('0', 20), 81);
SELECT code_from_hex(repeat('0', 22), 81);
SELECT code_from_hex('0f', -1);
SELECT code_from_hex('0f', 2147483647);
\set VERBOSITY sqlstate
SELECT code_from_hex('0g');
\set VERBOSITY default
DROP TABLE photo;
