-- simhash_quality: what each form finds among documents, beside their exact similarity.
\pset null NULL

-- Groups of three documents, in which one word of 10 to 60 is another.
CREATE TABLE documents AS
SELECT id, string_agg(md5(concat(id / 3, ' ', place,
        CASE WHEN (place + id) % (10 + id / 3 * 5) = 0 THEN id END)), ' ' ORDER BY place) AS body
FROM generate_series(0, 32) AS id, generate_series(1, 120) AS place
GROUP BY id;

-- The same by every pair's texts, one form and radius after the other.
CREATE TABLE similarities AS
SELECT a.id AS a, b.id AS b, shingle_similarity(a.body, b.body) AS s
FROM documents a JOIN documents b ON a.id < b.id;
CREATE FUNCTION compared(similar_from double precision, unlike_below double precision)
RETURNS TABLE (form text, radius integer, similar_pairs bigint, similar_found bigint,
    neither_found bigint, strangers_found bigint, recall double precision, f1 double precision)
LANGUAGE plpgsql AS $$
BEGIN
    FOR form IN SELECT unnest(ARRAY['minhash(body)', 'simhash(body)', 'simhash(body, ''chars'', 3)',
        'simhash(body, ''words'', 1, ''log'')', 'simhash(body, ''words'', 3, ''binary'')']) LOOP
        FOREACH radius IN ARRAY ARRAY[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] LOOP
            EXECUTE format('
                SELECT count(*) FILTER (WHERE s >= %2$s),
                    count(*) FILTER (WHERE s >= %2$s AND d <= %1$s),
                    count(*) FILTER (WHERE s < %2$s AND s >= %3$s AND d <= %1$s),
                    count(*) FILTER (WHERE s < %3$s AND d <= %1$s)
                FROM (SELECT s, x.fp <~> y.fp AS d
                      FROM similarities
                      JOIN (SELECT id, %4$s AS fp FROM documents OFFSET 0) x ON x.id = a
                      JOIN (SELECT id, %4$s AS fp FROM documents OFFSET 0) y ON y.id = b) p',
                radius, similar_from, unlike_below, form)
            INTO similar_pairs, similar_found, neither_found, strangers_found;
            recall := similar_found::double precision / nullif(similar_pairs, 0);
            f1 := 2 * similar_found::double precision
                / nullif(similar_pairs + similar_found + strangers_found, 0);
            RETURN NEXT;
        END LOOP;
    END LOOP;
END $$;

SELECT count(*) AS rows, count(DISTINCT form) AS forms, max(similar_pairs) AS similar_pairs,
    min(similar_found) < max(similar_found) AS radius_matters, max(neither_found) > 0 AS some_are_neither
FROM simhash_quality(ARRAY(SELECT body FROM documents));

(SELECT * FROM simhash_quality(ARRAY(SELECT body FROM documents)) EXCEPT SELECT * FROM compared(0.8, 0.5))
UNION ALL
(SELECT * FROM compared(0.8, 0.5) EXCEPT SELECT * FROM simhash_quality(ARRAY(SELECT body FROM documents)));

-- Other bounds; strangers, where everything below .7 is unlike.
(SELECT * FROM simhash_quality(ARRAY(SELECT body FROM documents), 0.7, 0.7) EXCEPT SELECT * FROM compared(0.7, 0.7))
UNION ALL
(SELECT * FROM compared(0.7, 0.7) EXCEPT SELECT * FROM simhash_quality(ARRAY(SELECT body FROM documents), 0.7, 0.7));
SELECT max(strangers_found) > 0 AS strangers, max(neither_found) AS neither
FROM simhash_quality(ARRAY(SELECT body FROM documents), 0.7, 0.7);

-- The order of the documents does not matter.
SELECT * FROM simhash_quality(ARRAY(SELECT body FROM documents ORDER BY id DESC))
EXCEPT SELECT * FROM simhash_quality(ARRAY(SELECT body FROM documents ORDER BY md5(body)));

-- Documents without a feature, and none, have no pairs.
SELECT DISTINCT similar_pairs, similar_found, neither_found, strangers_found, recall, f1
FROM simhash_quality(ARRAY['a b c', NULL, '', '...']);
SELECT count(*) AS rows, max(similar_pairs) AS similar_pairs FROM simhash_quality('{}');
SELECT count(*) AS rows FROM simhash_quality(NULL);

-- The neighbours of some rows, as docs/reference.md takes them.
CREATE TABLE pages AS SELECT id, body, minhash(body) AS fp FROM documents;
CREATE INDEX ON pages USING simhash (fp);
SELECT count(*) AS rows
FROM simhash_quality(ARRAY(
    SELECT body FROM pages WHERE id IN (
        SELECT b.id FROM (SELECT fp FROM pages ORDER BY random() LIMIT 300) a
        JOIN pages b ON b.fp <~> a.fp <= 14
        UNION SELECT id FROM pages TABLESAMPLE SYSTEM (1))))
WHERE radius IN (3, 6, 8, 10);

-- Copies are similar, and found at once.
SELECT * FROM simhash_quality(ARRAY['a b c d', 'a b c d', 'A, b; c d!']) WHERE radius = 0;

-- It does not depend on the search_path.
SELECT current_schema() AS schema, n.nspname AS extension
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'simhash' \gset
SET search_path = pg_catalog;
SELECT similar_found FROM :extension.simhash_quality(ARRAY['a b c d', 'a b c d']) WHERE radius = 0 AND form = 'minhash(body)';
RESET search_path;

DROP FUNCTION compared;
DROP TABLE documents, similarities, pages;
