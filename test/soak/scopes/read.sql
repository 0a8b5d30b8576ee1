\set i random(1, 1000000)
\set tenant random(0, 1000)
SELECT count(*) FROM docs WHERE fp <~> hashint8extended(:i, 1) <= 3 AND tenant = 0;
SELECT count(*) FROM docs WHERE fp <~> hashint8extended(:i + 1, 2) <= 3 AND tenant = :i % 1000;
SELECT count(*) FROM docs WHERE fp <~> hashint8extended(:i, 1) <= 3 AND tenant IS NULL;
SELECT count(*) FROM (SELECT FROM docs WHERE tenant = 0 ORDER BY fp <~> hashint8extended(:i, 1) LIMIT 10) d;
-- As the role that sees one scope: a row of another one divides by zero.
BEGIN;
SET LOCAL soak.tenant = :tenant;
SET LOCAL ROLE tenant;
SELECT 1 / bool_and(tenant = :tenant)::integer FROM docs WHERE fp <~> hashint8extended(:i + :tenant, 1) <= 3;
COMMIT;
