\set i random(1, 30000)
\set piece random(0, 299)
INSERT INTO docs SELECT 30000 + :i + j, j, document(:i + j, :piece) FROM generate_series(1, 4) j;
UPDATE docs SET body = words('piece' || :piece, 18) || ' ' || body WHERE id = :i;
UPDATE docs SET tenant = tenant + 1 WHERE id = :i + 1;
DELETE FROM docs WHERE id BETWEEN :i + 2 AND :i + 6;
INSERT INTO originals VALUES (:i, document(:i, :piece)) ON CONFLICT DO NOTHING;
DELETE FROM originals WHERE number = :i + 1;
BEGIN;
INSERT INTO docs SELECT 70000 + j, j, document(:i + j, :piece) FROM generate_series(1, 4) j;
ROLLBACK;
