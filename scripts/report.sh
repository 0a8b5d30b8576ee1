#!/usr/bin/env bash
# Prints a page (HTML, one file, no script) about the near-duplicates among the rows of a query: how many there are, how large
# their groups are and how alike, the largest groups, and pairs of texts side by side with what they share marked.
#
#   scripts/report.sh texts 'SELECT id, body, name FROM pages ORDER BY id' >report.html
#
# The query returns an id of any type, a text, and as a third column, if you like, a name to show in place of the id. Its order says
# which document of a group is the original. PGHOST and the like say where the server is. The database stays as it is: all is done
# in temporary tables of one transaction, which is rolled back.
set -euo pipefail

usage() {
    cat >&2 <<USAGE
usage: $0 [OPTION]... DATABASE 'SELECT id, body[, name] FROM ...' >report.html
  --similarity S    the least similarity of near-duplicates (0.8)
  --csv FILE        also writes all pairs with their names to FILE
USAGE
    exit 2
}

similarity=0.8
csv=
while [ $# -gt 0 ]; do
    case $1 in
    --similarity) similarity=${2-} ;;
    --csv) csv=${2-} ;;
    -*) usage ;;
    *) break ;;
    esac
    [ $# -ge 2 ] || usage
    shift 2
done
[ $# = 2 ] || usage
query=${2%"${2##*[!;[:space:]]}"}
# A name that begins with a bar would be a command to psql.
case $csv in '' | /*) ;; *) csv=./$csv ;; esac
psql=${PG_CONFIG:+$("$PG_CONFIG" --bindir)/}psql

# The rows that report.pl reads: each begins with what it is about.
PGCLIENTENCODING=UTF8 "$psql" -X -q -A -t -v ON_ERROR_STOP=1 -d "$1" \
    -v query="$query" -v similarity="$similarity" -v csv="$csv" -f - <<'SQL' |
SET client_min_messages = warning;
-- Rows come in the table's order unless the query says another.
SET synchronize_seqscans = off;
SET max_parallel_workers_per_gather = 0;
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'simhash') THEN
        RAISE 'extension "simhash" is not in this database' USING HINT = 'Run CREATE EXTENSION simhash.';
    END IF;
END $$;
BEGIN;
CREATE TEMP TABLE report_rows AS
:query
;
-- The schema of the extension need not be one in which the query looks for its tables.
SELECT set_config('search_path', concat_ws(', ', 'pg_catalog', nullif(current_setting('search_path'), ''), quote_ident(nspname), 'pg_temp'), true)
FROM pg_extension e JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'simhash' \g /dev/null
CREATE TEMP TABLE report_documents (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text, body text);
DO $$
DECLARE
    names text[];
    types regtype[];
BEGIN
    SELECT array_agg(quote_ident(attname) ORDER BY attnum), array_agg(getBaseType ORDER BY attnum) INTO names, types
    FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
        CROSS JOIN LATERAL (SELECT CASE typtype WHEN 'd' THEN typbasetype ELSE t.oid END::regtype) b (getBaseType)
    WHERE attrelid = 'pg_temp.report_rows'::regclass AND attnum > 0;
    IF coalesce(cardinality(names), 0) NOT IN (2, 3) THEN
        RAISE 'the query returns % columns', coalesce(cardinality(names), 0) USING HINT = 'It is to return an id, a text and, if you like, a name.';
    ELSIF (SELECT typcategory FROM pg_type WHERE oid = types[2]) <> 'S' THEN
        RAISE 'the second column of the query is of type %', types[2] USING HINT = 'It is to be the text.';
    END IF;
    EXECUTE format('INSERT INTO pg_temp.report_documents (name, body) SELECT coalesce(%s, %s::text, ''NULL''), %s::text FROM pg_temp.report_rows',
        coalesce(names[3], names[1]) || '::text', names[1], names[2]);
END $$;
DROP TABLE pg_temp.report_rows;

CREATE TEMP TABLE report_groups AS
SELECT id AS n, original, similarity, count(*) OVER (PARTITION BY original) AS size
FROM near_duplicate_groups('SELECT n, body FROM pg_temp.report_documents ORDER BY n', :'similarity');
-- The groups that are shown, and of each the member that is least like the original.
CREATE TEMP TABLE report_shown AS
SELECT row_number() OVER (ORDER BY size DESC, original) AS rank, original
FROM report_groups WHERE n = original AND size > 1 ORDER BY 1 LIMIT 100;
CREATE TEMP TABLE report_pairs AS
SELECT rank, original, n, similarity FROM (
    SELECT DISTINCT ON (rank) rank, g.* FROM report_shown JOIN report_groups g USING (original)
    WHERE similarity < 1 ORDER BY rank, similarity, n) least
ORDER BY rank LIMIT 30;

COPY (SELECT 'documents', count(*), count(*) FILTER (WHERE body IS NULL), coalesce(sum(octet_length(body)), 0) FROM report_documents) TO STDOUT;
COPY (SELECT 'groups', count(DISTINCT original), count(*) FILTER (WHERE n <> original), count(*) FILTER (WHERE n <> original AND similarity = 1)
    FROM report_groups WHERE size > 1) TO STDOUT;
COPY (SELECT 'size', size, count(*) FROM report_groups WHERE n = original AND size > 1 GROUP BY size ORDER BY size) TO STDOUT;
COPY (SELECT 'similarity', floor(similarity * 100 + 1e-9), count(*) FROM report_groups WHERE n <> original GROUP BY 2 ORDER BY 2) TO STDOUT;
COPY (SELECT 'group', rank, size FROM report_shown JOIN report_groups USING (original) WHERE n = original ORDER BY rank) TO STDOUT;
COPY (SELECT 'member', rank, similarity, left(name, 300) FROM (
        SELECT rank, similarity, g.n, row_number() OVER (PARTITION BY rank ORDER BY g.n <> g.original, similarity, g.n) AS place
        FROM report_shown JOIN report_groups g USING (original)) m JOIN report_documents USING (n)
    WHERE place <= 20 ORDER BY rank, place) TO STDOUT;
COPY (SELECT 'pair', rank, similarity, left(a.name, 300), left(b.name, 300), left(a.body, 200000), left(b.body, 200000)
    FROM report_pairs p JOIN report_documents a ON a.n = p.original JOIN report_documents b ON b.n = p.n ORDER BY rank) TO STDOUT;
-- As many words as a shingle has.
COPY (SELECT 'passage', rank, c.a_start, c.a_length, c.b_start, c.b_length
    FROM report_pairs p JOIN report_documents a ON a.n = p.original JOIN report_documents b ON b.n = p.n,
        common_passages(left(a.body, 200000), left(b.body, 200000), 3) c ORDER BY rank, c.a_start) TO STDOUT;
SELECT :'csv' <> '' AS with_csv \gset
\if :with_csv
\o :csv
COPY (SELECT a.name, b.name AS other, similarity
    FROM near_duplicate_pairs('SELECT n, body FROM pg_temp.report_documents ORDER BY n', :'similarity') p
    JOIN report_documents a ON a.n = p.id JOIN report_documents b ON b.n = p.other
    ORDER BY p.id, p.other) TO STDOUT (FORMAT csv, HEADER);
\o
\endif
ROLLBACK;
\echo end
SQL
    perl "$(dirname "$0")/report.pl" "$1" "$query" "$similarity"
