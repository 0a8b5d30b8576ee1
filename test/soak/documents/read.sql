\set i random(1, 200000)
SELECT count(*) FROM docs WHERE body =~~ document(:i / 5, 0);
SELECT count(*) FROM docs WHERE near_duplicate(body, document(:i / 5, 4), 0.5);
SELECT count(*) FROM originals WHERE body =~~ document(:i / 5, 0);
