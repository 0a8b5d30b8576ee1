-- simhash_groups and near_duplicate_groups: row for row what an exclusion constraint lets in and refuses, also of sets that are
-- made against it; with little memory; chains. `make groups-check` sets larger numbers: of rows, of bits of the words that are all
-- there, of texts, of families of texts.
\if :{?rows}
\else
\set rows 3000
\set bits 11
\set texts 500
\set families 150
\endif

-- A row's original is itself if the constraint lets it in, in the order of ids, or else the first row it let in that is near.
CREATE TABLE source (id bigint PRIMARY KEY, fp bigint, code "bit", body text);
CREATE FUNCTION constrained_groups(expression text, operator text, distance text)
RETURNS TABLE (id bigint, original bigint, measure double precision) LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    EXECUTE format('CREATE TEMP TABLE kept AS SELECT id, %s AS value FROM source LIMIT 0', expression);
    EXECUTE format('ALTER TABLE kept ADD EXCLUDE USING simhash (value WITH %s)', operator);
    EXECUTE format('INSERT INTO kept SELECT id, %s FROM source ORDER BY id ON CONFLICT DO NOTHING', expression);
    RETURN QUERY EXECUTE format($q$
        WITH found AS (
            SELECT s.id, s.value, coalesce((SELECT min(k.id) FROM kept k WHERE k.value %2$s s.value AND k.id <= s.id), s.id) AS original
            FROM (SELECT id, %1$s AS value FROM source) s)
        SELECT f.id, f.original, CASE WHEN f.id <> f.original THEN (%3$s)::double precision END
        FROM found f JOIN kept k ON k.id = f.original
        UNION ALL SELECT f.id, f.original, NULL FROM found f WHERE value IS NULL AND NOT EXISTS (SELECT FROM kept k WHERE k.id = f.original)
        ORDER BY id$q$, expression, operator, distance);
    DROP TABLE kept;
END $$;
-- The groups of the function beside those. Every row that goes has one near it that stays.
CREATE FUNCTION compare(expression text, operator text, distance text, call text, memory text DEFAULT '64MB',
                        OUT rows bigint, OUT originals bigint, OUT wrong bigint) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE expected AS SELECT row_number() OVER () AS n, c.* FROM constrained_groups(expression, operator, distance) c;
    PERFORM set_config('work_mem', memory, true);
    EXECUTE format('CREATE TEMP TABLE given AS SELECT row_number() OVER () AS n, g.* FROM %s AS g (id, original, measure)', call);
    PERFORM set_config('work_mem', '64MB', true);
    SELECT count(*), count(*) FILTER (WHERE g.id = g.original),
           count(*) FILTER (WHERE (e.id, e.original, e.measure) IS DISTINCT FROM (g.id, g.original, g.measure::double precision))
    INTO rows, originals, wrong FROM expected e FULL JOIN given g USING (n);
    DROP TABLE expected, given;
END $$;
SET hash_mem_multiplier = 1;

-- Fingerprints: random ones, some near an earlier one, chains of near ones, repeated ones, NULL, and a crowd that comes late.
CREATE FUNCTION any_bits(seed bigint, bits integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT bit_xor(1::bigint << (hashint8extended(seed, i) & 63)::integer) FROM generate_series(1, bits) i
$$;
CREATE FUNCTION any_fingerprint(i bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN i % 10 < 4 THEN hashint8extended(i, 1)
                WHEN i % 10 < 7 THEN hashint8extended(i - i % 10, 1) # any_bits(i, 1 + (i % 6)::integer)
                WHEN i % 10 = 7 THEN hashint8extended(i / 100, 2) # (i / 10 % 10 * 37)
                WHEN i % 10 = 8 THEN hashint8extended(i % 500, 1)
                WHEN i % 100 = 9 THEN NULL
                ELSE hashint8extended(0, 3) # any_bits(i, (i % 9)::integer) END
$$;
INSERT INTO source SELECT i, any_fingerprint(i) FROM generate_series(1, :rows) i;
INSERT INTO source SELECT 1000000 + i, hashint8extended(7, 7) # (i & 2047) FROM generate_series(1, :rows / 5) i;
SELECT * FROM compare('fp', '~=', 'f.value <~> k.value', $$simhash_groups('SELECT id, fp FROM source ORDER BY id', 3)$$);
SELECT * FROM compare('fp', '~=', 'f.value <~> k.value', $$simhash_groups('SELECT id, fp FROM source ORDER BY id', 3)$$, '64kB');
SELECT * FROM compare('fp', '~|=', 'f.value <~> k.value', $$simhash_groups('SELECT id, fp FROM source ORDER BY id', 1)$$);
SELECT * FROM compare('fp', '~||||||||=', 'f.value <~> k.value', $$simhash_groups('SELECT id, fp FROM source ORDER BY id', 8)$$);
SELECT * FROM compare('fp', '~||||||||=', 'f.value <~> k.value', $$simhash_groups('SELECT id, fp FROM source ORDER BY id', 8)$$, '64kB');
-- All words of some bits, in their order, against it, and in none: of 11 bits each has 11 neighbours, or 231 within 3 bits. There are
-- so many more pairs than rows that the rows are divided.
\set words '(1 << :bits)'
TRUNCATE source;
INSERT INTO source SELECT i, i FROM generate_series(0, :words - 1) i;
SELECT * FROM compare('fp', '~|=', 'f.value <~> k.value', $$simhash_groups('SELECT id, fp FROM source ORDER BY id', 1)$$);
SELECT * FROM compare('fp', '~=', 'f.value <~> k.value', $$simhash_groups('SELECT id, fp FROM source ORDER BY id', 3)$$);
UPDATE source SET fp = :words - 1 - fp WHERE fp % 3 > 0;
SELECT * FROM compare('fp', '~=', 'f.value <~> k.value', $$simhash_groups('SELECT id, fp FROM source ORDER BY id', 3)$$, '64kB');
UPDATE source SET fp = id * 2747 % :words;
SELECT * FROM compare('fp', '~=', 'f.value <~> k.value', $$simhash_groups('SELECT id, fp FROM source ORDER BY id', 3)$$);
-- A chain in which each is near to the next only: every second one is an original. As chains, all are one group.
TRUNCATE source;
INSERT INTO source SELECT i, (1::bigint << i) - 1 FROM generate_series(0, 60) i;
SELECT * FROM compare('fp', '~|=', 'f.value <~> k.value', $$simhash_groups('SELECT id, fp FROM source ORDER BY id', 1)$$);
SELECT original, count(*), count(distance) FROM simhash_groups('SELECT id, fp FROM source ORDER BY id', 1, true) GROUP BY original;
-- A million equal ones take the time of reading them.
SELECT original, distance, count(*) FROM simhash_groups('SELECT i, 42::bigint FROM generate_series(1, 1000000) i', 3) GROUP BY original, distance;

-- Codes of one word, two words and four.
TRUNCATE source;
INSERT INTO source SELECT i, NULL, (any_fingerprint(i)::bit(64) || any_fingerprint(i / 2)::bit(64) || any_fingerprint(i)::bit(64) || any_fingerprint(i + i % 3)::bit(64))::bit(256)
FROM generate_series(1, :rows / 4) i;
INSERT INTO source SELECT 1000000 + i, NULL, (repeat('0', 250) || repeat('1', 6))::bit(256) # i::bit(256) FROM generate_series(1, :rows / 10) i;
SELECT * FROM compare('code::bit(256)', '=~~', 'f.value <~~> k.value', $$simhash_groups('SELECT id, code FROM source ORDER BY id', 31)$$);
SELECT * FROM compare('code::bit(256)', '=~~', 'f.value <~~> k.value', $$simhash_groups('SELECT id, code FROM source ORDER BY id', 31)$$, '64kB');
SELECT bits, radius, c.* FROM unnest('{64,100}'::integer[]) bits,
    LATERAL (SELECT max(r) AS radius FROM generate_series(0, bits) r WHERE repeat('0', bits)::"bit" =~~ (repeat('1', r) || repeat('0', bits - r))::"bit") n,
    compare(format('code::bit(%s)', bits), '=~~', 'f.value <~~> k.value', format($$simhash_groups('SELECT id, code::bit(%s) FROM source ORDER BY id', %s)$$, bits, radius)) c;

-- Texts: families that share more or fewer of their words, copies, a template, chains, short ones and none.
CREATE FUNCTION word(seed bigint) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT 'w' || (hashint8extended(seed, 5) & 4095) $$;
-- The words of a family, of which a piece is another.
CREATE FUNCTION text_of(words text[], others text[], first_change integer, changes integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT array_to_string(words[1:first_change - 1] || others[first_change:first_change + changes - 1] || words[first_change + changes:], ' ')
$$;
CREATE TABLE family AS
SELECT f AS id, (SELECT array_agg(word(f * 100000 + i)) FROM generate_series(1, words) i) AS words, (SELECT array_agg(word(f * 100000 - i)) FROM generate_series(1, words) i) AS others
FROM (SELECT f, CASE f WHEN 0 THEN 800 ELSE 30 + f % 151 END AS words FROM generate_series(0, :families) f) f;
TRUNCATE source;
INSERT INTO source SELECT i, NULL, NULL, text_of(words, others, 1 + i % 31, i % 7) FROM generate_series(1, :texts) i JOIN family f ON f.id = 1 + i / 9 % :families;
INSERT INTO source SELECT 1000000 + i, NULL, NULL, array_to_string(words, ' ') || ' ' || word(i) || ' ' || word(7 * i) FROM generate_series(1, least(:texts / 5, 600)) i JOIN family f ON f.id = 70;
INSERT INTO source SELECT 2000000 + i, NULL, NULL, array_to_string(words[6 * i:6 * i + 100], ' ') FROM generate_series(1, 110) i JOIN family f ON f.id = 0;
INSERT INTO source SELECT 3000000 + i, NULL, NULL, CASE i % 4 WHEN 0 THEN 'short text ' || i % 5 WHEN 1 THEN '...' WHEN 2 THEN NULL ELSE 'a longer text' END
FROM generate_series(1, 100) i;
-- Of one document a piece of a tenth to an eighth is another. Each is like the whole; of two, many are not like each other, though
-- some have the same fingerprint.
INSERT INTO source SELECT 4000000 + i, NULL, NULL, text_of(words, others, i, 60 + i % 4 * 10) FROM generate_series(1, 600, 3) i JOIN family f ON f.id = 0;
INSERT INTO source SELECT 5000000, NULL, NULL, array_to_string(words, ' ') FROM family WHERE id = 0;
CREATE TABLE variants AS SELECT id, minhash(body) AS fp, simhash_shingles(body) AS shingles FROM source WHERE id BETWEEN 4000000 AND 5000000;
SELECT count(*) > 0 AS unlike_with_one_fingerprint FROM variants x JOIN variants y ON x.fp = y.fp AND x.id < y.id
WHERE shingle_similarity(x.shingles, y.shingles) < 0.8;
SELECT * FROM compare('body', '=~~', 'shingle_similarity(f.value, k.value)', $$near_duplicate_groups('SELECT id, body FROM source ORDER BY id')$$);
SELECT * FROM compare('body', '=~~', 'shingle_similarity(f.value, k.value)', $$near_duplicate_groups('SELECT id, body FROM source ORDER BY id')$$, '64kB');
UPDATE source SET id = hashint8extended(id, 9);
ANALYZE source;
SELECT * FROM compare('body', '=~~', 'shingle_similarity(f.value, k.value)', $$near_duplicate_groups('SELECT id, body FROM source ORDER BY id')$$);
SELECT * FROM compare('body', '=~~', 'shingle_similarity(f.value, k.value)', $$near_duplicate_groups('SELECT id, simhash_shingles(body) FROM source ORDER BY id', 0.8)$$, '128kB');
SET work_mem = '64MB';
-- The README's DELETE: what the constraint would have refused goes, and then it can be added.
BEGIN;
DELETE FROM source USING near_duplicate_groups('SELECT id, body FROM source ORDER BY id') g WHERE source.id = g.id AND g.id <> g.original;
ALTER TABLE source ADD EXCLUDE USING simhash (body WITH =~~);
SELECT count(*) FROM source;
ROLLBACK;
-- As chains: the groups that pairs link.
CREATE FUNCTION wrong_chains(pairs text, chains text, memory text, OUT pairs_across bigint, OUT not_linked bigint) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'CREATE TEMP TABLE pair AS SELECT * FROM ' || pairs;
    PERFORM set_config('work_mem', memory, true);
    EXECUTE 'CREATE TEMP TABLE chain AS SELECT row_number() OVER () AS n, * FROM ' || chains;
    PERFORM set_config('work_mem', '64MB', true);
    ANALYZE pair, chain;
    SELECT count(*) INTO pairs_across FROM pair p JOIN chain x ON x.id = p.id JOIN chain y ON y.id = p.other WHERE x.original <> y.original;
    -- What cannot be reached from the original; and an original that is not the first.
    CREATE TEMP TABLE both_ways AS SELECT id, other FROM pair UNION ALL SELECT other, id FROM pair;
    CREATE TEMP TABLE reached AS SELECT DISTINCT original AS id FROM chain;
    LOOP
        ANALYZE both_ways, reached;
        INSERT INTO reached SELECT other FROM reached JOIN both_ways USING (id) EXCEPT SELECT id FROM reached;
        EXIT WHEN NOT FOUND;
    END LOOP;
    SELECT (SELECT count(*) FROM chain WHERE id NOT IN (SELECT id FROM reached))
         + (SELECT count(*) FROM chain c JOIN chain o ON o.id = c.original WHERE o.n > c.n OR o.original <> o.id)
    INTO not_linked;
    DROP TABLE pair, chain, both_ways, reached;
END $$;
SELECT memory, similarity, w.* FROM (VALUES ('64MB', 0.85), ('64kB', 0.85)) v (memory, similarity),
    wrong_chains(format('near_duplicate_pairs(%L, %s)', 'SELECT id, body FROM source ORDER BY id', similarity),
                 format('near_duplicate_groups(%L, %s, true)', 'SELECT id, body FROM source ORDER BY id', similarity), memory) w;
TRUNCATE source;
INSERT INTO source SELECT i, any_fingerprint(i), any_fingerprint(i)::bit(64) || any_fingerprint(i + i % 2)::bit(64) FROM generate_series(1, least(:rows / 3, 10000)) i;
SELECT memory, f.*, c.* FROM unnest('{64MB,64kB}'::text[]) memory,
    wrong_chains($$simhash_pairs('SELECT id, fp FROM source ORDER BY id', 4)$$, $$simhash_groups('SELECT id, fp FROM source ORDER BY id', 4, true)$$, memory) f,
    wrong_chains($$simhash_pairs('SELECT id, code FROM source ORDER BY id', 12)$$, $$simhash_groups('SELECT id, code FROM source ORDER BY id', 12, true)$$, memory) c;
RESET work_mem;
RESET hash_mem_multiplier;
DROP TABLE source, variants, family;
DROP FUNCTION constrained_groups, compare, any_bits, any_fingerprint, word, text_of, wrong_chains;
-- Codes whose first halves are near, each half of two codes: of one group that all pairs link, and of a chain.
CREATE TABLE chained AS
WITH RECURSIVE walk (n, w) AS (
    SELECT 0, 1311768467463790320 UNION ALL SELECT n + 1, w # (1::bigint << (abs(hashint4(n)) % 63)) FROM walk WHERE n < 1499)
SELECT n, v, (5 # (1::bigint << (n % 63)) # (1::bigint << ((n / 63 + n % 63 + 1) % 63)))::bit(64)
    || CASE v WHEN 0 THEN (9 # (1::bigint << (n % 63)))::bit(64) ELSE w::bit(64) END AS code FROM walk, generate_series(0, 1) v
UNION ALL SELECT n, 2, hashint8extended(n, 1)::bit(64) || (6 # (1::bigint << (n % 63)) # (1::bigint << (n / 63 % 63)))::bit(64) FROM generate_series(1, 6000) n;
SELECT v, count(DISTINCT original) AS groups, count(*)
FROM simhash_groups('SELECT n * 3 + v, code FROM chained ORDER BY v, n', 8, true) g JOIN chained ON n * 3 + v = id GROUP BY v ORDER BY v;
DROP TABLE chained;
-- Codes of 200 lanes that are near each other: more pairs of lanes than a buffer takes. Each lane has a code of one large group, and
-- one that is near to a single other code, by that lane alone. Of 128 bits, bit j is at place 55 j mod 128 of both lanes.
CREATE FUNCTION code_of_lanes(lanes bit(128)) RETURNS bit(128) LANGUAGE sql AS $$
    SELECT string_agg(get_bit(lanes, bit * 55 % 128)::text, '' ORDER BY bit)::bit(128) FROM generate_series(0, 127) bit
$$;
CREATE TABLE linked AS
SELECT n * 2 + v AS id, v, code_of_lanes(lane::bit(64) || CASE v WHEN 0 THEN 0 ELSE hashint8extended(n / 2, 1) # n % 2 * 31 END::bit(64)) AS code
FROM generate_series(0, 199) n, generate_series(0, 1) v, LATERAL (SELECT (1::bigint << n % 63) # (1::bigint << (n + n / 63 + 1) % 63) AS lane) l;
SELECT v, count(DISTINCT original) AS groups, count(*)
FROM simhash_groups('SELECT id, code FROM linked ORDER BY id', 9, true) g JOIN linked USING (id) GROUP BY v ORDER BY v;
DROP TABLE linked;
DROP FUNCTION code_of_lanes;
