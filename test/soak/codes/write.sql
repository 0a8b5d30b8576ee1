\set i random(1, 1000000)
INSERT INTO docs SELECT 1000000 + :i + j, hashint8extended(:i + j, 2) FROM generate_series(1, 10) j;
UPDATE docs SET fp = fp # 6 WHERE id = :i;
UPDATE docs SET id = id WHERE id = :i + 1;
DELETE FROM docs WHERE id BETWEEN :i + 2 AND :i + 10;
