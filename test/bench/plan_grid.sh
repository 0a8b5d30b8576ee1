#!/usr/bin/env bash
# Is the planner's choice a good one? For kinds of data, table sizes, forms of query and radii: the
# time of the plan that the planner chooses beside those of every other plan it could have chosen.
#
#   make plan-grid [ROWS="10000 100000 1000000 10000000"] [KINDS="uniform clustered hot codes texts"]
#                  [FORMS="condition ordered ordered-10 nearest-10 nearest-1000"] [THRESHOLD=2]
#
# Forms, of a query fingerprint q and a radius k; codes of 256 bits have <~~> and other radii:
#
#   condition      WHERE fp <~> q <= k
#   ordered        WHERE fp <~> q <= k ORDER BY fp <~> q
#   ordered-10     WHERE fp <~> q <= k ORDER BY fp <~> q LIMIT 10
#   nearest-10     ORDER BY fp <~> q LIMIT 10
#   nearest-1000   ORDER BY fp <~> q LIMIT 1000
#
# Texts have the form WHERE fp =~~ q alone, up to a million rows. In place of a radius stands the row
# that has q: 20 one of many equal texts, 21 one of a template, 23 one that stands alone.
#
# Plans: `ordered`, an index scan in order of distance; `index`, `bitmap` and `seq`, an index scan,
# a bitmap scan and a sequential scan, with a sort where the form has an order. Each is forced by
# the enable_ settings, and counts as absent (-) where EXPLAIN shows that another one came.
#
# Fails where the chosen plan takes more than THRESHOLD times as long as the best one, and at least
# 0.1 ms longer, and where a scan finds more than ten times as many rows as estimated, or a tenth,
# and at least ten more or fewer.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"

sizes="10000 100000 1000000 10000000"
kinds="uniform clustered hot codes texts"
forms="condition ordered ordered-10 nearest-10 nearest-1000"
threshold=2
condition_radii="0 3 8 12 16 20 24 32 40"
ordered_radii="3 8 12 20"
condition_radii_of_codes="0 15 31 47 63 79 100 128"
ordered_radii_of_codes="15 31 47 63"
rows_of_texts="20 21 23"

usage() {
    say "usage: $0 [--rows 'N…'] [--kinds 'KIND…'] [--forms 'FORM…'] [--threshold RATIO]"
    exit 2
}
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || usage
    case "$1" in
    --rows) sizes=$2 ;;
    --kinds) kinds=$2 ;;
    --forms) forms=$2 ;;
    --threshold) threshold=$2 ;;
    *) usage ;;
    esac
    shift 2
done
# must_match WHAT PATTERN WORD...: the words are of the kind that the pattern describes.
must_match() {
    local what=$1 pattern=$2 word
    shift 2
    [ $# -gt 0 ] || die "no $what given"
    for word in "$@"; do
        [[ $word =~ ^($pattern)$ ]] || die "\"$word\" is no $what: it must match $pattern"
    done
}
read -ra sizes <<<"$sizes"
read -ra kinds <<<"$kinds"
read -ra forms <<<"$forms"
must_match "number of rows" '[1-9][0-9]+' "${sizes[@]}"
must_match "kind of data" 'uniform|clustered|hot|codes|texts' "${kinds[@]}"
must_match "form of query" 'condition|ordered(-[1-9][0-9]*)?|nearest-[1-9][0-9]*' "${forms[@]}"
must_match "ratio" '[0-9]+(\.[0-9]+)?' "$threshold"
for rows in "${sizes[@]}"; do
    # The queries are those of rows 20 to 23.
    [ "$rows" -ge 23 ] || die "a table must have 23 rows at least"
done

install_missing
find_pg_config
start_workspace grid
copy_sources "$workspace/source"
quiet_make "$workspace/source" all || die "the build failed"
install_extension "$workspace/source"
start_server grid "max_parallel_workers_per_gather = 0" "jit = off" "shared_buffers = 2GB" \
    "maintenance_work_mem = 512MB"

run_psql <<'SQL'
CREATE EXTENSION simhash;

-- The plan that the present settings give, by its name above. Plans are the same where their shapes
-- are: what EXPLAIN shows apart from costs.
CREATE FUNCTION plan_of(query text, OUT plan text, OUT shape text, OUT estimate float8)
LANGUAGE plpgsql AS $$
DECLARE
    explained jsonb;
    node jsonb;
    line text;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO explained;
    node := explained -> 0 -> 'Plan';
    WHILE node ->> 'Node Type' NOT IN ('Seq Scan', 'Bitmap Heap Scan', 'Index Scan') LOOP
        node := node -> 'Plans' -> 0;
    END LOOP;
    plan := CASE node ->> 'Node Type'
        WHEN 'Seq Scan' THEN 'seq'
        WHEN 'Bitmap Heap Scan' THEN 'bitmap'
        WHEN 'Index Scan' THEN CASE WHEN node ? 'Order By' THEN 'ordered' ELSE 'index' END
    END;
    estimate := node ->> 'Plan Rows';
    IF plan IS NULL THEN
        RAISE EXCEPTION 'a plan without a scan that this grid knows: %', explained;
    END IF;
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        shape := concat_ws(E'\n', shape, line);
    END LOOP;
END $$;

-- Makes the planner take this plan if it can.
CREATE FUNCTION force_plan(plan text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('enable_seqscan', (plan IN ('any', 'seq'))::text, true),
        set_config('enable_bitmapscan', (plan IN ('any', 'bitmap'))::text, true),
        set_config('enable_indexscan', (plan IN ('any', 'index', 'ordered'))::text, true),
        set_config('enable_sort', (plan <> 'ordered')::text, true);
END $$;

-- Milliseconds of one run.
CREATE FUNCTION timed_once(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    begun timestamptz := clock_timestamp();
BEGIN
    EXECUTE query;
    RETURN extract(epoch FROM clock_timestamp() - begun) * 1000;
END $$;

-- Milliseconds: the median of 5 runs after one that warms the caches; of 25 where they are short,
-- since other work on the machine then makes more of a difference. Where the first run takes more
-- than a second there is one other, and the shorter of the two counts.
CREATE FUNCTION timed(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    first_run float8 := timed_once(query);
    times float8[] := '{}';
BEGIN
    IF first_run > 1000 THEN
        RETURN least(first_run, timed_once(query));
    END IF;
    FOR run IN 1 .. CASE WHEN first_run < 20 THEN 25 ELSE 5 END LOOP
        times := times || timed_once(query);
    END LOOP;
    RETURN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FROM unnest(times) t);
END $$;

-- One row of the grid. The query counts what it is given, so that every row of it is fetched. The
-- chosen plan is mostly one of those forced; it is then not timed again, since that would only add
-- the difference from run to run.
CREATE FUNCTION measured(form text, radius integer, OUT estimate float8, OUT matches bigint,
    OUT chosen text, OUT chosen_took float8, OUT ordered_took float8, OUT index_took float8,
    OUT bitmap_took float8, OUT seq_took float8, OUT best_took float8)
LANGUAGE plpgsql AS $$
DECLARE
    operator text := (SELECT CASE atttypid WHEN 'bigint'::regtype THEN '<~>' ELSE '<~~>' END
        FROM pg_attribute WHERE attrelid = 't'::regclass AND attname = 'fp');
    distance text := (SELECT format('fp %s %L', operator, fp) FROM t WHERE id = 20);
    condition text := format('WHERE %s <= %s', distance, radius);
    ordering text := CASE WHEN form <> 'condition' THEN 'ORDER BY ' || distance END;
    cut text := 'LIMIT ' || substring(form FROM '[0-9]+$');
    is_text boolean := pg_typeof((SELECT fp FROM t LIMIT 1)) = 'text'::regtype;
    query text;
    picked record;
    forced record;
    wanted text;
    took float8;
    times jsonb := '{}';
BEGIN
    IF is_text THEN
        condition := format('WHERE fp =~~ %L', (SELECT fp FROM t WHERE id = radius));
    ELSIF radius IS NULL THEN
        condition := NULL;
    END IF;
    query := format('SELECT count(filler) FROM (%s) s',
        concat_ws(' ', 'SELECT filler FROM t', condition, ordering, cut));
    PERFORM force_plan('any');
    SELECT * INTO picked FROM plan_of(query);
    estimate := picked.estimate;
    chosen := picked.plan;
    FOREACH wanted IN ARRAY ARRAY['ordered', 'index', 'bitmap', 'seq'] LOOP
        PERFORM force_plan(wanted);
        SELECT * INTO forced FROM plan_of(query);
        CONTINUE WHEN forced.plan <> wanted;
        took := timed(query);
        times := times || jsonb_build_object(wanted, took);
        IF forced.shape = picked.shape THEN
            chosen_took := took;
        END IF;
    END LOOP;
    PERFORM force_plan('any');
    chosen_took := coalesce(chosen_took, timed(query));
    ordered_took := times -> 'ordered';
    index_took := times -> 'index';
    bitmap_took := times -> 'bitmap';
    seq_took := times -> 'seq';
    best_took := least(chosen_took, ordered_took, index_took, bitmap_took, seq_took);
    IF condition IS NOT NULL THEN
        EXECUTE 'SELECT count(*) FROM t ' || condition INTO matches;
    END IF;
END $$;
SQL

# build_table KIND ROWS: in `clustered`, 30 % of the rows lie within a bit of another; in `hot`, 5 %
# share one fingerprint; in `codes`, 30 % lie within 20 bits of another; in `texts`, 5 % are equal and
# 10 % are made from one template, with other names in it.
build_table() {
    run_psql -v kind="$1" -v rows="$2" <<'SQL'
SET client_min_messages = warning;
DROP TABLE IF EXISTS t;
SELECT :'kind' = 'codes' AS of_codes, :'kind' = 'texts' AS of_texts \gset
\if :of_texts
CREATE FUNCTION words(seed text, count integer) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(regexp_replace(md5(seed || ' ' || i), '(....)', '\1 ', 'g'), '') FROM generate_series(1, count) i $$;
CREATE UNLOGGED TABLE t (id integer, fp text, filler text);
INSERT INTO t
    SELECT i,
        CASE
            WHEN i % 20 = 0 THEN words('page', 50)
            WHEN i % 20 <= 2 THEN left(md5(i::text), 8) || ' ' || words('template', 10) || left(md5(i::text), 8)
            ELSE words('text ' || i, 10)
        END,
        repeat('x', 40)
    FROM generate_series(1, :rows) i;
DROP FUNCTION words;
\elif :of_codes
CREATE UNLOGGED TABLE t (id integer, fp bit(256), filler text);
INSERT INTO t
    SELECT i,
        CASE
            WHEN i % 10 >= 7
            THEN ('x' || md5('left ' || i - i % 10) || md5('right ' || i - i % 10))::bit(256)
                # (repeat('0', i % 230) || repeat('1', i % 20))::bit(256)
            ELSE ('x' || md5('left ' || i) || md5('right ' || i))::bit(256)
        END,
        repeat('x', 40)
    FROM generate_series(1, :rows) i;
\else
CREATE UNLOGGED TABLE t (id integer, fp bigint, filler text);
INSERT INTO t
    SELECT i,
        CASE
            WHEN :'kind' = 'clustered' AND i % 10 >= 7
            THEN ('x' || md5((i - i % 10)::text))::bit(64)::bigint # (1::bigint << (i % 64))
            WHEN :'kind' = 'hot' AND i % 20 = 0 THEN 4711
            ELSE ('x' || md5(i::text))::bit(64)::bigint
        END,
        repeat('x', 40)
    FROM generate_series(1, :rows) i;
\endif
CREATE INDEX t_fp ON t USING simhash (fp);
VACUUM ANALYZE t;
SQL
}

# statements KIND: those that measure a table, a line of the grid each.
statements() {
    local form radius radii conditions=$condition_radii orders=$ordered_radii
    if [ "$1" = codes ]; then
        conditions=$condition_radii_of_codes orders=$ordered_radii_of_codes
    fi
    [ "$1" != texts ] || conditions=$rows_of_texts
    for form in "${forms[@]}"; do
        [ "$1" != texts ] || [ "$form" = condition ] || continue
        case "$form" in
        condition) radii=$conditions ;;
        ordered*) radii=$orders ;;
        nearest*) radii=NULL ;;
        esac
        for radius in $radii; do
            printf "SELECT '%s', %s, m.* FROM measured('%s', %s) m;\n" \
                "$form" "$radius" "$form" "$radius"
        done
    done
}

# Lines of `statements` to lines of the grid, and below it what the whole comes to.
# shellcheck disable=SC2016
report='
    function known(value) { return value == "" ? "-" : value }
    function ms(time) { return time == "" ? "-" : sprintf("%.3f", time) }
    {
        kind = $1; rows = $2; form = $3; radius = $4; estimate = $5; matches = $6; chosen = $7
        took = $8; best = $13
        ratio = took / best
        # The shortest times differ by more than plans do.
        counts = took - best >= 0.1
        mark = (counts && ratio > threshold) ? "!" : " "
        least = estimate < matches ? estimate : matches
        if (matches != "" && estimate + matches - 2 * least > 10 && estimate + matches > 11 * least) {
            mark = mark "?"
            far_off++
        }
        printf("%-9s %8d %-12s %6s %8d %8s | %10s %10s %10s %10s %10s %6.2f%s %s\n", kind, rows,
            form, known(radius), estimate, known(matches), ms(took), ms($9), ms($10), ms($11),
            ms($12), ratio, mark, chosen)
        fflush()
        if (!(form in worst)) {
            names[++count] = form
            worst[form] = 1
        }
        if (counts && ratio > worst[form]) {
            worst[form] = ratio
            place[form] = kind ", " rows " rows"
            if (radius != "")
                place[form] = place[form] ", radius " radius
        }
    }
    END {
        print "\nworst ratio of the chosen plan to the best, differences below 0.1 ms apart:"
        for (i = 1; i <= count; i++) {
            form = names[i]
            printf("%-12s %6.2f  %s\n", form, worst[form], place[form])
            bad += (worst[form] > threshold)
        }
        if (bad)
            printf("above %s: %d of %d forms\n", threshold, bad, count)
        if (far_off)
            printf("estimates of rows that are far off: %d\n", far_off)
        exit (bad > 0 || far_off > 0 || count == 0)
    }'

printf '%-9s %8s %-12s %6s %8s %8s | %10s %10s %10s %10s %10s %6s  %s\n' data rows form radius \
    estimate true chosen ordered index bitmap seq ratio plan
for kind in "${kinds[@]}"; do
    for rows in "${sizes[@]}"; do
        [ "$kind" != texts ] || [ "$rows" -le 1000000 ] || continue
        build_table "$kind" "$rows"
        statements "$kind" | run_psql -At -F '|' | sed -u "s/^/$kind|$rows|/"
    done
done | awk -F '|' -v threshold="$threshold" "$report"
