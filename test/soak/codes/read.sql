\set i random(1, 1000000)
SELECT count(*) FROM docs WHERE fp <~> hashint8extended(:i, 1) <= 3;
SELECT count(*) FROM (SELECT FROM docs ORDER BY fp <~> hashint8extended(:i, 1) LIMIT 10) d;
SELECT count(*) FROM docs WHERE code =~~ (SELECT code FROM docs WHERE id = :i LIMIT 1);
