#!/usr/bin/env bash
# Finds near-duplicates among the text files of a folder, in a throwaway PostgreSQL server.
#
#   scripts/demo.sh            the licence texts in /usr/share/doc
#   scripts/demo.sh FOLDER     every text file below FOLDER
#
# Installs missing packages and the extension, which stay installed. Everything else is removed at the end.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

usage() {
    say "usage: $0 [FOLDER]"
    exit 2
}
[ $# -le 1 ] || usage
case "${1:-}" in -*) usage ;; esac

# ---- the documents ----

folder=${1:-}
if [ $# = 1 ]; then
    [ -d "$folder" ] || { say "$0: there is no folder \"$folder\""; exit 2; }
    if [ ! -r "$folder" ] || [ ! -x "$folder" ]; then
        say "$0: folder \"$folder\" cannot be read"
        exit 2
    fi
fi

# The names of the files, each ended by NUL. A folder that find cannot read, or a loop of links, is reported later and is no reason
# to stop.
list_files() {
    if [ -n "$folder" ]; then
        find -L "$folder" -type f -print0
    else
        find -L /usr/share/doc -mindepth 2 -maxdepth 2 -name copyright -type f -print0
    fi 2>"$workspace/find.log" | LC_ALL=C sort -z || true
}
some_file() { [ -n "$(list_files | head -c 1 | tr '\0' '.' || true)" ]; }

say_postgresql
start_workspace demo
if [ -z "$folder" ] && ! some_file; then
    folder=$root/test/data/demo
    say "/usr/share/doc has no licence texts; using the documents in $folder."
fi
some_file || { say "\"$folder\" has no file."; exit 0; }

# ---- set-up ----

install_missing
find_pg_config
say "Building"
copy_sources "$workspace/source"
quiet_make "$workspace/source" all || die "the build failed"
install_extension "$workspace/source"
start_server demo

run_psql -c "CREATE EXTENSION simhash" \
    -c "CREATE TABLE docs (
            id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text NOT NULL,
            body text NOT NULL,
            fp   bigint GENERATED ALWAYS AS (minhash(body)) STORED)" \
    -c "CREATE INDEX docs_fp ON docs USING simhash (fp)"
say "Loading"
list_files | perl "$root/scripts/documents.pl" | run_psql -c "COPY docs (name, body) FROM STDIN"
[ ! -s "$workspace/find.log" ] || say "  left out: $(head -n 1 "$workspace/find.log")"
run_psql -c "VACUUM ANALYZE docs"
if [ "$(run_psql -At -c "SELECT count(*) FROM docs")" = 0 ]; then
    say "\"$folder\" has no text file."
    exit 0
fi

# ---- what it shows ----

heading() { printf '\n== %s\n\n' "$*"; }

heading "Documents"
run_psql -c "
    SELECT count(*) AS documents, pg_size_pretty(sum(octet_length(body))) AS text,
           count(fp) AS with_fingerprint, count(DISTINCT fp) AS distinct_fingerprints,
           pg_size_pretty(pg_relation_size('docs_fp')) AS index_size
    FROM docs"

heading "Groups of near-duplicates: chains of documents within 8 bits of each other, the most varied first"
run_psql -At -c "
    -- A line for each fingerprint: its distance from the group's first, a document, and how many more have the same.
    CREATE TABLE groups AS
        SELECT sum(documents) AS documents,
               array_agg(fp <~> cluster || '  ' || name ||
                         CASE WHEN documents > 1 THEN ' (and ' || documents - 1 || ' with the same fingerprint)' ELSE '' END
                         ORDER BY fp <~> cluster, name) AS lines
        FROM (SELECT cluster, fp, min(name) AS name, count(*) AS documents
              FROM (SELECT name, fp, simhash_cluster(fp, 8) OVER () AS cluster FROM docs) clustered
              WHERE fp IS NOT NULL GROUP BY cluster, fp) fingerprints
        GROUP BY cluster HAVING sum(documents) > 1" -c "
    SELECT count(*) || ' groups, with ' || coalesce(sum(documents), 0) || ' documents.'
           || CASE WHEN count(*) > 0 THEN ' Each name follows its distance in bits from the first.' ELSE '' END
    FROM groups" -c "
    SELECT E'\n' || documents || E' documents\n    ' || array_to_string(lines[:6], E'\n    ')
           || CASE WHEN cardinality(lines) > 6 THEN E'\n    ... and ' || cardinality(lines) - 6 || ' more fingerprints' ELSE '' END
    FROM groups ORDER BY cardinality(lines) DESC, documents DESC, lines LIMIT 8"

# The document to search for: the one with the most different neighbours, or else with the most equal ones.
fp=$(run_psql -At -c "
    WITH pair AS (SELECT a, b FROM simhash_pairs((SELECT array_agg(DISTINCT fp) FROM docs WHERE fp IS NOT NULL), 8)),
    near AS (SELECT a AS fp FROM pair UNION ALL SELECT b FROM pair)
    SELECT docs.fp FROM docs LEFT JOIN (SELECT fp, count(*) AS neighbours FROM near GROUP BY fp) n ON n.fp = docs.fp
    WHERE docs.fp IS NOT NULL
    GROUP BY docs.fp, neighbours ORDER BY coalesce(neighbours, 0) DESC, count(*) DESC, docs.fp LIMIT 1")
if [ -z "$fp" ]; then
    say "None of these documents has a word."
    exit 0
fi

heading "One document's neighbours"
run_psql -At -c "SELECT name FROM docs WHERE fp = $fp ORDER BY name LIMIT 1" \
    -c "SELECT 'has the fingerprint $fp. SELECT fp <~> $fp AS distance, name FROM docs WHERE fp <~> $fp <= 8:'"
echo
run_psql -c "SELECT fp <~> $fp AS distance, name FROM docs WHERE fp <~> $fp <= 8 ORDER BY 1, 2 LIMIT 12"

# The sequential scan of a small table is as fast as an index. So the last query searches a million fingerprints.
heading "The same query among a million fingerprints: these documents' and random ones"
run_psql -c "
    CREATE TABLE million AS
        SELECT name, fp FROM docs
        UNION ALL
        SELECT 'random ' || i, hashint8extended(i, 0) FROM generate_series(1, 1000000) i" \
    -c "CREATE INDEX million_fp ON million USING simhash (fp)" \
    -c "VACUUM ANALYZE million"
# The plan with the rows that each step gave and the pages that it read, and the mean time: of runs that fit two seconds, at
# most 1000, after one that does not count.
run_psql -At -c "SET max_parallel_workers_per_gather = 0; SET jit = off" -c "
    CREATE FUNCTION plan_and_time(method text) RETURNS SETOF text LANGUAGE plpgsql AS \$\$
    DECLARE
        query text := 'SELECT name FROM million WHERE fp <~> $fp <= 8';
        begun timestamptz;
        taken interval;
        runs  integer := 0;
    BEGIN
        PERFORM set_config('enable_seqscan', (method = 'scan')::text, true),
                set_config('enable_indexscan', (method = 'index')::text, true),
                set_config('enable_bitmapscan', (method = 'index')::text, true);
        EXECUTE query;
        RETURN QUERY EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query;
        begun := clock_timestamp();
        LOOP
            EXECUTE query;
            runs := runs + 1;
            taken := clock_timestamp() - begun;
            EXIT WHEN runs = 1000 OR taken > '2 s';
        END LOOP;
        RETURN NEXT 'Time: ' || to_char(extract(epoch FROM taken) * 1000 / runs, 'FM9999990.000') || ' ms';
    END \$\$" \
    -c "SELECT 'By the index:'" -c "SELECT '    ' || plan_and_time('index')" \
    -c "SELECT E'\\nBy a scan of the table:'" -c "SELECT '    ' || plan_and_time('scan')"
echo
