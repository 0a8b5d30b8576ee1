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

CREATE FUNCTION simhash_layouts(radius integer, rows bigint,
        OUT tables integer, OUT prefix_bits integer, OUT probes double precision,
        OUT candidates double precision, OUT bytes_per_row double precision)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'simhash_layouts'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 20;
COMMENT ON FUNCTION simhash_layouts(integer, bigint) IS
    'What an index for this radius can be made of: number of tables, their shortest prefix, and estimates of probes and candidates per query and of bytes per row';
