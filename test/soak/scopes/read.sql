\set i random(1, 1000000)
\set tenant random(0, 1000)
SELECT count(*) FROM docs WHERE fp <~> hashint8extended(:i, 1) <= 3 AND tenant = 0;
SELECT count(*) FROM docs WHERE fp <~> hashint8extended(:i + 1, 2) <= 3 AND tenant = :i % 1000;
SELECT count(*) FROM docs WHERE fp <~> hashint8extended(:i, 1) <= 3 AND tenant IS NULL;
SELECT count(*) FROM (SELECT FROM docs WHERE tenant = :tenant ORDER BY fp <~> hashint8extended(:i, 1) LIMIT 10) d;
