CREATE TEMP TABLE query AS SELECT DISTINCT body AS q FROM docs TABLESAMPLE BERNOULLI (1) REPEATABLE (1) WHERE body <> '...' LIMIT 60;
INSERT INTO query SELECT words('piece' || i * 7, 17) FROM generate_series(0, 40) i;
SET enable_seqscan = off;
CREATE TEMP TABLE by_index AS
    SELECT q, (SELECT count(*) FROM docs WHERE body &~~ q) AS rows, (SELECT count(*) FROM docs WHERE body &~~ q AND tenant = 2) AS of_tenant FROM query;
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
CREATE TEMP TABLE by_scan AS
    SELECT q, count(*) AS rows, count(*) FILTER (WHERE tenant = 2) AS of_tenant FROM query JOIN docs ON body &~~ q GROUP BY q;
SELECT count(*) || ' queries, ' || count(*) FILTER (WHERE (i.rows, i.of_tenant) IS DISTINCT FROM (s.rows, s.of_tenant)) || ' differences'
FROM by_index i FULL JOIN by_scan s USING (q);
-- The constraint leaves none that share a passage.
SELECT (SELECT count(*) FROM originals) || ' originals, ' || count(*) || ' differences' FROM passage_pairs('SELECT number, body FROM originals');
