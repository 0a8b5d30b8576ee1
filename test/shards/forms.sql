-- Forms of query whose answers on shards are those of one node, each under its name. Tables: docs
-- (id, tenant, body, fp), which is on shards, and queries (n, fp), which is small. "shipped" is what
-- postgres_fdw sends of the condition or the order; where it sends neither, there is none.

-- within a radius
-- shipped: WHERE (public.hamming_within(fp,
SELECT id FROM docs WHERE fp <~> hashint8extended(130, 7) <= 3 ORDER BY id;

-- below a limit
-- shipped: WHERE (public.hamming_within(fp,
SELECT id FROM docs WHERE fp <~> 4557331023456346789 < 16 ORDER BY id;

-- the limit first
-- shipped: WHERE (public.hamming_within(
SELECT id FROM docs WHERE 3 >= hashint8extended(130, 7) <~> fp ORDER BY id;

-- a limit of another type
-- shipped: WHERE (public.hamming_within(fp,
SELECT id FROM docs WHERE fp <~> hashint8extended(130, 7) <= 3.5 ORDER BY id;

-- the function
-- shipped: WHERE (public.hamming_within(fp,
SELECT id FROM docs WHERE hamming(fp, hashint8extended(130, 7)) <= 5 ORDER BY id;

-- an exact distance
-- shipped: AND ((NOT public.hamming_within(fp,
SELECT id FROM docs WHERE fp <~> hashint8extended(130, 7) = 3 ORDER BY id;

-- between two distances
-- shipped: WHERE (public.hamming_within(fp,
SELECT id FROM docs WHERE fp <~> hashint8extended(130, 7) BETWEEN 1 AND 6 ORDER BY id;

-- beyond a distance
SELECT count(*) FROM docs WHERE fp <~> hashint8extended(130, 7) > 33;

-- a distance of codes
-- shipped: WHERE (public.hamming_within(
SELECT id FROM docs WHERE fp::bit(64) <~~> hashint8extended(130, 7)::bit(64) <= 3 ORDER BY id;

-- near-duplicates
-- shipped: WHERE ((fp OPERATOR(public.~=)
SELECT id FROM docs WHERE fp ~= hashint8extended(130, 7) ORDER BY id;

-- an operator of another radius
-- shipped: WHERE ((fp OPERATOR(public.~|||||=)
SELECT id FROM docs WHERE fp ~|||||= hashint8extended(130, 7) ORDER BY id;

-- a ball
-- shipped: WHERE ((fp OPERATOR(public.<@) '(
SELECT id FROM docs WHERE fp <@ hamming_ball(hashint8extended(130, 7), 8) ORDER BY id;

-- one of several fingerprints
-- shipped: WHERE ((fp OPERATOR(public.~=) ANY (
SELECT id FROM docs WHERE fp ~= ANY (ARRAY[-5413137230612104343, 4557331023456346789, hashint8extended(560, 7)]) ORDER BY id;

-- one of several balls
-- shipped from 17: WHERE ((fp OPERATOR(public.<@) ANY (
SELECT id FROM docs WHERE fp <@ ANY (ARRAY[hamming_ball(hashint8extended(130, 7), 3), hamming_ball(hashint8extended(560, 7), 3)]) ORDER BY id;

-- two conditions
-- shipped: OR public.hamming_within(fp,
SELECT id FROM docs WHERE fp <~> hashint8extended(130, 7) <= 3 OR fp <~> hashint8extended(560, 7) <= 3 ORDER BY id;

-- equality
-- shipped: WHERE ((fp =
SELECT id FROM docs WHERE fp = hashint8extended(131, 7) ORDER BY id;

-- no fingerprint
-- shipped: WHERE ((fp IS NULL))
SELECT count(*), min(id), max(id) FROM docs WHERE fp IS NULL;

-- a text
-- shipped: WHERE (public.hamming_within(fp,
SELECT id FROM docs WHERE fp <~> simhash('report 3: the boat house of town 5 is closed until day 2 for repairs of the roof') <= 3 ORDER BY id;

-- a text, prepared
-- shipped: WHERE (public.hamming_within(fp, public.simhash($1::text,
PREPARE near_text (text) AS SELECT id FROM docs WHERE fp <~> simhash($1) <= 3 ORDER BY id;
EXECUTE near_text ('report 3: the boat house of town 5 is closed until day 2 for repairs of the roof');

-- a fingerprint and a radius, prepared
-- shipped: WHERE (public.hamming_within(fp, $1::bigint, $2::integer))
PREPARE near (bigint, integer) AS SELECT id FROM docs WHERE fp <~> $1 <= $2 ORDER BY id;
EXECUTE near (hashint8extended(130, 7), 4);

-- a fingerprint and a limit of another type, prepared
-- shipped: WHERE (public.hamming_within(fp, $1::bigint, public.hamming_radius($2::numeric
PREPARE near_limit (bigint, numeric) AS SELECT id FROM docs WHERE fp <~> $1 <= $2 ORDER BY id;
EXECUTE near_limit (hashint8extended(130, 7), 4.5);

-- a text, and the texts themselves
-- shipped: public.shingle_similarity(body,
SELECT id FROM docs
WHERE fp <~> simhash('Report 3: the boat house of town 5 is closed until day 2 for repairs of the roof.') <= 10
    AND shingle_similarity(body, 'Report 3: the boat house of town 5 is closed until day 2 for repairs of the roof.') >= 0.5
ORDER BY id;

-- within a tenant
-- shipped: ((tenant = 8))
SELECT id FROM docs WHERE tenant = 8 AND fp <~> hashint8extended(130, 7) <= 4 ORDER BY id;

-- a fingerprint from the table
-- shipped: WHERE (
SELECT id FROM docs WHERE fp <~> (SELECT fp FROM docs WHERE id = 130) <= 3 ORDER BY id;

-- the nearest
-- shipped: ORDER BY (fp OPERATOR(public.<~>)
SELECT fp <~> hashint8extended(130, 7) AS distance FROM docs ORDER BY fp <~> hashint8extended(130, 7) LIMIT 10;

-- the nearest, in a certain order
-- shipped: ORDER BY (fp OPERATOR(public.<~>)
SELECT id FROM docs WHERE fp IS NOT NULL ORDER BY fp <~> hashint8extended(130, 7), id LIMIT 10;

-- the nearest of a tenant
-- shipped: WHERE ((tenant = 7)) ORDER BY (fp OPERATOR(public.<~>)
SELECT fp <~> hashint8extended(130, 7) AS distance FROM docs WHERE tenant = 7 ORDER BY fp <~> hashint8extended(130, 7) LIMIT 5;

-- the nearest within a radius
-- shipped: WHERE (public.hamming_within(fp,
SELECT fp <~> hashint8extended(130, 7) AS distance FROM docs
WHERE fp <~> hashint8extended(130, 7) <= 20 ORDER BY fp <~> hashint8extended(130, 7) LIMIT 10;

-- the nearest to a text
-- shipped: ORDER BY (fp OPERATOR(public.<~>)
SELECT fp <~> simhash('the boat house of town 5 is closed') AS distance FROM docs
ORDER BY fp <~> simhash('the boat house of town 5 is closed') LIMIT 5;

-- the least distance
-- shipped: ORDER BY (fp OPERATOR(public.<~>)
SELECT min(fp <~> 4557331023456346789) FROM docs;

-- how many at each distance
SELECT fp <~> 4557331023456346789 AS distance, count(*) FROM docs GROUP BY 1 ORDER BY 1;

-- a join with fingerprints
SELECT n, id FROM queries q JOIN docs d ON d.fp <~> q.fp <= 3 ORDER BY n, id;

-- a join with fingerprints, one after the other
-- shipped: WHERE (public.hamming_within(fp, $1::bigint, 3::bigint))
SELECT n, id FROM queries q CROSS JOIN LATERAL (SELECT id FROM docs d WHERE d.fp <~> q.fp <= 3 OFFSET 0) d ORDER BY n, id;

-- the nearest of each
-- shipped: ORDER BY (fp OPERATOR(public.<~>) $1::bigint)
SELECT n, distance FROM queries q
CROSS JOIN LATERAL (SELECT d.fp <~> q.fp AS distance FROM docs d ORDER BY d.fp <~> q.fp LIMIT 3) nearest ORDER BY n, distance;

-- those that something resembles
SELECT n FROM queries q WHERE EXISTS (SELECT FROM docs d WHERE d.fp <~> q.fp <= 3) ORDER BY n;

-- those that nothing resembles
SELECT n FROM queries q WHERE NOT EXISTS (SELECT FROM docs d WHERE d.fp <~> q.fp <= 3) ORDER BY n;

-- those that something resembles, by a join
SELECT DISTINCT n FROM queries q JOIN docs d ON d.fp <~> q.fp <= 3 ORDER BY n;

-- those that nothing resembles, by what is left
SELECT n FROM queries EXCEPT SELECT n FROM queries q JOIN docs d ON d.fp <~> q.fp <= 3 ORDER BY n;

-- how many resemble each
SELECT n, count(d.id) FROM queries q LEFT JOIN docs d ON d.fp <~> q.fp <= 3 GROUP BY n ORDER BY n;

-- a join of the table with itself
SELECT count(*), sum(a.id * b.id) FROM docs a JOIN docs b ON a.fp <~> b.fp <= 3 AND a.id < b.id;

-- a join of the table with itself, one side gathered
WITH gathered AS MATERIALIZED (SELECT id, fp FROM docs)
SELECT count(*), sum(a.id * b.id) FROM docs a JOIN gathered b ON a.fp <~> b.fp <= 3 AND a.id < b.id;

-- clusters
SELECT count(DISTINCT cluster), sum(cluster::numeric) FROM (SELECT simhash_cluster(fp) OVER () AS cluster FROM docs) c;

-- clusters of a tenant
SELECT tenant, count(DISTINCT cluster), sum(cluster::numeric)
FROM (SELECT tenant, simhash_cluster(fp, 5) OVER (PARTITION BY tenant) AS cluster FROM docs) c GROUP BY tenant ORDER BY tenant;

-- one document of each cluster
SELECT count(*), sum(id) FROM (
    SELECT id, fp, row_number() OVER (PARTITION BY cluster ORDER BY id) AS place
    FROM (SELECT id, fp, simhash_cluster(fp) OVER () AS cluster FROM docs) c) p
WHERE place = 1 OR fp IS NULL;

-- pairs
SELECT count(*), sum(a::numeric), sum(b::numeric), sum(distance) FROM unnest((SELECT simhash_pairs_agg(fp) FROM docs));

-- pairs of a tenant
SELECT tenant, count(*), sum(a::numeric), sum(b::numeric)
FROM (SELECT tenant, simhash_pairs_agg(fp, 5) AS pairs FROM docs GROUP BY tenant) t, unnest(t.pairs) p GROUP BY tenant ORDER BY tenant;

-- pairs by ids
SELECT count(*), sum(id * other), sum(distance) FROM simhash_pairs('SELECT id, fp FROM docs ORDER BY id', 3);

-- groups by ids
SELECT count(*), sum(id * original), sum(distance) FROM simhash_groups('SELECT id, fp FROM docs ORDER BY id', 3);

-- pairs with their documents
WITH near AS MATERIALIZED (
    SELECT * FROM unnest((SELECT simhash_pairs_agg(fp, 3) FROM docs))
), found AS MATERIALIZED (
    SELECT id, fp FROM docs WHERE fp IN (SELECT a FROM near UNION SELECT b FROM near)
)
SELECT count(*), sum(x.id * y.id) FROM near JOIN found x ON x.fp = near.a JOIN found y ON y.fp = near.b;

-- pairs by buckets
SELECT count(*), sum(a::numeric), sum(b::numeric)
FROM (SELECT block, bits, simhash_pairs_agg(docs.fp) AS pairs FROM docs, simhash_blocks(docs.fp) GROUP BY block, bits) g, unnest(g.pairs)
WHERE block = (SELECT min(x.block) FROM simhash_blocks(a # b) x WHERE x.bits = 0);

-- near-duplicate documents
-- shipped: WHERE (public.documents_alike(body,
SELECT count(*), sum(id) FROM docs WHERE body =~~ 'REPORT 3, the boat house of town 5 is closed until day 2, for repairs of the roof';

-- near-duplicate documents, prepared
-- shipped: WHERE (public.documents_alike(body, $1::text))
PREPARE near_document (text) AS SELECT count(*), sum(id) FROM docs WHERE body =~~ $1;
EXECUTE near_document ('REPORT 3, the boat house of town 5 is closed until day 2, for repairs of the roof');

-- documents of another similarity
-- shipped: WHERE (public.near_duplicate(body,
SELECT count(*), sum(id) FROM docs WHERE near_duplicate(body, 'The boat house of town 5 is closed until day 2 for repairs of the roof', 0.5);

-- one of several documents
-- shipped: WHERE ((body OPERATOR(public.=~~) ANY (
SELECT count(*), sum(id) FROM docs
WHERE body =~~ ANY (ARRAY['Report 3: the boat house of town 5 is closed until day 2 for repairs of the roof',
    'Report 4: the boat house of town 6 is closed until day 3 for repairs of the roof']);

-- a join with documents
SELECT n, count(*), sum(id) FROM queries q
JOIN docs d ON d.body =~~ format('Report %s: the boat house of town %s is closed until day %s for repairs of the roof', n, n + 2, n - 1)
WHERE n BETWEEN 2 AND 4 GROUP BY n ORDER BY n;

-- a document from the table
-- shipped: WHERE (public.documents_alike(body,
SELECT count(*), sum(id) FROM docs WHERE body =~~ (SELECT body FROM docs WHERE id = 1130);

-- a passage
-- shipped: WHERE (public.passage_shared(body,
SELECT count(*), sum(id) FROM docs WHERE body &~~ 'It says: the boat house of town 5 is closed until day 2 for repairs of the roof.';

-- a longer passage, and how much of it
-- shipped: WHERE (public.shares_passage(body,
SELECT words, count(*), sum(id)
FROM docs, LATERAL (SELECT sum(words) AS words FROM common_passages(body, 'Report 3: the boat house of town 5 is closed until day 2 for repairs of the roof')) p
WHERE shares_passage(body, 'Report 3: the boat house of town 5 is closed until day 2 for repairs of the roof', 17) GROUP BY words;

-- codes of documents
-- shipped: OPERATOR(public.=~~)
SELECT count(*), sum(id) FROM docs
WHERE minhash_code(body)::bit(128) =~~ minhash_code('Report 3: the boat house of town 5 is closed until day 2 for repairs of the roof');

-- groups of documents
SELECT count(*), sum(id * original), sum(similarity::numeric) FROM near_duplicate_groups('SELECT id, body FROM docs ORDER BY id');

-- pairs of documents
SELECT count(*), sum(id * other), sum(similarity::numeric) FROM near_duplicate_pairs('SELECT id, body FROM docs WHERE id % 50 = 0 ORDER BY id', 0.6);

-- new documents against old ones
SELECT id, count(*), sum(other) FROM near_duplicate_join($$VALUES (1, 'Report 3: the boat house of town 5 is closed until day 2 for repairs of the roof'),
    (2, 'Report 3: the boat house of town 7 is closed')$$, 'SELECT id, body FROM docs ORDER BY id') GROUP BY id ORDER BY id;

-- groups of documents, in an order of the query's
SELECT count(*), sum(id * original), sum(similarity::numeric) FROM near_duplicate_groups('SELECT id, body FROM docs ORDER BY tenant DESC, id', 0.7);

-- chains of documents
SELECT count(*), sum(id * original) FROM near_duplicate_groups('SELECT id, body FROM docs ORDER BY id', 0.9, true);

-- documents without an order
SELECT count(*), sum(id * other), sum(similarity::numeric) FROM near_duplicate_pairs('SELECT id, body FROM docs WHERE tenant = 3 AND id < 2500', 0.6);

-- the first documents
SELECT count(*), sum(id * original) FROM near_duplicate_groups('SELECT id, body FROM docs ORDER BY id LIMIT 700 OFFSET 100');

-- documents of which there is one of each text
SELECT count(*), sum(id * other), sum(similarity::numeric) FROM near_duplicate_pairs('SELECT min(id), body FROM docs GROUP BY body ORDER BY 1', 0.6);

-- documents of two queries as one
SELECT count(*), sum(id * original)
FROM near_duplicate_groups('SELECT id, body FROM docs WHERE tenant = 1 UNION ALL SELECT -id, lower(body) FROM docs WHERE tenant = 2 ORDER BY 1');

-- documents by the shingles of their letters
SELECT count(*), sum(id * original) FROM near_duplicate_groups('SELECT id, simhash_shingles(body, ''chars'', 5) FROM docs ORDER BY id', 0.9);

-- documents that a volatile function returns
SELECT count(*), sum(id * original) FROM near_duplicate_groups('SELECT id, body || left(random()::text, 0) FROM docs WHERE id < 1000 ORDER BY id');

-- documents by digests that shards compute
-- shipped: public.document_digest(max(body),
SET enable_partitionwise_aggregate = on;
SET cpu_operator_cost = 1;
SELECT count(*), sum(octet_length(digest))
FROM (SELECT id, document_digest(max(body), '\x00000000000000009a9999999999e93f') AS digest FROM docs GROUP BY id OFFSET 0) d;
SELECT count(*), sum(id * original), sum(similarity::numeric) FROM near_duplicate_groups('SELECT id, max(body) FROM docs GROUP BY id ORDER BY id');

-- some documents of the table against the others
SELECT count(*), sum(id * other), sum(similarity::numeric)
FROM near_duplicate_join('SELECT id, body FROM docs WHERE tenant = 3', 'SELECT id, body FROM docs WHERE tenant <> 3 ORDER BY id', 0.9);

-- pairs by passages
SELECT count(*), sum(id * other), sum(words) FROM passage_pairs('SELECT id, body FROM docs WHERE id % 50 = 0 ORDER BY id');

-- groups by passages
SELECT count(*), sum(id * original) FROM passage_groups('SELECT id, body FROM docs WHERE id % 50 = 0 ORDER BY id', 12);

-- new documents with passages of old ones
SELECT count(*), sum(id * other), sum(words)
FROM passage_join('SELECT id, body FROM docs WHERE id % 500 = 0', 'SELECT id, body FROM docs WHERE id % 50 = 7 ORDER BY id');

-- documents that others contain
SELECT count(*), sum(id * other), sum(containment::numeric)
FROM containment_pairs('SELECT id, body FROM docs WHERE id % 50 = 0 ORDER BY id', 0.7);

-- groups of codes
SELECT count(*), sum(id * original), sum(distance) FROM simhash_groups('SELECT id, minhash_code(body)::bit(128) FROM docs ORDER BY id', 18);

-- a join by ids
SELECT count(*), sum(id * other), sum(distance) FROM simhash_join('SELECT n, fp FROM queries ORDER BY n', 'SELECT id, fp FROM docs ORDER BY id', 3);

-- copies deleted
BEGIN;
DELETE FROM docs USING near_duplicate_groups('SELECT id, body FROM docs WHERE id < 500 ORDER BY id') g WHERE docs.id = g.id AND g.id <> g.original;
SELECT count(*), sum(id) FROM docs;
ROLLBACK;

-- how good fingerprints are
SELECT form, similar_pairs, similar_found FROM simhash_quality((SELECT array_agg(body ORDER BY id) FROM docs WHERE id < 1500 AND id % 300 < 10)) WHERE radius = 8;

-- a fingerprint of rows
SELECT simhash_agg(tenant::text || id) FROM docs;

-- what is changed
-- shipped: WHERE (public.hamming_within(fp,
BEGIN;
UPDATE docs SET tenant = tenant WHERE fp <~> hashint8extended(130, 7) <= 3 RETURNING id = 0;
DELETE FROM docs WHERE fp <~> hashint8extended(560, 7) <= 3;
SELECT count(*), sum(id) FROM docs;
ROLLBACK;
