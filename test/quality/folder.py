#!/usr/bin/env python3
"""How well near-duplicates are found in a folder of yours: folder.py FOLDER WORK

Takes the text files in FOLDER and below (UTF-8, of 20 bytes to 1 MB). Prints how many pairs of them
share .5, .6 ... .9 of their shingles, by an exact join, how many of these near_duplicate() and
MinHash find, and how many pairs they compare. Then compares every two of 4 000 of the files by each
form of fingerprint, and prints a table; WORK/folder.svg is a plot. Needs build/measure (`make
quality-of FOLDER=...`).
"""
import hashlib
import os
import subprocess
import sys

import report

SAMPLE, LEAST_BYTES, GREATEST_BYTES = 4000, 20, 1_000_000
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


def measure(target, *arguments):
    with open(target, "wb") as file:
        subprocess.run(["build/measure", *arguments], stdout=file, check=True)


def print_found(results):
    """What `measure --found` has counted, a row for each similarity."""
    rows = {}
    with open(results, encoding="utf-8") as file:
        for line in file:
            _, percent, _, pairs, found, pairs_at, found_at, compared = line.split("\t")
            row = rows.setdefault(percent, [f".{percent[0]}", pairs])
            row += [share(found, pairs), share(found_at, pairs_at), compared.rstrip()]
    report.table("Pairs of that similarity or more; which share of them is found, and of those that "
                 "have up to .025 more; pairs compared:",
                 ["similarity", "pairs", "near_duplicate", "at it", "compared",
                  "MinHash, 16 bands of 8", "at it", "compared"], rows.values())


def share(found, pairs):
    return report.short(int(found) / int(pairs), 4) if int(pairs) else ""


def main():
    if len(sys.argv) != 3 or not os.path.isdir(sys.argv[1]):
        sys.exit("folder.py: name a folder of documents: make quality-of FOLDER=...")
    folder, work = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    every, sample, found, results = (os.path.join(work, name) for name in (
        "folder", "unseen-folder", "found.tsv", "results.tsv"))
    count = size = 0
    with open(every, "wb") as file, open(sample, "wb") as of_sample:
        for count, text in enumerate(texts(folder), 1):
            file.write(text + b"\0")
            size += len(text)
            if count <= SAMPLE:
                of_sample.write(text + b"\0")
    if count < 2:
        sys.exit(f"folder.py: {folder} has {count} text files; two are the least")
    measure(found, "--found", every)
    os.remove(every)
    print(f"{count} documents, {size / 1e6:.0f} MB\n")
    print_found(found)
    measure(results, sample)
    measured = report.Results(results).unseen
    name = os.path.basename(sample)
    near = measured.near[name]
    print(f"{min(count, SAMPLE)} documents, {near} pairs with J >= .8, {measured.between[name]} with "
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
