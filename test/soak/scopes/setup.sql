-- Scopes of very unequal size: one with a quarter of the rows, a hundred with 2 500 each, many with ten; and rows without one.
CREATE TABLE docs (id bigint, tenant bigint, fp bigint);
INSERT INTO docs SELECT i, CASE i % 4 WHEN 0 THEN 0 WHEN 1 THEN i / 4 % 100 WHEN 2 THEN i / 40 END,
    CASE WHEN i % 40 < 28 THEN hashint8extended(i, 1) ELSE hashint8extended(i - i % 40, 1) # (1::bigint << (i % 64)::integer) END
    FROM generate_series(1, 1000000) i;
CREATE INDEX docs_id ON docs (id);
CREATE INDEX docs_fp ON docs USING simhash (fp, tenant);
-- A role that a policy shows one scope of.
CREATE ROLE tenant;
GRANT SELECT ON docs TO tenant;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON docs FOR SELECT TO tenant USING (tenant = current_setting('soak.tenant')::bigint);
