CREATE TEMP TABLE query AS
    SELECT DISTINCT body AS q, minhash(body) AS fp FROM docs TABLESAMPLE BERNOULLI (1) REPEATABLE (1) WHERE minhash(body) IS NOT NULL LIMIT 200;
SET enable_seqscan = off;
CREATE TEMP TABLE by_index AS SELECT q, (SELECT count(*) FROM docs WHERE body =~~ q) AS rows FROM query;
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
CREATE TEMP TABLE scanned AS SELECT body, minhash(body) AS fp, count(*) AS rows FROM docs GROUP BY body;
CREATE TEMP TABLE by_scan AS
    SELECT q, sum(rows)::bigint AS rows
    FROM query JOIN scanned ON bit_count(int8send(query.fp # scanned.fp)) <= 8 AND shingle_similarity(q, body) >= 0.8 GROUP BY q;
SELECT count(*) || ' queries, ' || count(*) FILTER (WHERE i.rows IS DISTINCT FROM s.rows) || ' differences'
FROM by_index i FULL JOIN by_scan s USING (q);
-- The constraint leaves no near-duplicates.
SELECT (SELECT count(*) FROM originals) || ' originals, ' || count(*) || ' differences'
FROM near_duplicate_pairs('SELECT id, body FROM originals');
