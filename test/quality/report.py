#!/usr/bin/env python3
"""The quality bench's table and plots: report.py RESULTS.tsv FOLDER

Prints the table in Markdown and writes FOLDER/*.svg from what measure printed.
"""
import collections
import os
import sys

RADIUS = 3
INK, GRID = "#333", "#ddd"
COLOURS = ["#c0392b", "#2471a3", "#1e8449", "#b7950b", "#7d3c98", "#5d6d7e"]


def read(path):
    results = collections.defaultdict(dict)
    with open(path, encoding="utf-8") as file:
        for line in file:
            kind, corpus, *fields = line.rstrip("\n").split("\t")
            if kind == "corpus":
                results["corpus"][corpus] = [int(field) for field in fields]
            elif kind in ("pairs", "edit"):
                results[kind][corpus, fields[0], fields[1]] = [float(field) for field in fields[2:]]
            else:
                results[kind][corpus, fields[0]] = [float(field) for field in fields[1:]]
    return results


def f1(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def short(number):
    return f"{number:.2f}".replace("0.", ".", 1) if number < 1 else "1.0"


def names(results):
    corpora = list(results["corpus"])
    return corpora, list(dict.fromkeys(key[1] for key in results["pairs"]))


def mean_f1(results, corpora, candidate, radius):
    return sum(f1(*results["pairs"][corpus, candidate, str(radius)]) for corpus in corpora) / len(corpora)


def pair_table(results):
    corpora, candidates = names(results)
    print("| features, weights | " + " | ".join(corpora) + " | mean F1 |")
    print("|---" * (len(corpora) + 2) + "|")
    for candidate in candidates:
        cells = []
        for corpus in corpora:
            precision, recall = results["pairs"][corpus, candidate, str(RADIUS)]
            cells.append(f"{short(precision)} / {short(recall)} = {short(f1(precision, recall))}")
        print(f"| {candidate} | " + " | ".join(cells) +
              f" | **{mean_f1(results, corpora, candidate, RADIUS):.3f}** |")
    print("\nMean F1 at each radius:\n")
    print("| features, weights | " + " | ".join(f"k = {k}" for k in range(11)) + " |")
    print("|---" * 12 + "|")
    for candidate in candidates:
        print(f"| {candidate} | " +
              " | ".join(short(mean_f1(results, corpora, candidate, k)) for k in range(11)) + " |")
    print("\nThe corpora:\n\n| corpus | documents | pairs with J >= .8 | pairs with .5 <= J < .8 |\n|---|---|---|---|")
    for corpus in corpora:
        print(f"| {corpus} | " + " | ".join(str(count) for count in results["corpus"][corpus]) + " |")


def edit_table(results):
    corpora, candidates = names(results)
    edits = list(dict.fromkeys(key[2] for key in results["edit"]))
    print(f"\nShare of edited copies within {RADIUS}, mean over the corpora:\n")
    print("| features, weights | " + " | ".join(edits) + " |")
    print("|---" * (len(edits) + 1) + "|")
    for candidate in candidates:
        cells = [sum(results["edit"][corpus, candidate, edit][RADIUS] for corpus in corpora) / len(corpora)
                 for edit in edits]
        print(f"| {candidate} | " + " | ".join(map(short, cells)) + " |")


def bit_table(results):
    corpora, candidates = names(results)
    print("\nBits: the least and greatest share of ones that any of the 64 bits has (mean over the corpora), and "
          "the distinct values of the leading 16 bits as a share of what random fingerprints would have:\n")
    print("| features, weights | least | greatest | leading 16 bits |\n|---|---|---|---|")
    for candidate in candidates:
        least = [min(results["ones"][corpus, candidate]) for corpus in corpora]
        greatest = [max(results["ones"][corpus, candidate]) for corpus in corpora]
        leading = [results["leading"][corpus, candidate] for corpus in corpora]
        print(f"| {candidate} | {short(sum(least) / len(least))} | {short(sum(greatest) / len(greatest))} | "
              f"{short(sum(have / best for have, best in leading) / len(leading))} |")


# ---- plots: small multiples, one panel per corpus ----

def polyline(points, colour, dashed=False):
    dash = ' stroke-dasharray="4 3"' if dashed else ""
    return (f'<polyline fill="none" stroke="{colour}" stroke-width="1.6"{dash} points="' +
            " ".join(f"{x:.1f},{y:.1f}" for x, y in points) + '"/>')


def label(x, y, words, anchor="start", size=11):
    return f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="{INK}">{words}</text>'


def panel(left, top, width, height, title, x_labels, lines):
    """lines: (values from 0 to 1, colour, dashed)."""
    out = [label(left, top - 6, title, size=12)]
    for share in (0, .5, 1):
        y = top + height * (1 - share)
        out.append(f'<line x1="{left}" x2="{left + width}" y1="{y}" y2="{y}" stroke="{GRID}"/>')
        out.append(label(left - 4, y + 4, f"{share:g}", "end", 9))
    for share, words in x_labels:
        out.append(label(left + width * share, top + height + 12, words, "middle", 9))
    for values, colour, dashed in lines:
        step = width / (len(values) - 1)
        out.append(polyline([(left + i * step, top + height * (1 - value)) for i, value in enumerate(values)],
                            colour, dashed))
    return "\n".join(out)


def write_panels(path, title, panels, legend):
    """panels: (title, x labels, lines)."""
    columns, width, height = 3, 250, 110
    rows = (len(panels) + columns - 1) // columns
    total_height = 60 + rows * (height + 50) + 16 * len(legend)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{columns * (width + 50) + 20}" '
           f'height="{total_height}" font-family="sans-serif">',
           '<rect width="100%" height="100%" fill="white"/>', label(30, 22, title, size=14)]
    for i, (name, x_labels, lines) in enumerate(panels):
        out.append(panel(40 + i % columns * (width + 50), 58 + i // columns * (height + 50), width, height,
                         name, x_labels, lines))
    for i, (words, colour, dashed) in enumerate(legend):
        y = 58 + rows * (height + 50) + 16 * i
        out.append(polyline([(40, y - 4), (70, y - 4)], colour, dashed))
        out.append(label(78, y, words))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out + ["</svg>", ""]))


def plot_pairs(results, folder):
    corpora, candidates = names(results)
    shown = candidates[:6]
    x_labels = [(k / 10, str(k)) for k in range(0, 11, 2)]
    for which, word in enumerate(("precision", "recall")):
        panels = [(corpus, x_labels,
                   [([results["pairs"][corpus, candidate, str(k)][which] for k in range(11)], colour, False)
                    for candidate, colour in zip(shown, COLOURS)]) for corpus in corpora]
        write_panels(os.path.join(folder, word + ".svg"), f"{word.capitalize()} of distance <= k, against k",
                     panels, [(candidate, colour, False) for candidate, colour in zip(shown, COLOURS)])


def plot_distances(results, folder):
    corpora, candidates = names(results)
    panels = []
    for corpus in corpora:
        counts = results["distances"][corpus, candidates[0]]
        lines = []
        for begin, colour in ((0, COLOURS[0]), (65, COLOURS[1])):
            part = counts[begin:begin + 65]
            greatest = max(part) or 1
            lines.append(([count / greatest for count in part], colour, False))
        panels.append((corpus, [(d / 64, str(d)) for d in range(0, 65, 16)], lines))
    write_panels(os.path.join(folder, "distances.svg"),
                 "Distances of pairs (the default; each curve has its greatest value at 1)", panels,
                 [("near-duplicates, J >= .8", COLOURS[0], False), ("others, J < .5", COLOURS[1], False)])


def plot_bits(results, folder):
    corpora, candidates = names(results)
    panels = [(corpus, [(bit / 63, str(63 - bit)) for bit in (0, 16, 32, 48, 63)],
               [(results["ones"][corpus, candidates[0]], COLOURS[0], False),
                (results["ones"][corpus, candidates[1]], COLOURS[1], True)]) for corpus in corpora]
    write_panels(os.path.join(folder, "bits.svg"),
                 "Share of fingerprints with a 1, by bit, the leading bit on the left", panels,
                 [(candidates[0], COLOURS[0], False), (candidates[1], COLOURS[1], True)])


def main():
    results = read(sys.argv[1])
    os.makedirs(sys.argv[2], exist_ok=True)
    pair_table(results)
    edit_table(results)
    bit_table(results)
    for plot in (plot_pairs, plot_distances, plot_bits):
        plot(results, sys.argv[2])


main()
