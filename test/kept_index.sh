#!/usr/bin/env bash
# Writes test/data/index_format_N: a small index as the server's simhash writes it, N being the version in its metapage. Later
# versions have to read it, write it, vacuum it and check it: test/t/015_kept_index.pl. Run it with a server in which the simhash is
# installed whose format is to be kept; it installs nothing.
#   make kept-index
#
# Run twice, it writes the same bytes:
#
#   pages.gz      the pages of the index, without their LSNs and without the bytes that a page does not keep (pd_lower to pd_upper). It
#                 has leaves that split, tails, an unlinked page, and rows that were dead and not yet vacuumed
#   rows.tsv.gz   each place of the table in its order, as COPY writes it: ctid, id, fp, padding, and whether the row was dead. A free
#                 place has no id
#
# The test inserts the rows in that order, so that each gets its old place, builds an index with the present code, stops the server,
# writes the kept pages over the new file, and goes on with those.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"

find_pg_config
start_workspace kept-index
start_server data
# A third of the rows is near another, one fingerprint has many rows, some rows have none. Rows are of one size, so that they come to
# lie in the same places again when they are inserted in their order: `padding` is there where fp is not.
run_psql >"$workspace/psql.log" <<'SQL'
CREATE EXTENSION simhash;
CREATE TABLE docs (id integer, fp bigint, padding bigint);
CREATE FUNCTION add(first integer, last integer) RETURNS void LANGUAGE sql BEGIN ATOMIC
    INSERT INTO docs SELECT i, fp, CASE WHEN fp IS NULL THEN 0 END
    FROM generate_series(first, last) i, LATERAL (SELECT CASE
        WHEN i % 20 = 0 THEN NULL
        WHEN i % 20 < 3 THEN 42
        WHEN i % 20 < 9 THEN hashint8extended(i / 20 * 20 + 9, 1) # (1::bigint << (i % 64)) # (1::bigint << (i / 3 % 64))
        ELSE hashint8extended(i, 1) END AS fp) f;
END;
SELECT FROM add(1, 2000);
CREATE INDEX docs_fp ON docs USING simhash (fp);
-- What came after the build: leaves split.
SELECT FROM add(2001, 2900);
-- A leaf becomes empty, others lose some entries.
DELETE FROM docs WHERE fp BETWEEN -7000000000000000000 AND -1000000000000000000 OR id % 10 = 3;
VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) docs;
-- What came after the vacuum: entries in the leaves' tails, and rows that vacuum has not seen yet.
SELECT FROM add(2901, 3000);
-- Every place of the table in its order: what row is there, and whether it goes now, after the vacuum; a place that is free is empty.
CREATE TABLE places AS
WITH used AS (
    SELECT (ctid::text::point)[0]::integer AS block, max((ctid::text::point)[1])::integer AS last FROM docs GROUP BY 1
), page AS (
    -- A full page has as many places as the fullest.
    SELECT block, CASE WHEN block < max(block) OVER () THEN max(last) OVER () ELSE last END AS last FROM used
), place AS (
    SELECT format('(%s,%s)', block, number)::tid AS tid FROM page, generate_series(1, last) number
)
SELECT tid, docs.id, docs.fp, docs.padding, docs.id % 10 = 7 AS dead FROM place LEFT JOIN docs ON docs.ctid = tid;
DELETE FROM docs USING places WHERE docs.ctid = places.tid AND dead;
CHECKPOINT;
SQL
file=$data/data/$(run_psql -At -c "SELECT pg_relation_filepath('docs_fp')")
run_psql -c "COPY (SELECT * FROM places ORDER BY tid) TO STDOUT" >"$workspace/rows.tsv"
(cd / && as_server_user "$bindir/pg_ctl" -D "$data/data" -m fast -w -s stop)
# The pages without what belongs to that server alone (LSN) and what a page does not keep (the bytes between pd_lower and pd_upper).
perl -0777 -ne '
    for my $page (unpack "(a8192)*", $_) {
        my ($lower, $upper) = unpack "x12 vv", $page;
        substr($page, 0, 8) = "\0" x 8;
        substr($page, $lower, $upper - $lower) = "\0" x ($upper - $lower);
        print $page;
    }' "$file" >"$workspace/pages"
version=$(perl -0777 -ne 'print unpack "x28 v", $_' "$workspace/pages")
folder=$root/test/data/index_format_$version
mkdir -p "$folder"
gzip -9n <"$workspace/rows.tsv" >"$folder/rows.tsv.gz"
gzip -9n <"$workspace/pages" >"$folder/pages.gz"
echo "$folder: $(($(stat -c %s "$workspace/pages") / 8192)) pages, $(wc -l <"$workspace/rows.tsv") rows and free places," \
    "$(du -bs --exclude=. "$folder" | cut -f1) bytes"
