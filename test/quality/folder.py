#!/usr/bin/env python3
"""How well fingerprints find the near-duplicates in a folder of yours: folder.py FOLDER WORK

Takes the text files in FOLDER and below (UTF-8, of 20 bytes to 1 MB, at most 4 000 of them), compares
every two of them exactly and by each form of fingerprint, and prints a table; WORK/folder.svg is a
plot. Needs build/measure (`make quality-of FOLDER=...`).
"""
import hashlib
import os
import subprocess
import sys

import report

MOST, LEAST_BYTES, GREATEST_BYTES = 4000, 20, 1_000_000
FORMS = ("minhash", "default: words, balanced", "characters 3, balanced", "words, log",
         "word 3-shingles, binary")
RADII = (0, 3, 4, 6, 7, 8, 9, 10, 12)


def paths(folder):
    """In an order that has nothing to do with their names, so that the first are a sample."""
    found = [os.path.join(top, name) for top, _, names in os.walk(folder) for name in names]
    return sorted(found, key=lambda path: hashlib.sha256(path.encode(errors="replace")).digest())


def texts(folder):
    for path in paths(folder):
        if (os.path.isfile(path) and not os.path.islink(path) and
                LEAST_BYTES <= os.path.getsize(path) <= GREATEST_BYTES):
            with open(path, "rb") as file:
                data = file.read()
            try:
                data.decode("utf-8")
            except UnicodeDecodeError:
                continue
            if b"\0" not in data:
                yield data


def main():
    if len(sys.argv) != 3 or not os.path.isdir(sys.argv[1]):
        sys.exit("folder.py: name a folder of documents: make quality-of FOLDER=...")
    folder, work = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    corpus, results = os.path.join(work, "unseen-folder"), os.path.join(work, "results.tsv")
    count = 0
    with open(corpus, "wb") as file:
        for count, text in zip(range(1, MOST + 1), texts(folder)):
            file.write(text + b"\0")
    if count < 2:
        sys.exit(f"folder.py: {folder} has {count} text files; two are the least")
    with open(results, "wb") as file:
        subprocess.run(["build/measure", corpus], stdout=file, check=True)
    measured = report.Results(results).unseen
    name = os.path.basename(corpus)
    near = measured.near[name]
    print(f"{count} documents, {near} pairs with J >= .8, {measured.between[name]} with "
          ".5 <= J < .8")
    rows = []
    for form in FORMS:
        for k in RADII:
            triple = measured.counts[name, form][k]
            rows.append([form, str(k), report.short(triple[0] / near) if near else "",
                         f"{triple[0]:.0f}", f"{triple[1]:.0f}", f"{triple[2]:.0f}",
                         report.short(report.as_found(triple, near)) if near else ""])
    report.table("What each form finds within each radius; strangers are pairs with J < .5:",
                 ["form", "radius", "recall", "near-duplicates", "between", "strangers", "F1"],
                 rows)
    x_labels = [(k / 12, str(k)) for k in range(0, 13, 2)]
    panels = []
    for title, figure in (("recall", lambda triple: triple[0] / near if near else 0),
                          ("precision", report.precision),
                          ("F1", lambda triple: report.as_found(triple, near))):
        panels.append((title, x_labels, [
            ([figure(triple) for triple in measured.counts[name, form]], colour, False)
            for form, colour in zip(FORMS, report.COLOURS)]))
    plot = os.path.join(work, "folder.svg")
    report.write_panels(plot, "Of pairs at distance <= k, against k", panels,
                        [(form, colour, False) for form, colour in zip(FORMS, report.COLOURS)])
    print(f"\n{plot} has the plot.")


main()
