-- The type hamming_ball: all fingerprints within a radius of a center.

-- Text form, there and back.
SELECT '(42,3)'::hamming_ball, ' ( -9223372036854775808 , 64 ) '::hamming_ball, hamming_ball(-1, 0),
       hamming_ball(center => 7, radius => 3::smallint);
SELECT ball::text::hamming_ball::text = ball::text AS same
FROM (SELECT hamming_ball(center, radius) FROM unnest(ARRAY[0, -1, 9223372036854775807]) center,
             unnest(ARRAY[-1, 0, 3, 64, 65, 2147483647]) radius) v(ball) GROUP BY 1;

-- A radius beyond integer becomes the nearest integer: it means the same.
SELECT hamming_ball(1, 5000000000), hamming_ball(1, -5000000000), '(1,5000000000)'::hamming_ball;

-- Binary form, there and back.
CREATE TEMP TABLE balls (ball hamming_ball);
INSERT INTO balls VALUES ('(42,3)'), ('(-9223372036854775808,-1)'), (NULL);
SELECT ball, hamming_ball_send(ball) FROM balls;

-- Bad text is refused with its own SQLSTATE.
\set VERBOSITY sqlstate
SELECT ''::hamming_ball;
SELECT '42,3'::hamming_ball;
SELECT '(42)'::hamming_ball;
SELECT '(42,3'::hamming_ball;
SELECT '(42,3) x'::hamming_ball;
SELECT '(,3)'::hamming_ball;
SELECT '(42,three)'::hamming_ball;
SELECT '(42,3,1)'::hamming_ball;
SELECT '(9223372036854775808,3)'::hamming_ball;
SELECT '(1,9223372036854775808)'::hamming_ball;
\set VERBOSITY default
SELECT '(42;3)'::hamming_ball;
SELECT '(99999999999999999999,3)'::hamming_ball;

-- Membership is the distance's: <@ and @> agree with hamming_within for every radius.
SELECT count(*) AS compared, count(*) FILTER (WHERE (fp <@ hamming_ball(q, radius)) <> hamming_within(fp, q, radius)
                                              OR (hamming_ball(q, radius) @> fp) <> hamming_within(fp, q, radius)) AS wrong
FROM unnest(ARRAY[0, 1, 7, -1, 9223372036854775807, -9223372036854775808, 1234567890123456789]) fp,
     unnest(ARRAY[0, -1, 255, 987654321987654321]) q,
     unnest(ARRAY[-9223372036854775808, -2147483649, -1] || ARRAY(SELECT generate_series(0::bigint, 66)) ||
            ARRAY[2147483647, 5000000000, 9223372036854775807]) radius;

SELECT 1::bigint <@ NULL::hamming_ball AS null_ball, NULL::bigint <@ '(1,3)'::hamming_ball AS null_fingerprint,
       hamming_ball(NULL, 3) AS null_center, hamming_ball(1, NULL) AS null_radius;

-- In a table.
SELECT b.ball, fp FROM balls b, unnest(ARRAY[42::bigint, 43, 0]) fp WHERE fp <@ b.ball OR b.ball @> fp ORDER BY fp;
