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
