-- The default fingerprint once more, written in SQL from its definition (docs/fingerprints.md, "The
-- definition"), and the same for all documents here. With golden.sql it is what an implementation elsewhere
-- can be compared with.
CREATE FUNCTION defined_fingerprint(document text) RETURNS bigint LANGUAGE sql AS $$
    WITH word AS (
        SELECT feature,
               floor(65536 * log(2, 1 + frequency)) AS l,
               least(octet_length(feature), 12) / CASE WHEN feature ~ '^[0-9]' THEN 4.0 ELSE 1 END AS n
        FROM simhash_features(document)
    ), parts AS (
        SELECT feature,
               floor(floor(l * l / 65536) * floor(sqrt(65536 * floor(sqrt(65536 * l)))) / 65536) AS d,
               floor(65536 * sqrt(n)) AS r
        FROM word
    ), weighed AS (
        SELECT feature, floor(d * r / 16777216) AS weight FROM parts
    ), falling AS ( -- `rest`: the sum of this weight and all lower ones; `shares`: 8, 7, 6, ...
        SELECT weight, sum(weight) OVER (ORDER BY weight, feature DESC) AS rest,
               9 - row_number() OVER (ORDER BY weight DESC, feature) AS shares
        FROM weighed
    ), bound AS (
        SELECT coalesce(min(floor(rest / shares)) FILTER (WHERE shares > 0 AND weight * shares <= rest),
                        min(weight)) AS bound -- fewer than eight words: the least weight
        FROM falling
    )
    SELECT simhash_of(array_agg(feature), array_agg(least(weight, bound)::float8)) FROM weighed, bound
$$;
CREATE TABLE document (id serial, body text);
INSERT INTO document (body) VALUES
    (''), ('...'), ('a'), ('7'), ('a a a'), ('one two'), ('1 two'),
    ('spam spam spam buy cheap pills now'),
    ('one two three four five six seven'), ('one two three four five six seven eight'),
    ('eight eight words eight and eight more eight of eight them eight are eight the eight same eight'),
    ('2024-11-22 12:30 2,5 km; 10 10 10 10 of 1984, x86_64, ½ ① ٣ １２ words here'),
    ('Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich, und zwölf Boxkämpfer jagen ihn zurück'),
    ('人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。'),
    (repeat('to be or not to be ', 1000));
-- Of many lengths and shapes: the word 'wN' comes about 300 / N times.
INSERT INTO document (body)
SELECT string_agg(CASE WHEN i % 5 = 0 THEN (n * 37)::text WHEN i % 7 = 0 THEN repeat('long', n % 9) || n ELSE 'w' || n END, ' ')
FROM generate_series(1, 40) d, generate_series(1, d * d) i, LATERAL (SELECT 1 + 300 / (1 + (i * 7919 + d) % 307) AS n) AS which
GROUP BY d ORDER BY d;
SELECT count(*), count(simhash(body)) AS with_fingerprint,
       count(*) FILTER (WHERE simhash(body) IS NOT DISTINCT FROM defined_fingerprint(body)) AS as_defined
FROM document;
SELECT simhash('spam spam spam buy cheap pills now') <> simhash('spam') AS not_its_most_frequent_word,
       simhash('spam spam spam buy cheap pills now') = simhash('spam buy cheap pills now') AS all_weigh_the_same;
DROP TABLE document;
DROP FUNCTION defined_fingerprint;
