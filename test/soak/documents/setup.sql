-- document(group, changed): 30 words, the first `changed` of them exchanged. Each group has five documents. Some documents have no feature,
-- and some are stored out of line.
CREATE FUNCTION document(of_group bigint, changed bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT string_agg(left(md5(of_group || ' ' || w || CASE WHEN w <= changed THEN ' ' || changed ELSE '' END), 6), ' ' ORDER BY w)
    FROM generate_series(1, 30) w
$$;
CREATE TABLE docs (id bigint, body text);
ALTER TABLE docs ALTER body SET STORAGE EXTERNAL;
INSERT INTO docs SELECT i, CASE WHEN i % 100 = 0 THEN '...' WHEN i % 1000 = 7 THEN repeat(document(i, 0), 300) ELSE document(i / 5, i % 5) END
    FROM generate_series(1, 200000) i;
CREATE INDEX docs_id ON docs (id);
CREATE INDEX docs_body ON docs USING simhash (body);
CREATE TABLE originals (id bigint GENERATED ALWAYS AS IDENTITY, number bigint, body text, EXCLUDE USING simhash (body WITH =~~));
CREATE INDEX ON originals (number);
