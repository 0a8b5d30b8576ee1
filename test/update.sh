#!/usr/bin/env bash
# ALTER EXTENSION simhash UPDATE, with a version that exists for this test only: its script is put beside the installed ones and
# taken away again. Tables, indexes, constraints and prepared statements of before must be there after it and answer as before.
#   make update-test     with the installed extension; needs to write where the server's extensions are
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"

find_pg_config
start_workspace update
version=$(extension_version)
next=${version}next
script=$("$PG_CONFIG" --sharedir)/extension/simhash--$version--$next.sql
sudo=()
[ -w "$(dirname "$script")" ] || sudo=(sudo)
trap '"${sudo[@]}" rm -f "$script"; stop_workspace' EXIT
"${sudo[@]}" tee "$script" >/dev/null <<'SQL'
\echo Use "ALTER EXTENSION simhash UPDATE" to load this file. \quit
-- One of each kind of change that an update makes.
CREATE FUNCTION simhash_next() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE OR REPLACE FUNCTION hamming_within(fp bigint, query bigint, radius bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_hamming_within'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT hamming_within_support;
SQL

start_server update
run_psql -At -v next="$next" >"$workspace/out" 2>&1 <<'SQL' || { cat "$workspace/out"; die "failed"; }
CREATE EXTENSION simhash;
CREATE TABLE docs (id integer, body text, fp bigint GENERATED ALWAYS AS (simhash(body)) STORED);
INSERT INTO docs (id, body) SELECT i, 'document ' || md5((i / 3)::text) || ' ' || i % 3 FROM generate_series(1, 20000) i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE TABLE unique_docs (fp bigint, CONSTRAINT no_copies EXCLUDE USING simhash (fp WITH ~=));
INSERT INTO unique_docs VALUES (42);
CREATE VIEW near AS SELECT id FROM docs WHERE fp <~> 42 <= 20;
SET enable_seqscan = off;
PREPARE around (bigint) AS SELECT count(*), sum(id) FROM docs WHERE fp <~> $1 <= 12;
CREATE TABLE answers AS SELECT 'before' AS at, q, (SELECT array_agg(id ORDER BY id) FROM docs WHERE fp <~> q <= 3) AS ids,
    (SELECT count(*) FROM near) AS by_view FROM (SELECT fp AS q FROM docs ORDER BY id LIMIT 50) d;
SELECT fp FROM docs WHERE id = 42 \gset
EXECUTE around (:fp) \gset before_
ALTER EXTENSION simhash UPDATE TO :'next';
EXECUTE around (:fp) \gset after_
SELECT :before_count > 1 AND :'before_count' = :'after_count' AND :'before_sum' = :'after_sum' AS prepared \gset
INSERT INTO answers SELECT 'after', q, (SELECT array_agg(id ORDER BY id) FROM docs WHERE fp <~> q <= 3), (SELECT count(*) FROM near) FROM answers;
INSERT INTO docs (id, body) VALUES (0, 'one more');
INSERT INTO unique_docs VALUES (40) ON CONFLICT DO NOTHING;
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS
    $$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query; END $$;
SELECT what FROM (VALUES
    ('the version', (SELECT extversion FROM pg_extension WHERE extname = 'simhash') = :'next'),
    ('the new function', simhash_next() = 1 AND EXISTS (SELECT FROM pg_depend WHERE objid = 'simhash_next'::regproc AND deptype = 'e')),
    ('the answers', (SELECT count(DISTINCT (q, ids, by_view)) = 50 AND count(*) = 100 FROM answers)),
    ('the prepared statement', :'prepared'),
    ('the plan', EXISTS (SELECT FROM plan('SELECT id FROM docs WHERE fp <~> 42 <= 3') line WHERE line LIKE '%docs_fp%')),
    ('the index', (SELECT rows FROM simhash_index_check('docs_fp', true)) = 20001),
    ('the constraint', (SELECT count(*) FROM unique_docs) = 1),
    ('the operator class', (SELECT bool_and(amvalidate(oid)) FROM pg_opclass WHERE opcname = 'simhash_ops'))) v (what, holds)
WHERE holds IS NOT TRUE;
SQL
cat "$workspace/out"
[ ! -s "$workspace/out" ] || die "wrong after the update"
# A dump and a restore give the version of the control file.
"$bindir/createdb" restored
"$bindir/pg_dump" postgres | run_psql -d restored >"$workspace/restore" 2>&1 || { cat "$workspace/restore"; die "restore failed"; }
[ "$(run_psql -d restored -At -c "SELECT rows FROM simhash_index_check('docs_fp', true)")" = 20001 ] || die "wrong after the restore"
echo "updated from $version to $next: objects are there, answers are the same"
