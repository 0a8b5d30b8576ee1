#!/usr/bin/env python3
"""The speed bench's tables and plots: report.py RESULTS.json FOLDER [PAGE.md]

Prints the results in Markdown, the targets first, and writes FOLDER/*.svg and figures.md beside the results, which has every table. The
same results give the same files. With a page, puts the targets and the main figures between the page's lines BEGIN and END.
"""
import contextlib
import io
import json
import math
import os
import sys
import textwrap

BEGIN, END = "<!-- make bench writes from here -->", "<!-- to here -->"
INK, GRID = "#333", "#ddd"
COLOURS = {"simhash": "#c0392b", "scope": "#e59866",
           "pk": "#2471a3", "btree": "#5d6d7e", "four_btrees": "#1e8449", "gin": "#b7950b",
           "seqscan": "#7d3c98", "bktree": "#d35400", "pgvector": "#17a589"}


class Run:
    """The results of one run of bench.py."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.run = json.load(file)
        if self.run["format"] != 1:
            raise SystemExit(f"{path}: format {self.run['format']} is not known here")
        self.records = self.run["results"]
        self.methods = [m["key"] for m in self.run["methods"]]
        self.any_radius = {m["key"] for m in self.run["methods"] if m.get("any_radius")}
        self.titles = {m["key"]: m["title"] for m in self.run["methods"]}

    def median(self, measure, method, rows, data="clustered", **parameters):
        for record in self.find(measure, method, rows, data, **parameters):
            return record["median"]
        return None

    def find(self, measure, method, rows=None, data="clustered", **parameters):
        return [r for r in self.records
                if (r["measure"], r["method"], r["data"]) == (measure, method, data) and rows in (None, r["rows"])
                and all(r["parameters"].get(key) == value for key, value in parameters.items())]

    def ratio(self, measure, method, other, rows, **parameters):
        """Within the run; the median of the rounds' ratios, since they are interleaved."""
        above, below = (self.find(measure, key, rows, **parameters) for key in (method, other))
        if not above or not below:
            return None
        ratios = sorted(a / b for a, b in zip(above[0]["rounds"], below[0]["rounds"]))
        return (ratios[len(ratios) // 2] + ratios[(len(ratios) - 1) // 2]) / 2

    def quotient(self, measure, other, method, rows):
        """Of two medians of one method."""
        above, below = (self.median(m, method, rows) for m in (measure, other))
        return None if None in (above, below) else above / below


def number(value):
    """Three significant digits, thousands apart."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{round(value, digits):,.{digits}f}".replace(",", " ")


def count_words(rows):
    for unit, words in ((10**6, "million"), (10**3, "thousand")):
        if rows >= unit and rows % unit == 0:
            return f"{rows // unit} {words}"
    return number(rows)


# ---- targets ----

def targets(run):
    """(what, the target, its limit, the value measured, unit) at the largest size; None where it was not measured."""
    rows = max(run.run["rows"])
    smallest = min(run.run["rows"])
    probes = [f"probe{more}" for more in ("", ", 10 000 queries")]
    out = []
    for measure, words in zip(probes, ("1 000 queries", "10 000 queries")):
        out.append((f"probe inside the server, {words}", 8, run.median(measure, "simhash", rows, radius=3), "µs"))
        out.append((f"probe beside a primary-key lookup, {words}", 1.0, run.ratio(measure, "simhash", "pk", rows, radius=3), "×"))
        out.append((f"probe within a scope, beside an index without, {words}", 1.15,
                    run.ratio(measure, "scope", "simhash", rows, radius=3), "×"))
    out += [
        ("over the wire, one client, beside a primary-key lookup: mean latency", 1.15,
         run.ratio("wire: latency, mean", "simhash", "pk", rows, clients=1), "×"),
        ("over the wire, one client, beside a primary-key lookup: median latency", 1.15, run.ratio("wire: latency, 50 %", "simhash", "pk", rows, clients=1), "×"),
        ("index size, built", 28, run.median("size, built", "simhash", rows), "bytes/row"),
        ("index size, after random inserts", 36, run.median("size, random inserts", "simhash", rows), "bytes/row"),
        ("build, serial, beside a plain B-tree", 1.0, run.ratio("build, serial", "simhash", "btree", rows), "×"),
        ("build by 2 workers, beside the serial one", 0.6,
         run.quotient("build by 2 workers", "build, serial", "simhash", rows), "×"),
    ]
    inserted = sorted({r["rows"] for r in run.find("insert: INSERT … SELECT", "simhash", writers=1)})
    for rows_inserted in inserted:
        # Targets are for a million rows; another number is scaled.
        scale = 1e6 / rows_inserted
        for measure, limit, unit in (("insert: INSERT … SELECT", 10, "s"), ("insert: INSERT … SELECT, WAL", 500, "MB")):
            value = run.median(measure, "simhash", rows_inserted, writers=1)
            out.append((f"insert 1 million rows{'' if scale == 1 else ' (scaled)'}, {'WAL' if 'WAL' in measure else 'time'}",
                        limit, value * scale, unit))
    out.append(("a query that shares a block with a hot fingerprint, the worst block, beside one that shares none", 2,
                run.median("hot: worst block / none", "simhash", rows, "hot"), "×"))
    if smallest < rows:
        for measure, words in zip(probes, ("1 000 queries", "10 000 queries")):
            out.append((f"{count_words(smallest)} → {count_words(rows)} rows: a probe grows, {words}", 2,
                        run.median(measure.replace("probe", "probe grows"), "simhash", rows, radius=3), "×"))
    return out + [target for target in targets_of_sizes(run) + targets_of_codes(run) if target[2] is not None]


def targets_of_sizes(run):
    """The same, of one size each."""
    out = []
    rows, words = 10**7, "10 million rows"
    out += [(f"{words}: {what}", limit, run.ratio(measure, "simhash", "btree", rows, **parameters), "×") for what, limit, measure, parameters in (
        ("VACUUM after deleting 10 %, beside a plain B-tree", 1.5, "vacuum after deleting 10 %", {}),
        ("INSERT … SELECT, 4 writers, beside a plain B-tree", 1.8, "insert: INSERT … SELECT", {"writers": 4}),
        ("… WAL", 2, "insert: INSERT … SELECT, WAL", {"writers": 4}))]
    out.append((f"{words}: probe with PostgreSQL's default settings, beside a primary-key lookup", 1.7,
                run.ratio("defaults: probe, 10 000 queries", "simhash", "pk", rows, radius=3), "×"))
    out.append((f"{words}: 10 nearest of random fingerprints", 1500, run.median("nearest", "simhash", rows, count=10), "µs"))
    out += [(f"{words}: pairs, radius {radius}", limit, run.median("pairs", "simhash", rows, radius=radius, place="memory"), "s")
            for radius, limit in ((3, 2), (8, 60))]
    rows, words = 10**8, "100 million rows"
    out += [(f"{words}: {what}", limit, run.median(measure, "simhash", rows, **parameters), unit) for what, limit, measure, unit, parameters in (
        ("build, serial", 45, "build, serial", "s", {}),
        ("build by 2 workers", 30, "build by 2 workers", "s", {}),
        ("cold probe", 6, "cold: pages read", "pages", {"radius": 3}),
        ("pairs by temporary files", 60, "pairs", "s", {"radius": 3, "place": "files"}),
        ("clusters by temporary files", 60, "clusters, counted", "s", {"radius": 3, "place": "files"}))]
    return out


def targets_of_codes(run):
    """Of clustered codes; each size has its own."""
    out = []
    for rows, probe_256, probe_128 in ((10**6, 30, 100), (10**7, 120, 300), (10**8, 1000, None)):
        for bits, radius, limit in ((256, 31, probe_256), (128, 18, probe_128)):
            words, data = f"{count_words(rows)} rows: codes of {bits} bits", f"codes of {bits} bits, clustered"
            if limit is not None:
                out.append((f"{words}, within {radius}", limit, run.median("probe", "codes", rows, data, radius=radius), "µs"))
            out.append((f"{words}, rows missing of 10 000 queries", 0, run.median("rows missing of 10 000 queries", "codes", rows, data), "rows"))
    rows, data = 10**7, "codes of 256 bits, clustered"
    def beside(measure, other):
        above, below = (run.median(measure, key, rows, data) for key in ("codes", other))
        return None if None in (above, below) else above / below
    out += [("10 million rows: codes of 256 bits, within 31, beside the scan", 1e-4, beside("probe", "codes_scan"), "×"),
            ("10 million rows: codes of 256 bits, within 31, beside faiss's MultiHash", 1 / 30, beside("probe", "faiss_multihash"), "×"),
            ("10 million rows: codes of 256 bits, index size, built", 106, run.median("size, built", "codes", rows, data), "bytes/row"),
            ("10 million rows: codes of 256 bits, build, beside that of an index on bigint", 4, beside("build, serial", "bigint"), "×")]
    return out


def print_targets(run):
    print(f"Targets, at {count_words(max(run.run['rows']))} rows where not said, radius 3, warm:\n")
    print("| | target | measured | |\n|---|---|---|---|")
    for what, limit, value, unit in targets(run):
        if value is not None:
            print(f"| {what} | <= {limit:.4g} {unit} | {number(value)} {unit} | {'met' if value <= limit else '**missed**'} |")
        else:
            print(f"| {what} | <= {limit:.4g} {unit} | | not measured |")
    print()


# ---- the main figures ----

# The measurements that the page shows, of the clustered rows.
MAIN = ("probe, radius 3", "probe, radius 8", "probe, radius 12", "nearest, 10 nearest", "wire: latency, mean, clients: 1",
        "wire: throughput, clients: 8", "defaults: probe, 10 000 queries, radius 3", "cold: time (restarted, file cache dropped), radius 3",
        "build, serial", "build: memory, peak", "size, built", "insert: INSERT … SELECT, writers: 4", "vacuum after deleting 10 %", "pairs, radius 3, in memory")


def print_main_figures(run):
    """A line for each of them, at the most rows."""
    rows = max(run.run["rows"])
    found = {label: (unit, sizes[rows]) for (data, label, unit), sizes in measurements(run).items()
             if data == "clustered" and label in MAIN and rows in sizes}
    measured = [key for key in run.methods if any(key in cells for _, cells in found.values())]
    print(f"At {count_words(rows)} rows (`build/bench/figures.md` has all sizes and measurements):\n")
    print("| measured | unit | " + " | ".join(run.titles[key] for key in measured) + " |")
    print("|---|---" + "|--:" * len(measured) + "|")
    for label in (label for label in MAIN if label in found):
        unit, cells = found[label]
        print(f"| {label} | {unit} | " + " | ".join(cell(cells.get(key)) for key in measured) + " |")
    print()


# ---- the tables ----

# One table a question: its heading, and the measures in it by the words that they begin with. What is measured on data of another kind
# than the clustered rows has a table of its own.
QUESTIONS = (("Building", ("build", "size, built")),
             ("Searching within a radius", ("probe", "pages touched")),
             ("Finding the nearest", ("nearest",)),
             ("Over the wire", ("wire",)),
             ("With PostgreSQL's default settings", ("defaults",)),
             ("With nothing in memory", ("cold",)),
             ("Pairs, clusters and joins of a whole table", ("pairs", "clusters", "join")),
             ("Inserting, deleting, vacuuming", ("insert", "size, ", "vacuum")))
OTHER_DATA = {"hot": "Beside a hot fingerprint", "documents": "Texts of the system's documentation"} | {
    codes: codes[0].upper() + codes[1:] for codes in (
        *(f"codes of 256 bits, {kind}" for kind in ("random", "clustered", "pdq", "dhash")), "codes of 128 bits, clustered",
        "codes of 256 bits, pdq, that come and go")}


def row_key(record):
    shown = {key: value for key, value in record["parameters"].items() if key != "queries"}
    words = {"radius": "radius {}", "effort": "ef_search {}", "count": "{} nearest", "clients": "clients: {}", "writers": "writers: {}", "block": "block {}",
             "place": "in {}"}
    label = ", ".join([record["measure"]] + [words[key].format(value) for key, value in shown.items()])
    return record["data"], label, record["unit"]


def question(data, label):
    if data in OTHER_DATA:
        return OTHER_DATA[data]
    return next((heading for heading, beginnings in QUESTIONS if label.startswith(beginnings)), "Other measurements")


def measurements(run):
    """{(data, label, unit): {rows: {method: record}}}"""
    lines = {}
    for record in run.records:
        lines.setdefault(row_key(record), {}).setdefault(record["rows"], {})[record["method"]] = record
    return lines


def print_tables(lines, methods, titles):
    """A table for each question, with the methods that were measured for it."""
    headings = {}
    for key, sizes in lines.items():
        headings.setdefault(question(*key[:2]), []).append((key, sizes))
    order = [heading for heading, _ in QUESTIONS] + [*OTHER_DATA.values(), "Other measurements"]
    for heading in sorted(headings, key=order.index):
        print(f"### {heading}\n")
        print_table(headings[heading], methods, titles)


def print_table(lines, methods, titles):
    """A line for each measurement and number of rows. The last column says how much simhash's figure grows from the fewest rows to the
    most."""
    measured = [key for key in methods if any(key in cells for _, sizes in lines for cells in sizes.values())]
    growth = [growth_of(sizes) for _, sizes in lines]
    titles = [titles[key] for key in measured] + (["simhash grows"] if any(growth) else [])
    print("| measured | rows | unit | " + " | ".join(titles) + " |")
    print("|---|--:|---" + "|--:" * len(titles) + "|")
    for ((_, label, unit), sizes), grown in zip(lines, growth):
        for rows, cells in sorted(sizes.items()):
            last = [grown if rows == max(sizes) else ""] if any(growth) else []
            print(f"| {label} | {number_of_rows(rows)} | {unit} | " + " | ".join([cell(cells.get(key)) for key in measured] + last) + " |")
    print()


def growth_of(sizes):
    few, many = (sizes[rows].get("simhash") or sizes[rows].get("codes") for rows in (min(sizes), max(sizes)))
    return number(many["median"] / few["median"]) + " ×" if few and many and few is not many and few["median"] else ""


def number_of_rows(rows):
    return f"{rows:,}".replace(",", " ")


def cell(record):
    if record is None:
        return ""
    queries = record["parameters"].get("queries")
    few = f" ({queries} queries)" if queries and queries < 1000 else ""
    return number(record["median"]) + few


def print_circumstances(run, methods):
    machine, versions = run.run["machine"], run.run["versions"]
    print(f"Measured {run.run['date']} in {run.run['seconds'] / 60:.0f} minutes: {machine['cores']} cores, {machine['cpu']}, "
          f"{machine['memory_bytes'] / 2**30:.0f} GB memory; PostgreSQL {versions['postgresql'].split()[0]}, simhash {versions['simhash']}. "
          "Settings: " + ", ".join(f"`{key} = {value}`" for key, value in run.run["settings"].items()) + ".\n")
    print("Methods:\n")
    for method in run.run["methods"]:
        if method["key"] in methods:
            print(f"- **{method['title']}**: {method['note']}")
    print("\nEach figure is the median of interleaved rounds. A figure of fewer than 1 000 queries says how many. "
          "MB are 10^6 bytes.\n")


# ---- plots ----

def text(x, y, words, anchor="start", size=11, turned=False):
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{INK}"{turn}>{words}</text>'


class Axis:
    """Maps values to a range of the picture, by their logarithms if so wished."""

    def __init__(self, values, begin, end, logarithmic, from_zero=False):
        self.logarithmic, self.begin, self.end = logarithmic, begin, end
        if logarithmic:
            self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        else:
            self.low, self.high = 0 if from_zero else min(values), max(values)
        if self.low == self.high:
            self.high += 1

    def __call__(self, value):
        value = math.log10(value) if self.logarithmic else value
        return self.begin + (self.end - self.begin) * (value - self.low) / (self.high - self.low)

    def decades(self):
        return [10.0 ** i for i in range(int(self.low), int(self.high) + 1)]


def nice_steps(greatest):
    step = 10 ** math.floor(math.log10(greatest / 4))
    step *= next(f for f in (1, 2, 5, 10) if greatest / (step * f) <= 6)
    return [i * step for i in range(int(greatest / step) + 1)]


def plot(path, run, title, x_label, y_label, series, x_ticks, log_x, log_y):
    """series: {method: [(x, y)]}. Dashed: one measurement, which holds for every radius."""
    series = {key: sorted(points) for key, points in series.items() if points}
    if not series:
        return
    left, top, width, height = 70, 44, 520, 280
    across = Axis(x_ticks, left + 10, left + width - 10, log_x)
    if log_x:
        across.low, across.high = math.log10(min(x_ticks)), math.log10(max(x_ticks))
        if across.low == across.high:
            across.low, across.high = across.low - 1, across.high + 1
    ys = [y for points in series.values() for _, y in points]
    up = Axis(ys, top + height, top, log_y, from_zero=True)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 220}" height="{top + height + 60}" font-family="sans-serif">',
           f"<title>{title}</title>", '<rect width="100%" height="100%" fill="white"/>', text(left, 24, title, size=14)]
    for y in up.decades() if log_y else nice_steps(up.high):
        out.append(f'<line x1="{left}" x2="{left + width}" y1="{up(y):.1f}" y2="{up(y):.1f}" stroke="{GRID}"/>')
        out.append(text(left - 6, up(y) + 4, f"{y:,g}".replace(",", " ") if y < 1e5 else f"10^{math.log10(y):.0f}", "end", 10))
    for x in x_ticks:
        out.append(text(across(x), top + height + 16, count_words(x) if log_x else f"{x:g}", "middle", 10))
    out.append(text(left + width / 2, top + height + 40, x_label, "middle"))
    out.append(text(18, top + height / 2, y_label, "middle", turned=True))
    for i, (key, points) in enumerate(series.items()):
        dashed = ' stroke-dasharray="5 4"' if not log_x and key in run.any_radius else ""
        drawn = points if not dashed else [(x, points[0][1]) for x in (min(x_ticks), max(x_ticks))]
        line = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in drawn)
        out.append(f'<polyline fill="none" stroke="{COLOURS[key]}" stroke-width="2"{dashed} points="{line}"/>')
        out += [f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3" fill="{COLOURS[key]}"/>' for x, y in points]
        y = top + 14 + 18 * i
        out.append(f'<line x1="{left + width + 14}" x2="{left + width + 38}" y1="{y - 4}" y2="{y - 4}" stroke="{COLOURS[key]}" '
                   f'stroke-width="2"{dashed}/>')
        out.append(text(left + width + 44, y, run.titles[key] + (" (any radius)" if dashed else "")))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out + ["</svg>", ""]))


def by(run, parameter, measure, only_rows=None, **parameters):
    """{method: [(x, median)]}, x the number of rows or a parameter."""
    return {key: [(r["rows"] if parameter == "rows" else r["parameters"][parameter], r["median"])
                  for r in run.find(measure, key, only_rows, **parameters)] for key in run.methods}


def write_plots(run, folder):
    os.makedirs(folder, exist_ok=True)
    sizes, largest = sorted(run.run["rows"]), max(run.run["rows"])
    plot(os.path.join(folder, "latency-rows.svg"), run, "One probe inside the server, radius 3, against rows", "rows", "µs",
         by(run, "rows", "probe", radius=3), sizes, True, True)
    plot(os.path.join(folder, "size-rows.svg"), run, "Index size as built, against rows", "rows", "bytes per row",
         by(run, "rows", "size, built"), sizes, True, False)
    radii = sorted({r["parameters"]["radius"] for r in run.find("probe", "simhash", largest)})
    if radii:
        plot(os.path.join(folder, "time-radius.svg"), run, f"One probe inside the server, {count_words(largest)} rows, against the radius",
             "radius (bits)", "µs", by(run, "radius", "probe", largest), radii, False, True)


def wrapped(words):
    """The Markdown with lines of at most 100 columns, rows of tables excepted."""
    lines = []
    for line in words.splitlines():
        rest = "  " if line.startswith("- ") else ""
        lines += [line] if line.startswith("|") or len(line) <= 100 else textwrap.wrap(
            line, 100, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def write_page(path, words):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    before, _, rest = page.partition(BEGIN + "\n")
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"{path} has no lines {BEGIN} and {END}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + "\n\n" + wrapped(words) + END + after)


def write_figures(path, run, tables):
    with open(path, "w", encoding="utf-8") as file:
        file.write(wrapped(
            "# Every figure of the speed bench\n\n"
            "`make bench` writes this page. docs/performance.md describes the machine, the methods and the parts. "
            f"Measured {run.run['date']}, simhash {run.run['versions']['simhash']}.\n\n" + tables.replace("### ", "## ").rstrip("\n")))


def printed_by(*functions):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        for function in functions:
            function()
    return out.getvalue()


def main():
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    run = Run(sys.argv[1])
    above = printed_by(lambda: print_circumstances(run, run.methods), lambda: print_targets(run))
    tables = printed_by(lambda: print_tables(measurements(run), run.methods, run.titles))
    sys.stdout.write(above + tables)
    write_plots(run, sys.argv[2])
    write_figures(os.path.join(os.path.dirname(sys.argv[1]), "figures.md"), run, tables)
    if len(sys.argv) == 4:
        # The page has a table of its own for codes.
        of_fingerprints = {record["method"] for record in run.records if record["data"] == "clustered"}
        write_page(sys.argv[3], printed_by(lambda: print_circumstances(run, of_fingerprints), lambda: print_main_figures(run)))


main()
