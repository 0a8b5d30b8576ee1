#!/usr/bin/env bash
# ALTER EXTENSION simhash UPDATE from the release before, whose script, and what it made, are kept in test/data/release_N:
#
#   simhash--1.2.sql       the script
#   dump.sql               pg_dump of a database with stored values, indexes, constraints, groups, and answers (test/upgrade/before.sql)
#   kept_body.gz, kept_passages.gz
#                          the files of its indexes on texts and on passages, as test/kept_index.sh keeps pages
#
#   make upgrade-test      with the installed extension; needs to write where the server's extensions are. The new library with the
#                          old script, the upgrade, its objects beside those of CREATE EXTENSION, indexes of before, dump and restore.
#                          OLD_LIBRARY=/path/to/simhash.so, of the release before: the new script with it, too
#   test/upgrade.sh keep   writes the data: run it with a server in which the release is installed
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"

old=1.2
find_pg_config
kept=$root/test/data/release_${old/./_}
start_workspace upgrade

file_of() { echo "$data/data/$(run_psql -At -d "$1" -c "SELECT pg_relation_filepath('$2')")"; }
stop_cleanly() { (cd / && as_server_user "$bindir/pg_ctl" -D "$data/data" -m fast -w -s stop); }

if [ "${1:-}" = keep ]; then
    start_server release
    run_psql -f "$root/test/upgrade/before.sql"
    [ "$(run_psql -At -c "SELECT extversion FROM pg_extension WHERE extname = 'simhash'")" = "$old" ] || die "not a server of $old"
    mkdir -p "$kept"
    # Without what names the server's version.
    "$bindir/pg_dump" --no-owner postgres | sed '/^-- Dumped /d; /^\\\(un\)\{0,1\}restrict /d; /^SET transaction_timeout/d' >"$kept/dump.sql"
    run_psql -c CHECKPOINT
    files=$(for index in kept_body kept_passages; do echo "$index $(file_of postgres $index)"; done)
    stop_cleanly
    while read -r index file; do
        # Without LSNs and the bytes that a page does not keep.
        perl -0777 -ne 'for my $page (unpack "(a8192)*", $_) {
            my ($lower, $upper) = unpack "x12 vv", $page;
            substr($page, 0, 8) = "\0" x 8;
            substr($page, $lower, $upper - $lower) = "\0" x ($upper - $lower);
            print $page;
        }' "$file" | gzip -9n >"$kept/$index.gz"
    done <<<"$files"
    du -b "$kept"/*
    exit
fi

script=$("$PG_CONFIG" --sharedir)/extension/simhash--$old.sql
sudo=()
[ -w "$(dirname "$script")" ] || sudo=(sudo)
trap 'status=$?; "${sudo[@]}" rm -f "$script"; stop_workspace "$status"' EXIT
"${sudo[@]}" cp "$kept/simhash--$old.sql" "$script"
"${sudo[@]}" chmod 644 "$script"
start_server upgrade
failed=0
# expect WHAT ANSWER QUERY: of one database; fails_with WHAT MESSAGE STATEMENT.
database=upgraded
ask() { run_psql -At -d "$database" -f "${1:--}" 2>&1 || true; }
expect() {
    local got
    got=$(ask <<<"$3")
    [ "$got" = "$2" ] || { printf 'wrong, %s: expected %s, got %s\n' "$1" "$2" "$got"; failed=1; }
}
fails_with() {
    local got
    got=$(ask <<<"$3")
    case "$got" in *"$2"*) ;; *) printf 'wrong, %s: expected an error with "%s", got %s\n' "$1" "$2" "$got"; failed=1 ;; esac
}
# The questions to the release, asked again, by the indexes: those whose answers differ now.
same_answers() { # WHEN [CONDITION]
    expect "$1: answers of before" '' "SET enable_seqscan = off; CREATE TEMP TABLE before AS SELECT * FROM answer WHERE ${2:-true};
        TRUNCATE answer; DO \$\$ DECLARE q text; BEGIN FOR q IN SELECT question FROM before LOOP CALL ask(q); END LOOP; END \$\$;
        SELECT b.question, b.rows, a.rows, b.ids, a.ids FROM before b LEFT JOIN answer a USING (question) WHERE (a.rows, a.ids) IS DISTINCT FROM (b.rows, b.ids);
        TRUNCATE answer; INSERT INTO answer SELECT * FROM saved_answer"
}
for_texts="question LIKE '%kept%'"

# ---- the new library with the old script ----

"$bindir/createdb" upgraded
run_psql -d upgraded -c "CREATE EXTENSION simhash VERSION '$old'"
run_psql -d upgraded -f "$kept/dump.sql" >/dev/null
run_psql -d upgraded -c 'CREATE TABLE saved_answer AS SELECT * FROM answer'
expect 'the version' "$old" "SELECT extversion FROM pg_extension WHERE extname = 'simhash'"
# Whole-table calls need functions that the old script has not made, and say so.
same_answers 'new library, old script' "question NOT LIKE '%near_duplicate_pairs%'"
fails_with 'whole tables' 'Run ALTER EXTENSION simhash UPDATE.' "SELECT * FROM near_duplicate_pairs('SELECT id, body FROM page')"
fails_with 'a new function' 'function simhash_shingles_of(text[]) does not exist' "SELECT simhash_shingles_of(ARRAY['a'])"
fails_with 'a constraint' 'conflicting key value violates exclusion constraint "no_near_body"' 'INSERT INTO no_copy SELECT id, upper(body), NULL FROM no_copy LIMIT 1'

# ---- indexes on texts and passages that the release built ----

if [ "$(run_psql -At -c 'SELECT database_block_size, max_data_alignment FROM pg_control_init()')" = '8192|8' ] &&
    [ "$(printf 'ab' | od -An -tx2 | tr -d ' ')" = 6261 ]; then
    files=$(for index in kept_body kept_passages; do echo "$index $(file_of upgraded $index)"; done)
    checksums=$(run_psql -At -c 'SHOW data_checksums')
    stop_cleanly
    [ "$checksums" = off ] || as_server_user "$bindir/pg_checksums" --disable -D "$data/data" >/dev/null
    while read -r index file; do
        gzip -dc "$kept/$index.gz" | as_server_user tee "$file" >/dev/null
        rm -f "${file}_fsm"
    done <<<"$files"
    (cd / && as_server_user "$bindir/pg_ctl" -D "$data/data" -l "$data/server.log" -w -s start)
    for when in 'new library, old script' 'upgraded'; do
        [ "$when" != upgraded ] || run_psql -d upgraded -c 'ALTER EXTENSION simhash UPDATE'
        for index in kept_body kept_passages; do
            refused="index \"$index\" was built by another definition"
            other=$([ $index = kept_body ] && echo kept_passages || echo kept_body)
            condition=$([ $index = kept_body ] && echo '=~~' || echo '&~~')
            fails_with "$when, search" "$refused" "SET enable_seqscan = off; SELECT count(*) FROM kept WHERE body $condition (SELECT body FROM page WHERE id = 1)"
            fails_with "$when, hint" 'REINDEX the index.' "SELECT simhash_index_check('$index', true)"
            fails_with "$when, insertion" "$refused" "BEGIN; DROP INDEX $other; INSERT INTO kept VALUES (0, 'one more')"
        done
        fails_with "$when, a search of more words" 'index "kept_passages" was built by another definition' "SET enable_seqscan = off; SELECT count(*) FROM kept WHERE shares_passage(body, (SELECT body FROM page WHERE id = 1), 20)"
        expect "$when, a sequential scan" 2 'SET enable_indexscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM kept WHERE body =~~ (SELECT body FROM page WHERE id = 1)'
        # Nobody is kept from removing rows, and VACUUM from removing their postings.
        expect "$when, VACUUM" '' "DELETE FROM kept WHERE id = 3; VACUUM (INDEX_CLEANUP ON) kept"
        same_answers "$when" "NOT $for_texts AND ('$when' = 'upgraded' OR question NOT LIKE '%near_duplicate_pairs%')"
    done
    expect 'REINDEX' '' 'REINDEX TABLE kept; INSERT INTO kept SELECT id, body FROM page WHERE id = 3'
    expect 'the check after REINDEX' '124|124' "SELECT (simhash_index_check('kept_body', true)).rows, (simhash_index_check('kept_passages', true)).rows"
else
    echo 'no kept index fits this server'
    run_psql -d upgraded -c 'ALTER EXTENSION simhash UPDATE'
fi

# ---- after the upgrade ----

new=$(extension_version)
expect 'the version' "$new" "SELECT extversion FROM pg_extension WHERE extname = 'simhash'"
same_answers upgraded
run_psql -d upgraded -c 'VACUUM ANALYZE'
for index in page_fp page_code page_made no_near_body no_near_fp; do
    expect "$index" t "SELECT rows = (SELECT reltuples FROM pg_class WHERE oid = indrelid) FROM pg_index, simhash_index_check('$index', true) WHERE indexrelid = '$index'::regclass"
done
# Page 123 has become a copy of 124.
expect 'groups' '124|124|' "SELECT * FROM page_group EXCEPT SELECT * FROM near_duplicate_groups('SELECT id, body FROM page ORDER BY id')"
expect 'a constraint' 0 "INSERT INTO no_copy SELECT 0, upper(body), 0 FROM no_copy LIMIT 1 ON CONFLICT DO NOTHING; SELECT count(*) FROM no_copy WHERE id = 0"
# Stored values are those of before where words are, and the recipe of docs/reference.md mends the others.
expect 'stored values' '121,122,123' "SELECT string_agg(id::text, ',' ORDER BY id) FROM page WHERE fp <> minhash(body)"
expect 'stored codes and sets' '121,122,123' "SELECT string_agg(id::text, ',' ORDER BY id) FROM page WHERE code <> minhash_code(body) AND shingles::text <> simhash_shingles(body)::text"
expect 'stored values, computed again' '0|0' "UPDATE page SET fp = minhash(body) WHERE fp <> minhash(body); UPDATE page SET body = body WHERE made <> simhash(body);
    SELECT count(*) FILTER (WHERE fp <> minhash(body)), count(*) FILTER (WHERE made <> simhash(body)) FROM page"
expect 'an index on an expression' 125 "REINDEX INDEX page_made; SELECT rows FROM simhash_index_check('page_made', true)"

# Every object, beside those of CREATE EXTENSION.
"$bindir/createdb" fresh
run_psql -d fresh -c 'CREATE EXTENSION simhash'
for database in upgraded fresh; do ask "$root/test/upgrade/objects.sql" >"$workspace/$database.objects"; done
[ "$(wc -l <"$workspace/fresh.objects")" -gt 200 ] || { cat "$workspace/fresh.objects"; die 'the objects could not be listed'; }
diff -U0 "$workspace/fresh.objects" "$workspace/upgraded.objects" || { echo 'wrong: other objects than those of CREATE EXTENSION'; failed=1; }

# A dump of the upgraded database, restored.
"$bindir/createdb" restored
"$bindir/pg_dump" upgraded | run_psql -d restored >"$workspace/restore" 2>&1 || { cat "$workspace/restore"; failed=1; }
database=restored
expect 'restored' "$new|125" "SELECT extversion, (SELECT rows FROM simhash_index_check('page_fp', true)) FROM pg_extension WHERE extname = 'simhash'"

# ---- the new script with the old library ----

if [ -n "${OLD_LIBRARY:-}" ]; then
    database=old_library
    "$bindir/createdb" old_library
    install_sql "${OLD_LIBRARY%.so}" >"$workspace/install.sql"
    got=$(ask "$workspace/install.sql")
    case "$got" in *'could not find function "simhash_'*) ;; *) echo "wrong, new script and old library: $got"; failed=1 ;; esac
fi
[ "$failed" = 0 ] || die 'the upgrade failed'
echo "upgraded from $old to $new: objects are those of CREATE EXTENSION, answers those of before"
