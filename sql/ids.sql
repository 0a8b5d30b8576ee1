-- Ids of every kind of type, by value and by reference, negative and extreme, in each function that returns ids: they come back as they
-- were given. The same query with the rows' numbers for ids is the oracle.
CREATE TYPE shade AS ENUM ('light', 'dark');
CREATE TYPE place AS (book text, page numeric);
CREATE DOMAIN debt AS integer CHECK (VALUE < 1);
CREATE DOMAIN small_debt AS smallint;
CREATE TABLE kinds (id_type text, ids text[]);
INSERT INTO kinds VALUES
    ('smallint', '{-32768,-1,0,1,32767}'), ('integer', '{-2147483648,-32769,-1,0,65535,2147483647}'), ('bigint', '{-9223372036854775808,-4294967296,-1,0,4294967295,9223372036854775807}'),
    ('debt', '{-2147483648,-1,0}'), ('small_debt', '{-32768,-1,0}'), ('oid', '{0,2147483648,4294967295}'), ('xid8', '{0,18446744073709551615}'),
    ('numeric', '{-Infinity,-1e130,-1.50,-0.1,0,0.000,NaN}'), ('real', '{-Infinity,-0,-1e-45,NaN}'), ('double precision', '{-Infinity,-0,-5e-324,NaN}'), ('money', '{-92233720368547758.08,-0.01,0}'),
    ('boolean', '{f,t}'), ('"char"', '{"",a,"\\200","\\377"}'), ('name', '{"",a,ÿ}'), ('text', '{"",a,"a ",ÿ,"-1"}'), ('varchar', '{"",-1}'), ('char(3)', '{"",a,-1}'), ('bytea', '{"\\\\x","\\\\x00","\\\\xff00"}'),
    ('uuid', '{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff,80000000-0000-0000-0000-000000000000}'),
    ('date', '{-infinity,4714-11-24 BC,1999-12-31,5874897-12-31,infinity}'), ('time', '{00:00,24:00}'), ('timetz', '{00:00-15:59,24:00+15:59}'),
    ('timestamp', '{-infinity,4714-11-24 BC,1999-12-31 23:59:59.999999,infinity}'), ('timestamptz', '{-infinity,4714-11-24 BC,infinity}'), ('interval', '{-178000000 years,-1 mon +1 day,-00:00:00.000001}'),
    ('inet', '{0.0.0.0/0,255.255.255.255,ffff::/16}'), ('macaddr', '{00:00:00:00:00:00,ff:ff:ff:ff:ff:ff}'), ('tid', '{"(0,0)","(4294967295,65535)"}'), ('point', '{"(-1,-0)","(Infinity,-Infinity)"}'),
    ('bit(3)', '{000,111}'), ('varbit', '{"",1,11}'), ('jsonb', '{-1,"null","[]","{\"a\": -1}"}'), ('shade', '{light,dark}'), ('place', '{"(,)","(a,-1)","(\"\",NaN)"}'),
    ('bigint[]', '{"{}","{-1,NULL}","{-9223372036854775808}","{{-1},{0}}"}'), ('int4range', '{empty,"(,)","[-5,-1)"}'), ('int8multirange', '{"{}","{[-5,-1)}"}');
SELECT count(*) AS kinds, sum(cardinality(ids)) AS ids FROM kinds;

-- Three values that are near each other, and one that is far; also NULL.
CREATE TABLE items AS
SELECT n, CASE WHEN n % 5 < 3 THEN 1234567890123456789 # (n % 5) WHEN n % 5 = 3 THEN -1234567890123456789 END AS fp,
    CASE WHEN n % 5 < 3 THEN (SELECT string_agg(md5(w::text), ' ') FROM generate_series(1, 60) w) || repeat(' and so on', n % 5)
         WHEN n % 5 = 3 THEN 'quite another text' END AS body
FROM generate_series(1, 9) n;
CREATE TABLE calls (name text, call text);
INSERT INTO calls VALUES
    ('near_duplicate_pairs', $$near_duplicate_pairs('SELECT %1$s, body FROM items ORDER BY n', 0.8%2$s)$$),
    ('near_duplicate_groups', $$near_duplicate_groups('SELECT %1$s, body FROM items ORDER BY n', 0.8, false%2$s)$$),
    ('near_duplicate_groups, chains', $$near_duplicate_groups('SELECT %1$s, body FROM items ORDER BY n', 0.8, true%2$s)$$),
    ('near_duplicate_join', $$near_duplicate_join('SELECT %1$s, body FROM items ORDER BY n', 'SELECT %1$s, body FROM items WHERE n > 2 ORDER BY n DESC', 0.8%2$s)$$),
    ('passage_pairs', $$passage_pairs('SELECT %1$s, body FROM items ORDER BY n', 16, 1000%2$s)$$),
    ('passage_groups', $$passage_groups('SELECT %1$s, body FROM items ORDER BY n', 16, 1000, false%2$s)$$),
    ('passage_join', $$passage_join('SELECT %1$s, body FROM items ORDER BY n', 'SELECT %1$s, body FROM items WHERE n > 2 ORDER BY n DESC', 16, 1000%2$s)$$),
    ('containment_pairs', $$containment_pairs('SELECT %1$s, body FROM items ORDER BY n', 0.8, 1000%2$s)$$),
    ('simhash_pairs', $$simhash_pairs('SELECT %1$s, fp FROM items ORDER BY n', 3%2$s)$$),
    ('simhash_pairs of codes', $$simhash_pairs('SELECT %1$s, fp::bit(64) FROM items ORDER BY n', 3%2$s)$$),
    ('simhash_groups', $$simhash_groups('SELECT %1$s, fp FROM items ORDER BY n', 3, false%2$s)$$),
    ('simhash_groups, chains', $$simhash_groups('SELECT %1$s, fp FROM items ORDER BY n', 3, true%2$s)$$),
    ('simhash_join', $$simhash_join('SELECT %1$s, fp FROM items ORDER BY n', 'SELECT %1$s, fp FROM items WHERE n > 2 ORDER BY n DESC', 3%2$s)$$);

-- The ids of row n are the n-th of the list, which begins again at its end. %1$s of a call is the id, %2$s the argument for its type.
CREATE FUNCTION answer(call text, id text, type_argument text, ids text[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE found text[];
BEGIN
    EXECUTE format('SELECT array_agg(format(''%%s|%%s'', x, y) ORDER BY format(''%%s|%%s'', x, y) COLLATE "C")
                    FROM (SELECT %s AS x, %s AS y FROM %s f (a, b)) p',
                   CASE WHEN ids IS NULL THEN 'a' ELSE format('(%L::text[])[a]', ids) END, CASE WHEN ids IS NULL THEN 'b' ELSE format('(%L::text[])[b]', ids) END,
                   format(call, replace(id, '''', ''''''), type_argument)) INTO found;
    RETURN found;
END $$;
-- As text, as the type writes them, one for each row.
CREATE FUNCTION written(id_type text, ids text[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE names text[];
BEGIN
    EXECUTE format('SELECT array_agg(format(''%%s'', (%L::text[])[1 + n %% %s]::%s) ORDER BY n) FROM items', ids, cardinality(ids), id_type) INTO names;
    RETURN names;
END $$;
CREATE FUNCTION answers_of_all(memory text) RETURNS TABLE (name text, id_type text, as_type text, expected text[], found text[]) LANGUAGE sql AS $$
    SELECT d.* FROM (
        SELECT name, id_type, as_type, answer(call, 'n', '', written(id_type, ids)) AS expected,
            answer(call, format('(%L::text[])[1 + n %% %s]::%s', ids, cardinality(ids), id_type), CASE WHEN as_type <> '' THEN format(', NULL::%s', as_type) ELSE '' END, NULL) AS found
        FROM kinds, calls, set_config('work_mem', memory, true),
            -- Integers come back as bigint, too, where no type is named.
            LATERAL (SELECT id_type AS as_type UNION ALL SELECT '' WHERE id_type IN ('smallint', 'integer', 'bigint', 'debt', 'small_debt')) t) d
$$;
CREATE TABLE answers AS SELECT memory, a.* FROM unnest('{4MB,64kB}'::text[]) memory, answers_of_all(memory) a;
SELECT memory, count(*) AS compared, min(cardinality(expected)) AS least, max(cardinality(expected)) AS most FROM answers GROUP BY memory ORDER BY memory;
SELECT * FROM answers WHERE found IS DISTINCT FROM expected ORDER BY memory, name, id_type, as_type LIMIT 2;
-- One of them to be read.
SELECT * FROM simhash_pairs('SELECT (ARRAY[-32768, -1, 0, 32767]::smallint[])[n], fp FROM items WHERE n < 5', 3);
SELECT * FROM near_duplicate_groups('SELECT (ARRAY[-2147483648, -1, 0, 2147483647])[n], body FROM items WHERE n < 5');
DROP TABLE kinds, items, calls, answers;
DROP FUNCTION answer, written, answers_of_all;
DROP TYPE shade, place, debt, small_debt;
