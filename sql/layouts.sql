-- simhash_layouts: the published prefix lengths, sizes that fall and rise as they should, bad arguments.
SELECT * FROM simhash_layouts(3, 10000000) WHERE tables <= 20;
SELECT * FROM simhash_layouts(0, 1000000);
SELECT tables, prefix_bits, probes FROM simhash_layouts(1, 0);
-- Where each table is probed once, more tables take more space and leave fewer candidates.
SELECT bool_and(bytes_per_row > before_bytes) AS more_space,
       bool_and(prefix_bits > before_prefix) AS longer_prefixes,
       bool_and(candidates <= before_candidates) AS fewer_candidates
FROM (SELECT *, lag(bytes_per_row) OVER w AS before_bytes, lag(prefix_bits) OVER w AS before_prefix,
             lag(candidates) OVER w AS before_candidates
      FROM simhash_layouts(3, 10000000) WHERE tables BETWEEN 4 AND 20
      WINDOW w AS (ORDER BY tables)) l;
SELECT count(*) > 0 AS has_rows FROM generate_series(0, 63, 9) r, simhash_layouts(r, 1000);
SELECT count(*) FROM simhash_layouts(NULL, 1000);
SELECT * FROM simhash_layouts(-1, 1000);
SELECT * FROM simhash_layouts(64, 1000);
SELECT * FROM simhash_layouts(3, -1);
