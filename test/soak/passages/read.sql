\set i random(1, 30000)
\set piece random(0, 299)
SELECT count(*) FROM docs WHERE body &~~ words('piece' || :piece, 17);
SELECT count(*) FROM docs WHERE shares_passage(body, document(:i, :piece), 30);
SELECT count(*) FROM docs WHERE body &~~ words('piece' || :piece, 20) AND tenant = 2;
SELECT count(*) FROM originals WHERE body &~~ document(:i, :piece);
