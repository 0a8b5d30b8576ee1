CREATE TEMP TABLE query AS
    SELECT DISTINCT body AS q, minhash_code(body) AS code FROM docs TABLESAMPLE BERNOULLI (1) REPEATABLE (1) WHERE minhash(body) IS NOT NULL LIMIT 200;
SET enable_seqscan = off;
CREATE TEMP TABLE by_index AS SELECT q, (SELECT count(*) FROM docs WHERE body =~~ q) AS rows FROM query;
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
CREATE TEMP TABLE scanned AS SELECT body, minhash_code(body) AS code, count(*) AS rows FROM docs GROUP BY body;
-- By definition: one of the two lanes is within 11 bits, and the texts decide.
CREATE TEMP TABLE by_scan AS
    SELECT q, sum(rows)::bigint AS rows
    FROM query JOIN scanned ON least(bit_count(substring(query.code # scanned.code, 1, 64)), bit_count(substring(query.code # scanned.code, 65))) <= 11
        AND shingle_similarity(q, body) >= 0.8 GROUP BY q;
SELECT count(*) || ' queries, ' || count(*) FILTER (WHERE i.rows IS DISTINCT FROM s.rows) || ' differences'
FROM by_index i FULL JOIN by_scan s USING (q);
-- The constraint leaves no near-duplicates.
SELECT (SELECT count(*) FROM originals) || ' originals, ' || count(*) || ' differences'
FROM near_duplicate_pairs('SELECT id, body FROM originals');
