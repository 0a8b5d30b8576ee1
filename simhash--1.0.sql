-- simhash 1.0: near-duplicate search. Sections as in src/sql and src/index.
\echo Use "CREATE EXTENSION simhash" to load this file. \quit

-- ==== Distance and ball (src/sql/distance.cpp, src/sql/ball.cpp, src/sql/planner.cpp) ====

CREATE FUNCTION hamming(bigint, bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'simhash_hamming'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming(bigint, bigint) IS
    'Hamming distance of two fingerprints: the number of differing bits, 0..64';

-- ==== Fingerprints (src/sql/fingerprint.cpp) ====

-- ==== Access method (src/index) ====

-- ==== Clusters and pairs (src/sql/clusters.cpp) ====

-- ==== Inspection (src/sql/layouts.cpp, src/index/check.cpp, src/index/info.cpp) ====
