#!/usr/bin/env bash
# Throughput of simhash() and minhash() beside md5() and others inside the server, on the same documents in the same run:
#
#   test/bench/fingerprint.sh [PG_CONFIG]
#
# Builds simhash for that server, without installing it, and measures in a throwaway cluster on a socket of
# its own: one client, no parallel workers, documents of about 4 kB cut from /usr/share/doc (plain text, not
# compressed), the best of seven rounds, by processor time. Called as root it drops to the user postgres.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
cd "$root"
pg_config=${1:-pg_config}
# shellcheck source=test/bench/throwaway.sh
. test/bench/throwaway.sh

find /usr/share/doc -type f -name '*.html' -size +3k -print0 2>/dev/null | sort -z | head -zn 3000 | xargs -0 cat -- /usr/share/common-licenses/* |
    iconv -c -f UTF-8 -t UTF-8 | tr -d '\000' | head -c 20000000 >"$work/text" || true # head stops the others

start_bench_server fsync=off shared_buffers=512MB jit=off
psql <<SQL
CREATE TABLE document (body text);
ALTER TABLE document ALTER body SET STORAGE EXTERNAL;
-- In two steps: to find a character, PostgreSQL reads all characters before it.
WITH piece AS MATERIALIZED (
    SELECT i, substr(t, 1 + i * 400000, 400000) AS t
    FROM (SELECT pg_read_file('$work/text') AS t) AS file, generate_series(0, length(t) / 400000 - 1) i)
INSERT INTO document SELECT substr(t, 1 + j * 4000, 4000) FROM piece, generate_series(0, 99) j ORDER BY i, j;
VACUUM ANALYZE document;
SET max_parallel_workers_per_gather = 0;
SELECT count(*) || ' documents, ' || sum(octet_length(body)) / 1000000 || ' MB' FROM document;
-- Processor time of this backend, in seconds: what else the machine does has little part in it.
CREATE FUNCTION processor_time() RETURNS float8 LANGUAGE sql VOLATILE AS
    \$\$ SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1e9 \$\$;
-- Round after round, so that what it has falls on all alike.
CREATE FUNCTION rates(expressions text[]) RETURNS TABLE (expression text, rate numeric) LANGUAGE plpgsql AS \$\$
DECLARE
    began float8; best float8[] := array_fill(1e9::float8, ARRAY[cardinality(expressions)]); bytes float8;
BEGIN
    SELECT sum(octet_length(body)) INTO bytes FROM document;
    FOR round IN 1..7 LOOP
        FOR i IN 1..cardinality(expressions) LOOP
            began := processor_time();
            EXECUTE format('SELECT count(%s) FROM document', expressions[i]);
            best[i] := least(best[i], processor_time() - began);
        END LOOP;
    END LOOP;
    RETURN QUERY SELECT e, round((bytes / b / 1e6)::numeric, 0) FROM unnest(expressions, best) AS v(e, b);
END \$\$;
SELECT rpad(expression, 52) || lpad(rate::text, 6) || ' MB/s' || lpad(round(rate / first_value(rate) OVER (ROWS UNBOUNDED PRECEDING), 2)::text, 6) || ' of md5()'
FROM rates(ARRAY['md5(body)', 'lower(body)', 'simhash(body)', 'simhash(body, ''words'', 1, ''tf'')',
                 'simhash(body, ''words'', 1, ''log'')', 'simhash(body, ''words'', 3, ''tf'')', 'simhash(body, ''words'', 4, ''tf'')',
                 'simhash(body, ''chars'', 3, ''tf'')', 'simhash(body, ''chars'', 4, ''tf'')',
                 'minhash(body)', 'minhash(body, ''words'', 1)', 'minhash(body, ''chars'')']);
SELECT 'large documents of 100 MB, simhash(), seconds:';
CREATE FUNCTION seconds(body text) RETURNS numeric LANGUAGE plpgsql AS \$\$
DECLARE
    began timestamptz := clock_timestamp();
BEGIN
    PERFORM simhash(body);
    RETURN round(extract(epoch FROM clock_timestamp() - began)::numeric, 2);
END \$\$;
SELECT '  one endless word    ' || seconds(repeat('a', 100000000));
SELECT '  all the same word   ' || seconds(repeat('same ', 20000000));
SELECT '  all distinct words  ' || seconds(string_agg(i::text, ' ')) FROM generate_series(1, 11000000) i;
SELECT '  combining marks     ' || seconds(repeat(U&'\\094D\\093C', 25000000));
SELECT '  Chinese             ' || seconds(repeat('人人生而自由,在尊严和权利上一律平等。', 2000000));
SQL
