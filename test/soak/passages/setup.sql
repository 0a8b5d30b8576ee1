-- Documents of 30 to 90 words of their own, most with a piece of 15 to 22 words that a hundred others have; some without a word, some stored out of
-- line.
CREATE FUNCTION words(seed text, last bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT string_agg(left(md5(seed || ' ' || w), 6), ' ' ORDER BY w) FROM generate_series(1, last) w
$$;
CREATE FUNCTION document(i bigint, piece bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT concat_ws(' ', words('own' || i, 30 + i % 60), words('piece' || piece, 15 + i % 8))
$$;
CREATE TABLE docs (id bigint, tenant bigint, body text);
ALTER TABLE docs ALTER body SET STORAGE EXTERNAL;
INSERT INTO docs SELECT i, i % 5, CASE WHEN i % 100 = 0 THEN '...' WHEN i % 1000 = 7 THEN words('long' || i, 3000) ELSE document(i, i % 300) END
    FROM generate_series(1, 30000) i;
CREATE INDEX docs_id ON docs (id);
CREATE INDEX docs_passages ON docs USING simhash (body passage_ops);
CREATE INDEX docs_of_tenants ON docs USING simhash (body passage_ops, tenant);
CREATE TABLE originals (number bigint, body text, EXCLUDE USING simhash (body passage_ops WITH &~~));
CREATE INDEX ON originals (number);
