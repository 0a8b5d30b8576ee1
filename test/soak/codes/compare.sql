CREATE TEMP TABLE query AS SELECT DISTINCT fp AS q, code FROM docs TABLESAMPLE BERNOULLI (1) REPEATABLE (1) WHERE fp IS NOT NULL LIMIT 200;
SET enable_seqscan = off;
CREATE TEMP TABLE by_index AS SELECT q, (SELECT count(*) FROM docs WHERE fp <~> q <= 3) AS rows,
    (SELECT count(*) FROM docs d WHERE d.code <~~> query.code <= 12) AS codes FROM query;
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SET enable_indexonlyscan = off;
CREATE TEMP TABLE scanned AS SELECT fp, count(*) AS rows FROM docs GROUP BY fp; -- most rows repeat a fingerprint, after hours
CREATE TEMP TABLE by_scan AS SELECT q, sum(rows)::bigint AS rows FROM query JOIN scanned ON bit_count(int8send(fp # q)) <= 3 GROUP BY q;
SELECT count(*) || ' queries, ' || count(*) FILTER (WHERE i.rows IS DISTINCT FROM s.rows OR i.codes IS DISTINCT FROM s.rows) || ' differences'
FROM by_index i FULL JOIN by_scan s USING (q);
