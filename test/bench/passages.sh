#!/usr/bin/env bash
# Passages among many documents by an index with passage_ops, beside GIN on the same hashes and pg_trgm's <%, which asks something else:
#
#   test/bench/passages.sh PG_CONFIG DOCUMENTS [trgm | lengths]
#
# Builds simhash for that server, without installing it, and measures in a throwaway cluster on a socket of its own: one session, no
# parallel workers, each query planned and timed by itself. Queries are runs of 30 words of a document, and texts of 5 kB, of five
# documents; for each the rows found are counted and the median time is given. Then 1 000 documents of 5 kB are inserted one by one,
# after a checkpoint. pg_trgm's index, which takes long, is made where it is named; with lengths, instead of the others, indexes for
# passages of 8 to 32 words, searched by runs of 40. Called as root it drops to the user postgres.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
cd "$root"
pg_config=$1
documents=$2
shift 2
# shellcheck source=test/bench/throwaway.sh
. test/bench/throwaway.sh

start_document_server "$documents" fsync=off shared_buffers=2GB max_wal_size=8GB maintenance_work_mem=1GB
psql <<SQL
CREATE EXTENSION IF NOT EXISTS pg_trgm;
-- Five documents that have nothing to do with each other, and that are not in the table.
CREATE TABLE long AS SELECT i, (SELECT string_agg(reverse(body), ' ') FROM document WHERE id BETWEEN i * 50 + 1 AND i * 50 + 5) AS body
    FROM generate_series(0, $documents / 50 - 1) i;
VACUUM ANALYZE long;
-- The median of so many queries in milliseconds, without the first tenth, and the rows that all of them found.
CREATE FUNCTION measure(condition text, words integer, documents integer, queries integer) RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
    begun timestamptz; asked text; found bigint; rows bigint := 0; times float8[] := '{}';
BEGIN
    FOR i IN 0 .. queries + queries / 10 - 1 LOOP
        SELECT string_agg(array_to_string((string_to_array(body, ' '))[1 : words], ' '), ' ') INTO asked
        FROM document WHERE id IN (SELECT 1 + (i * 7919 + j * 104729) % $documents FROM generate_series(1, documents) j);
        begun := clock_timestamp();
        EXECUTE 'SELECT count(*) FROM document WHERE ' || condition INTO found USING asked;
        IF i >= queries / 10 THEN
            times := times || 1000 * extract(epoch FROM clock_timestamp() - begun)::float8;
            rows := rows + found;
        END IF;
    END LOOP;
    RETURN (SELECT format('%s ms | %s', round((percentile_cont(.5) WITHIN GROUP (ORDER BY t))::numeric, 2), rows) FROM unnest(times) t);
END \$\$;
-- Processor time of this session so far, in seconds: the clock also counts what else the machine does.
CREATE FUNCTION processor_time() RETURNS numeric LANGUAGE sql VOLATILE AS \$\$
    SELECT (spent[14]::numeric + spent[15]::numeric) / 100 FROM string_to_array(pg_read_file('/proc/self/stat'), ' ') spent
\$\$;
-- Milliseconds of the processor and kilobytes of WAL for a row of 5 kB.
CREATE FUNCTION insert_rows(cleanup text) RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
    begun numeric := processor_time(); wal pg_lsn; n integer := 0; body text;
BEGIN
    wal := pg_current_wal_insert_lsn();
    FOR body IN SELECT l.body FROM long l LIMIT 1000 LOOP
        INSERT INTO document (body) VALUES (body);
        n := n + 1;
    END LOOP;
    EXECUTE cleanup;
    RETURN format('%s ms | %s kB', round(1000 * (processor_time() - begun) / n, 2), round((pg_current_wal_insert_lsn() - wal) / n / 1000, 1));
END \$\$;
CREATE PROCEDURE method(name text, condition text, index text, queries integer, words integer) LANGUAGE plpgsql AS \$\$
DECLARE
    begun numeric := processor_time(); built numeric; searched text;
BEGIN
    SET max_parallel_maintenance_workers = 0;
    SET max_parallel_workers_per_gather = 0;
    SET enable_seqscan = off;
    SET jit = off;
    EXECUTE 'CREATE INDEX measured ON document USING ' || index;
    built := processor_time() - begun;
    ANALYZE document;
    searched := measure(condition, words, 1, queries) || ' | ' || measure(condition, 1000, 5, queries);
    RAISE INFO '| % | % s | % MB | % | ', name, round(built, 2), round(pg_relation_size('measured') / 1e6, 1), searched;
END \$\$;
SQL
text=$(psql -c "SELECT sum(octet_length(body)) / 1000000 FROM document")
echo "$documents documents, $text MB of text:"
words=$([ "${1:-}" = lengths ] && echo 40 || echo 30)
printf "\\n| index | build | size | $words words, median | rows | 5 kB, median | rows | insert 5 kB | WAL |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\\n"
method() { # NAME CONDITION INDEX QUERIES CLEANUP
    local row
    row=$(psql -c "CALL method(\$m\$$1\$m\$, \$m\$$2\$m\$, \$m\$$3\$m\$, $4, $words)" 2>&1 | sed -n 's/^INFO:  //p')
    psql -c CHECKPOINT
    echo "$row$(psql -c "SELECT insert_rows(\$m\$$5\$m\$)") |"
    psql -c "DROP INDEX measured" -c "DELETE FROM document WHERE id > $documents" -c "VACUUM document"
}
# shellcheck disable=SC2016,SC2059 # $1 is the query's parameter
if [ "${1:-}" = lengths ]; then
    for length in 8 10 13 16 32; do
        method "\`passage_ops (words = $length)\`" "shares_passage(body, \$1, $length)" "simhash (body passage_ops (words = $length))" 500 'SELECT'
    done
else
    method '`simhash (body passage_ops)`, `body &~~ $1`' 'body &~~ $1' 'simhash (body passage_ops)' 500 'SELECT'
    method '`gin (passage_hashes(body))`, `&&` and `&~~`' 'passage_hashes(body) && passage_hashes($1) AND body &~~ $1' \
        'gin (passage_hashes(body))' 500 "SELECT gin_clean_pending_list('measured')"
    if [ "${1:-}" = trgm ]; then
        method '`gin (body gin_trgm_ops)`, `$1 <% body`' '$1 <% body' 'gin (body gin_trgm_ops)' 10 "SELECT gin_clean_pending_list('measured')"
    fi
    echo
    echo "Without an index: $(psql -c "SET enable_indexscan = off; SET max_parallel_workers_per_gather = 0" -c "SELECT measure('body &~~ \$1', 30, 1, 3)") rows"
fi
