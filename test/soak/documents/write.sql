\set i random(1, 200000)
INSERT INTO docs SELECT 200000 + :i + j, document((:i + j) / 5, 4 - j) FROM generate_series(1, 4) j;
UPDATE docs SET body = document(:i / 5, 3) WHERE id = :i;
UPDATE docs SET id = id WHERE id = :i + 1;
DELETE FROM docs WHERE id BETWEEN :i + 2 AND :i + 6;
INSERT INTO originals (number, body) VALUES (:i, document(:i / 5, :i % 5)) ON CONFLICT DO NOTHING;
DELETE FROM originals WHERE number = :i + 1;
