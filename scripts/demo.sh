#!/usr/bin/env bash
# Finds the near-duplicates among the text files of a folder, in a throwaway PostgreSQL server: by an index on the texts, as
# groups, and by a constraint that refuses a copy. Writes a page about them (report.sh) and the list of all pairs.
#
#   scripts/demo.sh            the licence texts in /usr/share/doc
#   scripts/demo.sh FOLDER     every text file below FOLDER
#
# Installs missing packages and the extension, which stay installed, as do page and list. Everything else is removed at the end;
# with --keep as the first argument the server goes on with its database.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

usage() {
    say "usage: $0 [--keep] [FOLDER]"
    exit 2
}
keep=
[ "${1:-}" != --keep ] || { keep=yes && shift; }
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
say "Building, one to three minutes"
copy_sources "$workspace/source"
with_dots quiet_make "$workspace/source" all || die "the build failed"
install_extension "$workspace/source"
start_server demo

run_psql -c "CREATE DATABASE demo"
export PGDATABASE=demo
run_psql -c "CREATE EXTENSION simhash" \
    -c "CREATE TABLE docs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, body text NOT NULL)"
say "Loading"
list_files | perl "$root/scripts/documents.pl" | run_psql -c "COPY docs (name, body) FROM STDIN"
[ ! -s "$workspace/find.log" ] || say "  left out: $(head -n 1 "$workspace/find.log")"
run_psql -c "CREATE INDEX docs_body ON docs USING simhash (body)" -c "VACUUM ANALYZE docs"
if [ "$(run_psql -At -c "SELECT count(*) FROM docs")" = 0 ]; then
    say "\"$folder\" has no text file."
    exit 0
fi

# ---- what it shows ----

heading() { printf '\n== %s\n\n' "$*"; }

heading "Documents"
run_psql -c "
    SELECT count(*) AS documents, pg_size_pretty(sum(octet_length(body))) AS text,
           pg_size_pretty(pg_relation_size('docs_body')) AS index_size
    FROM docs"

heading "Groups: each document joins the first one of which it is a near-duplicate (.8 of their shingles are shared)"
run_psql -At -c "
    CREATE TABLE groups AS
        SELECT g.original, g.id, g.similarity, d.name
        FROM near_duplicate_groups('SELECT id, body FROM docs ORDER BY id') g JOIN docs d ON d.id = g.id" -c "
    SELECT count(*) FILTER (WHERE id <> original) || ' of ' || count(*) || ' documents are near-duplicates of '
           || count(DISTINCT original) FILTER (WHERE id <> original) || ' others.'
    FROM groups" -c "
    -- The groups with the most different members first, as equal files are no surprise.
    WITH listed AS (
        SELECT original, count(*) AS documents, count(DISTINCT round(similarity::numeric, 3)) AS kinds,
               array_agg(coalesce(to_char(similarity, 'FM0.000'), 'first') || '  ' || name ORDER BY id = original DESC, similarity, name) AS lines
        FROM groups GROUP BY original HAVING count(*) > 1)
    SELECT E'\n' || documents || E' documents\n    ' || array_to_string(lines[:6], E'\n    ')
           || CASE WHEN cardinality(lines) > 6 THEN E'\n    ... and ' || cardinality(lines) - 6 || ' more' ELSE '' END
    FROM listed ORDER BY kinds DESC, documents DESC, original LIMIT 6"

# The document to search for: one with the most near-duplicates that are not equal to it, or else the first.
id=$(run_psql -At -c "
    SELECT original FROM groups GROUP BY original
    ORDER BY count(*) FILTER (WHERE similarity < 1) DESC, count(*) DESC, original LIMIT 1")
name=$(run_psql -At -c "SELECT name FROM docs WHERE id = $id")

heading "One document's near-duplicates: $name"
search="SELECT d.name, round(shingle_similarity(d.body, q.body)::numeric, 3) AS similarity
    FROM docs q JOIN docs d ON d.body =~~ q.body WHERE q.id = $id ORDER BY similarity DESC, d.name"
run_psql -c "$search LIMIT 8"
# The mean time of runs that fit a second, after one that does not count.
run_psql -At -c "SET max_parallel_workers_per_gather = 0; SET jit = off" -c "
    CREATE FUNCTION time_of(query text, method text) RETURNS text LANGUAGE plpgsql AS \$\$
    DECLARE
        begun timestamptz;
        taken interval;
        runs  integer := 0;
    BEGIN
        PERFORM set_config('enable_seqscan', (method = 'scan')::text, true),
                set_config('enable_indexscan', (method = 'index')::text, true),
                set_config('enable_bitmapscan', (method = 'index')::text, true);
        EXECUTE query;
        begun := clock_timestamp();
        LOOP
            EXECUTE query;
            runs := runs + 1;
            taken := clock_timestamp() - begun;
            EXIT WHEN runs = 1000 OR taken > '1 s';
        END LOOP;
        RETURN to_char(extract(epoch FROM taken) * 1000 / runs, 'FM9999990.000') || ' ms';
    END \$\$" \
    -c "SELECT 'By the index: ' || time_of('SELECT count(*) FROM docs WHERE body =~~ (SELECT body FROM docs WHERE id = $id)', 'index')
            || '. By a scan of the table: ' || time_of('SELECT count(*) FROM docs WHERE body =~~ (SELECT body FROM docs WHERE id = $id)', 'scan')"

heading "A page to look at, and all pairs"
reports=$(mktemp -d "${TMPDIR:-/tmp}/simhash-report.XXXXXX")
"$root/scripts/report.sh" --csv "$reports/pairs.csv" demo 'SELECT id, body, name FROM docs ORDER BY id' >"$reports/report.html"
printf '%s\n' "$reports/report.html" "$reports/pairs.csv"

heading "A constraint: the copies go, and no new one comes in"
run_psql -At -c "DROP INDEX docs_body" \
    -c "DELETE FROM docs USING groups g WHERE docs.id = g.id AND g.id <> g.original" \
    -c "ALTER TABLE docs ADD CONSTRAINT no_copies EXCLUDE USING simhash (body WITH =~~)"
insert="INSERT INTO docs (name, body) SELECT 'a copy in capitals', upper(body) FROM docs WHERE id = $id"
printf '%s\n' "This statement is refused, as it should be:"
printf '%s\n' "$insert"
run_psql -v VERBOSITY=terse -c "$insert" 2>&1 || true

heading "Fingerprints: 64 bits of each document, and the nearest ones however far"
run_psql -c "ALTER TABLE docs ADD fp bigint GENERATED ALWAYS AS (minhash(body)) STORED" \
    -c "CREATE INDEX docs_fp ON docs USING simhash (fp)" \
    -c "SELECT distance, CASE WHEN distance = 0 THEN 'equal' WHEN distance <= 8 THEN 'near'
            WHEN distance <= 16 THEN 'some in common' ELSE 'a stranger' END AS what, name
        FROM docs, LATERAL (SELECT fp <~> (SELECT fp FROM docs WHERE id = $id) AS distance) d ORDER BY fp <~> (SELECT fp FROM docs WHERE id = $id) LIMIT 4"

heading "By hand, on a server of yours that has the extension, in $root"
cat <<STATEMENTS
createdb demo
$(if [ -n "$folder" ]; then
    printf 'find -L %q -type f -print0' "$folder"
else
    printf 'find -L /usr/share/doc -mindepth 2 -maxdepth 2 -name copyright -type f -print0'
fi) | LC_ALL=C sort -z | scripts/documents.pl | psql demo -c 'CREATE EXTENSION simhash' \\
    -c 'CREATE TABLE docs (id bigserial PRIMARY KEY, name text, body text)' -c 'COPY docs (name, body) FROM STDIN'
psql demo <<'SQL'
CREATE INDEX docs_body ON docs USING simhash (body);
SELECT name FROM docs WHERE body =~~ (SELECT body FROM docs WHERE name = $(run_psql -At -c "SELECT quote_literal(name) FROM docs WHERE id = $id"));
SELECT * FROM near_duplicate_groups('SELECT id, body FROM docs ORDER BY id') WHERE id <> original;
DROP INDEX docs_body;
DELETE FROM docs USING near_duplicate_groups('SELECT id, body FROM docs ORDER BY id') g WHERE docs.id = g.id AND g.id <> g.original;
ALTER TABLE docs ADD CONSTRAINT no_copies EXCLUDE USING simhash (body WITH =~~);
SQL
STATEMENTS

if [ -n "$keep" ]; then
    heading "The server goes on"
    workspace_is_kept=yes
    rm -rf "$workspace/source"
    stop=("$bindir/pg_ctl" -D "$data/data" stop)
    [ "$(id -u)" != 0 ] || stop=(su "$server_user" -c "'${stop[*]}'")
    printf '%s\n' "psql -h $PGHOST -U postgres demo" "${stop[*]} && rm -rf $workspace    # when you have done"
fi
