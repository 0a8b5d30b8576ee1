CREATE TEMP TABLE query AS SELECT DISTINCT fp AS q, tenant FROM docs TABLESAMPLE BERNOULLI (1) REPEATABLE (1) WHERE fp IS NOT NULL LIMIT 200;
SET enable_seqscan = off;
CREATE TEMP TABLE by_index AS
    SELECT q, tenant, (SELECT count(*) FROM docs d WHERE fp <~> q <= 3 AND d.tenant = query.tenant) AS rows FROM query WHERE tenant IS NOT NULL
    UNION ALL
    SELECT q, NULL, (SELECT count(*) FROM docs d WHERE fp <~> q <= 3 AND d.tenant IS NULL) FROM query WHERE tenant IS NULL;
-- What the policy shows of them to the tenant of a quarter of the rows.
GRANT SELECT ON query TO tenant;
SET soak.tenant = 0;
SET ROLE tenant;
CREATE TEMP TABLE by_policy AS SELECT q, (SELECT count(*) FROM docs WHERE fp <~> q <= 3) AS rows FROM query WHERE tenant = 0;
RESET ROLE;
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SET enable_indexonlyscan = off;
CREATE TEMP TABLE scanned AS SELECT fp, tenant, count(*) AS rows FROM docs GROUP BY fp, tenant;
CREATE TEMP TABLE by_scan AS
    SELECT q, query.tenant, sum(rows)::bigint AS rows
    FROM query JOIN scanned ON bit_count(int8send(fp # q)) <= 3 AND scanned.tenant IS NOT DISTINCT FROM query.tenant GROUP BY 1, 2;
SELECT count(*) || ' queries, ' || count(*) FILTER (WHERE i.rows IS DISTINCT FROM s.rows) || ' differences'
FROM by_index i FULL JOIN by_scan s ON s.q = i.q AND coalesce(s.tenant, -1) = coalesce(i.tenant, -1);
SELECT count(*) || ' queries under a policy, ' || count(*) FILTER (WHERE p.rows IS DISTINCT FROM s.rows) || ' differences'
FROM by_policy p FULL JOIN (SELECT * FROM by_scan WHERE tenant = 0) s USING (q);
