#!/usr/bin/env bash
# Finds near-duplicates among the text files of a folder, in a throwaway PostgreSQL server.
#
#   scripts/demo.sh            the licence texts in /usr/share/doc
#   scripts/demo.sh FOLDER     every text file below FOLDER
#
# Installs what is missing, builds, shows, and leaves nothing behind but the installed packages and extension.
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
if [ -n "$folder" ]; then
    [ -d "$folder" ] || { say "$0: there is no folder \"$folder\""; exit 2; }
    [ -r "$folder" ] || { say "$0: folder \"$folder\" cannot be read"; exit 2; }
fi

list_files() { # NUL-separated names
    if [ -n "$folder" ]; then
        find -L "$folder" -type f -size -64M -readable -print0
    else
        find -L /usr/share/doc -mindepth 2 -maxdepth 2 -name copyright -type f -readable -print0 2>/dev/null
    fi | sort -z
}

# Passes valid UTF-8 through, and takes everything else for Latin-1. Its input is read twice, so it goes by a file.
as_utf8() {
    cat >"$workspace/text"
    if iconv -f UTF-8 -t UTF-8 "$workspace/text" >"$workspace/utf8" 2>/dev/null; then
        cat "$workspace/utf8"
    else
        iconv -f LATIN1 -t UTF-8 "$workspace/text"
    fi
}

# Prints COPY lines: the file's name and its text as base64 of valid UTF-8 without NUL. Binary files are left out.
encode_files() {
    local file count=0
    while IFS= read -r -d '' file; do
        if [ -s "$file" ] && ! LC_ALL=C grep -qP '\x00' "$file" 2>/dev/null; then
            printf '%s\t%s\n' "$(printf '%s' "$file" | as_utf8 | base64 -w 0)" "$(as_utf8 <"$file" | base64 -w 0)"
            count=$((count + 1))
            if [ $((count % 100)) = 0 ]; then printf '\r  %d documents' "$count" >&2; fi
        fi
    done
    printf '\r  %d documents\n' "$count" >&2
}

# ---- set-up ----

install_missing
find_pg_config
start_workspace demo
say "Building"
copy_sources "$workspace/source"
quiet_make "$workspace/source" all || die "the build failed"
install_extension "$workspace/source"
start_server demo

if [ -z "$folder" ] && [ -z "$(list_files | head -c 1 | tr -d '\0' || true)" ]; then
    folder=$root/test/data/demo
    say "There are no licence texts here; taking the documents that came with the source."
fi

run_psql -c "CREATE EXTENSION simhash" \
    -c "CREATE TABLE loaded (name text, body text)" \
    -c "CREATE TABLE docs (
            id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text NOT NULL,
            body text NOT NULL,
            fp   bigint GENERATED ALWAYS AS (simhash(body)) STORED)" \
    -c "CREATE INDEX docs_fp ON docs USING simhash (fp)"
say "Loading"
list_files | encode_files | run_psql -c "COPY loaded FROM STDIN" >/dev/null
run_psql -c "
    INSERT INTO docs (name, body)
    SELECT convert_from(decode(name, 'base64'), 'UTF8'), convert_from(decode(body, 'base64'), 'UTF8') FROM loaded" \
    -c "DROP TABLE loaded" -c "VACUUM ANALYZE docs"
if [ "$(run_psql -At -c "SELECT count(*) FROM docs")" = 0 ]; then
    say "There is no text file in \"$folder\"."
    exit 0
fi

# ---- what is to be seen ----

heading() { printf '\n== %s\n\n' "$*"; }

heading "Documents"
run_psql -c "
    SELECT count(*) AS documents, pg_size_pretty(sum(length(body))) AS text,
           count(fp) AS fingerprints, count(DISTINCT fp) AS distinct_fingerprints,
           pg_size_pretty(pg_relation_size('docs_fp')) AS index_size
    FROM docs"

heading "Clusters of near-duplicates: chains of documents within 3 bits of each other, the largest first"
run_psql -c "
    WITH clustered AS (SELECT name, fp, simhash_cluster(fp) OVER () AS cluster FROM docs WHERE fp IS NOT NULL),
    member AS (
        SELECT *, fp <~> cluster AS distance,
               row_number() OVER (PARTITION BY cluster ORDER BY fp <~> cluster, name) AS place
        FROM clustered)
    SELECT count(*) AS documents,
           string_agg(distance || ' ' || name, E'\n' ORDER BY distance, name) FILTER (WHERE place <= 6)
               || CASE WHEN count(*) > 6 THEN E'\n... and ' || count(*) - 6 || ' more' ELSE '' END
               AS \"distance from the first, name\"
    FROM member
    GROUP BY cluster HAVING count(*) > 1
    ORDER BY count(*) DESC, min(name) LIMIT 8"

query_id=$(run_psql -At -c "
    SELECT a.id FROM docs a JOIN docs b ON a.fp <~> b.fp <= 3 AND a.id <> b.id
    GROUP BY a.id ORDER BY count(*) FILTER (WHERE a.fp <> b.fp) DESC, a.id LIMIT 1")
query_id=${query_id:-1}
fp=$(run_psql -At -c "SELECT coalesce(fp, 0) FROM docs WHERE id = $query_id")

heading "One document's neighbours: SELECT ... WHERE fp <~> $fp <= 3"
run_psql -c "
    SELECT fp <~> $fp AS distance, name FROM docs WHERE fp <~> $fp <= 3 ORDER BY 1, 2 LIMIT 12"

heading "Found by the index"
run_psql -At -c "SET enable_seqscan = off" \
    -c "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) SELECT name FROM docs WHERE fp <~> $fp <= 3"

heading "The same by sequential scan, 1000 times each"
run_psql -At -c "SET max_parallel_workers_per_gather = 0; SET jit = off" -c "
    CREATE FUNCTION timed(method text) RETURNS numeric LANGUAGE plpgsql AS \$\$
    DECLARE begun timestamptz := clock_timestamp();
    BEGIN
        PERFORM set_config('enable_seqscan', (method = 'scan')::text, true),
                set_config('enable_indexscan', (method = 'index')::text, true),
                set_config('enable_bitmapscan', (method = 'index')::text, true);
        FOR i IN 1 .. 1000 LOOP
            EXECUTE 'SELECT count(name) FROM docs WHERE fp <~> $fp <= 3';
        END LOOP;
        RETURN round(extract(epoch FROM clock_timestamp() - begun)::numeric * 1000, 1);
    END \$\$" \
    -c "SELECT 'index:           ' || timed('index') || ' µs a query'" \
    -c "SELECT 'sequential scan: ' || timed('scan') || ' µs a query'"
echo
