-- What a user may name or call with other types, other rights or other contents than it was written for.

-- The estimators, for operators of any types.
CREATE TABLE guarded AS SELECT i AS id, ('x' || md5(i::text))::bit(64)::bigint AS fp FROM generate_series(1, 2000) i;
ANALYZE guarded;
CREATE FUNCTION of_integer(bigint, integer) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1 = $2; END';
CREATE FUNCTION of_bytea(bytea, bigint) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN false; END';
CREATE FUNCTION of_text(text, text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN false; END';
CREATE FUNCTION of_one(text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN false; END';
CREATE OPERATOR %%% (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = of_integer, RESTRICT = hamming_restrict, JOIN = hamming_join);
CREATE OPERATOR %%% (LEFTARG = bytea, RIGHTARG = bigint, FUNCTION = of_bytea, RESTRICT = hamming_restrict, JOIN = hamming_join);
CREATE OPERATOR %%% (LEFTARG = text, RIGHTARG = text, FUNCTION = of_text, RESTRICT = hamming_restrict, JOIN = hamming_join);
CREATE OPERATOR %%% (RIGHTARG = text, FUNCTION = of_one, RESTRICT = hamming_restrict);
CREATE DOMAIN small_ball AS hamming_ball;
EXPLAIN (COSTS OFF) SELECT * FROM guarded WHERE fp %%% 5;
EXPLAIN (COSTS OFF) SELECT * FROM guarded WHERE '\x01'::bytea %%% fp;
EXPLAIN (COSTS OFF) SELECT * FROM guarded WHERE fp::text %%% 'a';
EXPLAIN (COSTS OFF) SELECT * FROM guarded WHERE %%% fp::text;
EXPLAIN (COSTS OFF) SELECT * FROM guarded a JOIN guarded b ON a.fp %%% b.id;
EXPLAIN (COSTS OFF) SELECT * FROM guarded WHERE fp <@ '(5,3)'::hamming_ball::small_ball;
DROP OPERATOR %%% (bigint, integer);
DROP OPERATOR %%% (bytea, bigint);
DROP OPERATOR %%% (text, text);
DROP OPERATOR %%% (NONE, text);
DROP DOMAIN small_ball;

-- What takes or gives internal values cannot be called.
SELECT p.proname FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'simhash'
WHERE 'internal'::regtype = ANY (p.proargtypes) OR p.prorettype = 'internal'::regtype ORDER BY p.oid::regprocedure::text COLLATE "C";
CREATE FUNCTION refused(statement text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN false;
EXCEPTION WHEN undefined_function OR feature_not_supported THEN RETURN true;
END $$;
SELECT statement, refused(statement)
FROM unnest(ARRAY['SELECT hamming_support(NULL)', 'SELECT simhash_agg_deserialize(''\x00'', NULL)', 'SELECT simhash_agg_final(NULL)',
    'SELECT minhash_agg_deserialize(''\x00'', NULL)', 'SELECT minhash_agg_final(NULL)', 'SELECT hamming_ball_recv(NULL)',
    'SELECT simhash_handler(NULL)']) statement;

-- A role needs the right to call hamming, and no other, for a condition on <~>; the index is used where it may call what is written
-- for the condition, too.
CREATE FUNCTION by_index(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ 'Index Cond: ' THEN RETURN true; END IF;
    END LOOP;
    RETURN false;
END $$;
CREATE INDEX guarded_fp ON guarded USING simhash (fp);
CREATE ROLE regress_simhash_caller;
GRANT SELECT ON guarded TO regress_simhash_caller;
SET enable_bitmapscan = off;
SET enable_seqscan = off;
PREPARE near AS SELECT count(*) FROM guarded WHERE fp <~> 42 <= 20;
SELECT by_index('EXECUTE near');
EXECUTE near;
REVOKE EXECUTE ON FUNCTION hamming(bigint, bigint), hamming_within(bigint, bigint, bigint),
    hamming_radius_below, hamming_radius, hamming_ball(bigint, bigint), hamming_ball_contained FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hamming(bigint, bigint) TO regress_simhash_caller;
PREPARE far AS SELECT count(*) FROM guarded WHERE fp <~> 42 > 20;
EXECUTE far;
CREATE TABLE unindexed AS SELECT fp FROM guarded;
GRANT SELECT ON unindexed TO regress_simhash_caller;
PREPARE scan AS SELECT count(*) FROM unindexed WHERE fp <~> 42 <= 20;
EXECUTE scan;
SET ROLE regress_simhash_caller;
EXECUTE far;
EXECUTE near; -- planned for another role
EXECUTE scan; -- this one, too
SELECT condition, by_index('SELECT FROM guarded WHERE ' || condition)
FROM unnest(ARRAY['fp <~> 42 <= 3', 'fp <~> 42 < 4', 'fp <~> 42 = 2', 'fp <~> 42 > 3', 'fp <~> 42 <= 3.5', 'fp <~> 42 IN (1, 2)']) condition;
SELECT count(*) FROM guarded WHERE fp <~> 42 < 21 AND fp <~> 42 <> 64 AND fp <~> 42 IN (18, 19, 20) OR fp <~> 42 < 17.5;
RESET ROLE;
GRANT EXECUTE ON FUNCTION hamming_within(bigint, bigint, bigint) TO regress_simhash_caller;
SET ROLE regress_simhash_caller;
SELECT by_index('SELECT FROM guarded WHERE fp <~> 42 <= 3');
EXECUTE near;
RESET ROLE;
GRANT EXECUTE ON FUNCTION hamming_ball(bigint, bigint), hamming_ball_contained TO regress_simhash_caller;
SET ROLE regress_simhash_caller;
SELECT by_index('SELECT FROM guarded WHERE fp <~> 42 <= 3');
EXECUTE near;
RESET ROLE;
REVOKE EXECUTE ON FUNCTION hamming(bigint, bigint) FROM regress_simhash_caller;
SET ROLE regress_simhash_caller;
SELECT count(*) FROM guarded WHERE fp <~> 42 <= 3;
RESET ROLE;
GRANT EXECUTE ON FUNCTION hamming(bigint, bigint), hamming_within(bigint, bigint, bigint),
    hamming_radius_below, hamming_radius, hamming_ball(bigint, bigint), hamming_ball_contained TO PUBLIC;
DROP TABLE guarded, unindexed;
DROP OWNED BY regress_simhash_caller;
DROP ROLE regress_simhash_caller;
DROP FUNCTION of_integer, of_bytea, of_text, of_one, by_index, refused;
