-- Fingerprints, and codes of 256 bits. A code is four times as far from another as their fingerprints are.
CREATE TABLE docs (id bigint, fp bigint,
    code bit(256) GENERATED ALWAYS AS ((fp::bit(64) || (~fp)::bit(64) || fp::bit(64) || (fp # 4711)::bit(64))::bit(256)) STORED);
INSERT INTO docs SELECT i, CASE WHEN i % 10 < 7 THEN hashint8extended(i, 1) ELSE hashint8extended(i - i % 10, 1) # (1::bigint << (i % 64)::integer) END
    FROM generate_series(1, 1000000) i;
CREATE INDEX docs_id ON docs (id);
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_code ON docs USING simhash (code);
