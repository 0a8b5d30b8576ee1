-- Distance of two fingerprints and the predicates made of it. None of them ever raises an error.

SELECT a, b, a <~> b AS distance, hamming(a, b)
FROM (VALUES (0::bigint, 0::bigint), (0, 1), (0, -1), (5, 6), (-1, -2),
             (9223372036854775807, -9223372036854775808), (-9223372036854775808, 0),
             (6148914691236517205, -6148914691236517206)) v(a, b);

-- Against the definition: the number of ones in a # b.
SELECT count(*) AS pairs, count(*) FILTER (WHERE a <~> b <> bit_count((a # b)::bit(64))) AS wrong,
       min(a <~> b) >= 0 AND max(a <~> b) <= 64 AS in_range
FROM (SELECT ('x' || left(md5(i::text), 16))::bit(64)::bigint AS a,
             ('x' || left(md5((i % 97)::text), 16))::bit(64)::bigint AS b
      FROM generate_series(1, 10000) i) v;

-- The distance is a plain integer.
SELECT pg_typeof(1::bigint <~> 2::bigint), pg_typeof(hamming(1, 2));

-- Any integer type and NULL.
SELECT 1::smallint <~> 2::int AS smaller_types, NULL::bigint <~> 1 AS null_left, 1 <~> NULL::bigint AS null_right,
       hamming(NULL, NULL::bigint) AS null_both;

-- hamming_within: a radius below 0 holds nothing, one from 64 on everything, however large.
SELECT radius, hamming_within(0, 7, radius) AS distance_3, hamming_within(5, 5, radius) AS distance_0,
       hamming_within(0, -1, radius) AS distance_64
FROM unnest(ARRAY[-9223372036854775808, -5000000000, -1, 0, 2, 3, 63, 64, 65, 5000000000, 9223372036854775807]) radius;
SELECT hamming_within(0, 7, 3::smallint), hamming_within(0, 7, 3), hamming_within(0, 7, 3::bigint),
       hamming_within(0, 7, '3'), hamming_within(fp => 0, query => 7, radius => 2),
       hamming_within(0, 7, NULL) AS null_radius;

-- The radii of limits, by which the planner searches for < and for limits of numeric.
SELECT "limit", hamming_radius_below("limit") AS below FROM unnest(ARRAY[-9223372036854775808, -1, 0, 1, 64, 9223372036854775807]) "limit";
SELECT "limit", hamming_radius("limit", false) AS up_to, hamming_radius("limit", true) AS below
FROM unnest(ARRAY['-Infinity', -0.5, 0, 0.5, 64.5, 100, 1e6, 1e12, 'NaN']::numeric[]) "limit";

-- ~= is a distance of at most 3, both ways round.
SELECT fp, fp ~= 0 AS near, 0 ~= fp AS commuted FROM unnest(ARRAY[0::bigint, 1, 7, 15, -1, NULL]) fp;

-- What the planner relies on: marked so that row-level security and parallel plans do not keep the index away.
SELECT oid::regprocedure AS function, provolatile, proisstrict, proleakproof, proparallel, prosupport
FROM pg_proc WHERE proname LIKE 'hamming%' AND prorettype IN ('boolean'::regtype, 'integer'::regtype, 'bigint'::regtype)
ORDER BY oid::regprocedure::text COLLATE "C";

SELECT o.oid::regoperator AS operator, oprcom::regoperator AS commutator, oprrest, oprjoin, proname
FROM pg_operator o JOIN pg_proc p ON p.oid = oprcode WHERE proname LIKE 'hamming%' ORDER BY o.oid::regoperator::text COLLATE "C";

-- Every object says what it is.
SELECT pg_describe_object(classid, objid, objsubid) AS without_comment
FROM pg_depend d
WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
  AND deptype = 'e' AND pg_describe_object(classid, objid, objsubid) ~ 'hamming(?!_ball\[\])|<~>|~=|<@|@>'
  AND classid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass)
  AND NOT EXISTS (SELECT FROM pg_description c WHERE c.classoid = d.classid AND c.objoid = d.objid);
