-- A type joins in by SQL alone (CONTRIBUTING.md, "Add a type"): codes of 32 bytes, whose class for scopes is there already.
SET jit = off;
CREATE FUNCTION bytea_lanes(code bytea) RETURNS bigint[] LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT CASE WHEN length(code) > 0 THEN
        (SELECT array_agg(('x' || encode(substr(code, 8 * i + 1, 8), 'hex'))::bit(64)::bigint ORDER BY i) FROM generate_series(0, 3) i) ELSE '{}' END
$$;
CREATE FUNCTION bytea_lane_layout(type_modifier integer) RETURNS integer[] LANGUAGE sql IMMUTABLE AS 'SELECT ARRAY[4, 31]';
CREATE FUNCTION bytea_distance(a bytea, b bytea) RETURNS integer LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN RETURN (SELECT sum(hamming(x, y)) FROM unnest(bytea_lanes(a), bytea_lanes(b)) l (x, y)); END $$;
CREATE FUNCTION bytea_near(a bytea, b bytea) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN RETURN bytea_distance(a, b) <= 31; END $$;
-- The lanes one after another, as a ball has them.
CREATE FUNCTION bits(code bytea) RETURNS bit varying LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT string_agg(lane::bit(64)::text, '' ORDER BY i)::bit varying FROM unnest(bytea_lanes(code)) WITH ORDINALITY l (lane, i)
$$;
CREATE FUNCTION bytea_in_ball(code bytea, ball bit_ball) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN RETURN bits(code)::bit(256) <@ ball; END $$;
CREATE OPERATOR <@ (LEFTARG = bytea, RIGHTARG = bit_ball, FUNCTION = bytea_in_ball, RESTRICT = hamming_restrict, JOIN = hamming_join);
CREATE OPERATOR <~~> (LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = bytea_distance, COMMUTATOR = <~~>);
CREATE OPERATOR =~~ (LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = bytea_near, COMMUTATOR = =~~, RESTRICT = hamming_restrict, JOIN = hamming_join);
ALTER OPERATOR FAMILY bytea_scope_ops USING simhash ADD
    OPERATOR 1 <@ (bytea, bit_ball),
    OPERATOR 4 <~~> (bytea, bytea) FOR ORDER BY pg_catalog.integer_ops,
    OPERATOR 5 =~~ (bytea, bytea),
    FUNCTION 2 (bytea, bytea) bytea_lanes (bytea),
    FUNCTION 3 (bytea, bytea) bytea_lane_layout (integer);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'bytea_scope_ops';

CREATE TABLE codes (id integer, code bytea);
INSERT INTO codes SELECT i, sha256(i::text::bytea) FROM generate_series(1, 600) i;
INSERT INTO codes SELECT 600 + i, set_byte(set_bit(sha256(i::text::bytea), i % 256, i % 2), i % 32, i % 256) FROM generate_series(1, 60) i;
INSERT INTO codes VALUES (0, NULL), (-1, ''), (-2, '');
CREATE INDEX codes_code ON codes USING simhash (code);
CREATE INDEX codes_scope ON codes USING simhash ((hashint8extended(id, 1)), code);
SELECT * FROM simhash_index_check('codes_code', true) first_column, simhash_index_check('codes_scope', true) scope;
CREATE FUNCTION answers() RETURNS TABLE (near bigint, within bigint, nearest bigint) LANGUAGE sql AS $$
    SELECT (SELECT sum(q.id * c.id) FROM codes q JOIN codes c ON c.code =~~ q.code WHERE q.id IN (0, -1, 7, 660)),
           (SELECT sum(q.id * c.id) FROM codes q JOIN codes c ON c.code <@ bit_ball(bits(q.code), 4) WHERE q.id BETWEEN 1 AND 5),
           (SELECT sum(q.id * n.id) FROM codes q, LATERAL (SELECT id FROM codes ORDER BY code <~~> q.code LIMIT 2) n WHERE q.id BETWEEN 1 AND 5)
$$;
SET enable_seqscan = off;
SELECT * FROM answers();
EXPLAIN (COSTS OFF) SELECT id FROM codes WHERE code =~~ sha256('7');
EXPLAIN (COSTS OFF) SELECT id FROM codes ORDER BY code <~~> sha256('7') LIMIT 2;
RESET enable_seqscan;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT * FROM answers();
DROP TABLE codes;
DROP FUNCTION answers;
ALTER OPERATOR FAMILY bytea_scope_ops USING simhash DROP
    OPERATOR 1 (bytea, bit_ball), OPERATOR 4 (bytea, bytea), OPERATOR 5 (bytea, bytea), FUNCTION 2 (bytea, bytea), FUNCTION 3 (bytea, bytea);
DROP OPERATOR <@ (bytea, bit_ball);
DROP OPERATOR <~~> (bytea, bytea);
DROP OPERATOR =~~ (bytea, bytea);
DROP FUNCTION bytea_lanes, bytea_lane_layout, bytea_distance, bytea_near, bits(bytea), bytea_in_ball;
