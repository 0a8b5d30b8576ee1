#!/usr/bin/env bash
# Many documents in one table, from the first to the last step of their life, and documents that arrive:
#
#   test/bench/scaling.sh PG_CONFIG [NAME=VALUE]...
#
#   ROWS=1000000    documents of about 300 bytes with a natural vocabulary (natural_documents.cpp); 100 million take 70 GB of disk
#   MINUTES=1       of inserts and deletes, RATE=500 of each a second, by SESSIONS=2
#   BATCH=10000     rows that arrive at once, BATCHES=5 times
#   SETTINGS=...    the server's, separated by blanks; SETTINGS='' measures with its defaults
#
# Prints for each step the rows, seconds, processor time and private memory (usage.py: the server's alone), WAL and temporary bytes
# written, and of the steps that pgbench runs the latency: its mean, and what 99 % of the calls took at most. Builds simhash for that
# server, without installing it, and measures in a throwaway cluster, in TMPDIR. Called as root it drops to the user postgres. For
# a /dev/shm as small as a container's:
#
#   unshare -m sh -c 'mount -t tmpfs -o size=64m tmpfs /dev/shm && make scaling'
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
cd "$root"
pg_config=$1
shift
ROWS=1000000 MINUTES=1 RATE=500 SESSIONS=2 BATCH=10000 BATCHES=5
SETTINGS='shared_buffers=4GB max_wal_size=4GB synchronous_commit=off work_mem=400MB hash_mem_multiplier=1 maintenance_work_mem=1GB'
for setting in "$@"; do
    case $setting in
    ROWS=?* | MINUTES=?* | RATE=?* | SESSIONS=?* | BATCH=?* | BATCHES=?* | SETTINGS=*) declare "$setting" ;;
    *) die "$setting is no setting" ;;
    esac
done
# shellcheck source=test/bench/throwaway.sh
. test/bench/throwaway.sh

# step NAME ROWS PROGRAM ARGUMENT...: measures a program of the server, psql or pgbench.
counts() { psql -F ' ' -c "SELECT pg_current_wal_insert_lsn() - '0/0', temp_bytes FROM pg_stat_database WHERE datname = 'postgres'"; }
step() {
    read -r wal files < <(counts)
    as_server "$work/test/bench/usage.py" "$(head -n 1 "$work/data/postmaster.pid")" "$bin/$3" -h "$work" "${@:4}" postgres >"$work/said"
    read -r seconds processor memory < <(tail -n 1 "$work/said")
    read -r wal_after files_after < <(counts)
    latency=$(find "$work" -name 'latency.*' -exec cat {} + | sort -nk3 | awk '{ sum += $3; l[NR] = $3 / 1000 }
        END { if (NR > 0) printf "%.2f ms; 99 %%: %.2f", sum / NR / 1000, l[int(NR * .99 + .5)] }')
    rm -f "$work"/latency.*
    printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$1" "$2" "$seconds" "$processor" "$memory" \
        $(((wal_after - wal) / 1000000)) $(((files_after - files) / 1000000)) "$latency"
}
run() { step "$1" "$2" psql -XqAt -v ON_ERROR_STOP=1 "${@:3}"; }
load() { step "$1" "$2" pgbench -n -f "$work/call.sql" -l --log-prefix="$work/latency" "${@:3}"; }

# No document has these characters, so that each line is one as it is.
documents() { build/natural_documents "$2" 200000 /dev/null 300 "$1"; }
copied="FROM STDIN (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02'"

# shellcheck disable=SC2086
start_bench_server max_connections=100 $SETTINGS
printf '| step | rows | s | processor, s | memory, MB | WAL, MB | temporary files, MB | latency |\n|---|--:|--:|--:|--:|--:|--:|--:|\n'
documents 1 "$ROWS" | run load "$ROWS" -1 -c 'CREATE TABLE document (id integer GENERATED ALWAYS AS IDENTITY, body text)' \
    -c "COPY document (body) $copied, FREEZE)"
psql -c 'ALTER TABLE document ADD PRIMARY KEY (id)' -c 'VACUUM ANALYZE document'

# Those of the join; those that come one at a time, and some more, as pgbench's rate is one on average; the batches of four ways.
joined=$((ROWS / 100)) steady=$((MINUTES * 60 * RATE))
arrivals=$((joined + steady * 11 / 10 + BATCH * (BATCHES * 3 + 2)))
psql -c "CREATE TABLE arrival (id integer GENERATED ALWAYS AS IDENTITY (START $((ROWS + 1))) PRIMARY KEY, body text)" \
    -c "CREATE SEQUENCE turn START $((ROWS + joined + 1))"
documents $((ROWS + 1)) $((ROWS + arrivals)) | psql -c "COPY arrival (body) $copied)" -c 'VACUUM ANALYZE arrival'

all='SELECT id, body FROM document'
run near_duplicate_groups "$ROWS" -c "CREATE TABLE copy AS SELECT * FROM near_duplicate_groups('$all') WHERE id <> original"
run near_duplicate_join "$joined" \
    -c "CREATE TABLE known AS SELECT * FROM near_duplicate_join('SELECT id, body FROM arrival WHERE id <= $((ROWS + joined))', '$all')"
run 'CREATE INDEX' "$ROWS" -c 'CREATE INDEX document_body ON document USING simhash (body)'

call() { printf '%s\n' "$@" >"$work/call.sql"; }
turn="SELECT nextval('turn') AS turn \\gset"
call "\\set n random(1, $ROWS)" 'SELECT count(*) FROM document WHERE body =~~ (SELECT body FROM document WHERE id = :n);'
load searches 1000 -M prepared -t 1000
call "$turn" 'INSERT INTO document (body) SELECT body FROM arrival WHERE id = :turn;' \
    "\\set n random(1, $ROWS)" 'DELETE FROM document WHERE id = :n;'
load 'inserts and deletes' "$steady" -M prepared -c "$SESSIONS" -R "$RATE" -T $((MINUTES * 60))
run VACUUM "$steady" -c 'VACUUM (PARALLEL 0, INDEX_CLEANUP on) document'
run simhash_index_check "$ROWS" -c "SELECT simhash_index_check('document_body', true)"

# constrain TABLE INDEX: as if the table had had the constraint from its first row on. To add one, the server searches for each row.
constrain() {
    psql -c 'SET allow_system_table_mods = on' -c "CREATE TABLE empty_$1 (body text, EXCLUDE USING simhash (body WITH =~~))" \
        -c "UPDATE pg_index SET indisexclusion = true WHERE indexrelid = '$2'::regclass" \
        -c "UPDATE pg_constraint SET conrelid = '$1'::regclass, conindid = '$2'::regclass WHERE conrelid = 'empty_$1'::regclass"
}
# A batch is what came up to its turn.
psql -c "SELECT setval('turn', $((ROWS + joined + steady * 11 / 10)))" -c "ALTER SEQUENCE turn INCREMENT $BATCH" >/dev/null
batch="SELECT id, body FROM arrival WHERE id > :turn - $BATCH AND id <= :turn"
new="SELECT body FROM arrival WHERE id IN (SELECT id FROM near_duplicate_groups('$batch') WHERE id = original)"
call "$turn" "INSERT INTO document (body) $new AND NOT EXISTS (SELECT FROM document d WHERE d.body =~~ arrival.body);"
load 'by the index' $((BATCH * BATCHES)) -t "$BATCHES"
call "$turn" "INSERT INTO document (body) $new AND id NOT IN (SELECT id FROM near_duplicate_join('$batch', '$all'));"
load 'by near_duplicate_join' "$BATCH" -t 1
constrain document document_body
call "$turn" "INSERT INTO document (body) SELECT body FROM ($batch) b ON CONFLICT DO NOTHING;"
load 'by a constraint' $((BATCH * BATCHES)) -t "$BATCHES"
# A twentieth of the rows as this month's partition.
psql -c 'CREATE TABLE month (LIKE document INCLUDING IDENTITY)' -c "INSERT INTO month (body) SELECT body FROM document WHERE id <= $ROWS / 20" \
    -c 'CREATE INDEX month_body ON month USING simhash (body)' -c 'VACUUM ANALYZE month'
constrain month month_body
call "$turn" "INSERT INTO month (body) SELECT body FROM ($batch) b ON CONFLICT DO NOTHING;"
load "by a constraint of the month's partition" $((BATCH * BATCHES)) -t "$BATCHES"
