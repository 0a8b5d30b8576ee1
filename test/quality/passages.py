#!/usr/bin/env python3
"""How well passages tell copies from strangers, on a set that its authors have labelled: passages.py FOLDER

The Free On-line Dictionary of Computing says of an entry where it was taken from. Those that name the
Jargon File, and have its headword, are compared with the entry there (Debian: dict-foldoc, dict-jargon),
and each with the Jargon File's entry of another headword, as a control. build/compare_texts compares them
by the library's own code: similarity and containment of shingles of three words, longest common run.
"""
import gzip
import os
import re
import subprocess
import sys

import corpora

DIGITS = {c: i for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}
FILES = {"dict-foldoc": "foldoc", "dict-jargon": "jargon"}
LEAST_WORDS = 16  # of an entry: fewer have no passage


def number(digits):
    value = 0
    for digit in digits:
        value = value * 64 + DIGITS[digit]
    return value


def entries(folder, package):
    """A dictionary's entries by headword, in lower case, without the line of the headword."""
    base = os.path.join(corpora.unpacked(folder, package, "bookworm"), "usr/share/dictd", FILES[package])
    with gzip.open(base + ".dict.dz") as file:
        text = file.read()
    found = {}
    with open(base + ".index", encoding="utf-8") as index:
        for line in index:
            word, offset, length = line.rstrip("\n").split("\t")[:3]
            if not word.startswith("00-database"):
                body = text[number(offset):number(offset) + number(length)].decode("utf-8")
                found.setdefault(word.lower(), body.partition("\n")[2])
    return found


def labelled(foldoc, jargon):
    """(entry, its source) for those that name the Jargon File; the label itself is left out."""
    for word in sorted(foldoc):
        if "[{Jargon File}" in foldoc[word] and word in jargon:
            pair = (re.sub(r"\[\{Jargon File\}[^]]*\]", "", foldoc[word]), jargon[word])
            if all(len(text.split()) >= LEAST_WORDS for text in pair):
                yield pair


def compared(pairs):
    """For each pair its similarity, the containment of the first in the second, the longest run."""
    given = b"".join(text.encode("utf-8") + b"\0" for pair in pairs for text in pair)
    done = subprocess.run(["build/compare_texts"], input=given, stdout=subprocess.PIPE, check=True)
    return [tuple(map(float, line.split())) for line in done.stdout.splitlines()]


def main():
    [folder] = sys.argv[1:]
    targets = {package: corpora.unpacked(folder, package, "bookworm") for package in FILES}
    os.makedirs(os.path.join(folder, "x"), exist_ok=True)
    corpora.Apt(folder).unpack("bookworm", targets)
    pairs = list(labelled(*(entries(folder, package) for package in FILES)))
    sources = [source for _, source in pairs]
    # A third of the list away: another letter.
    away = len(pairs) // 3
    controls = [(entry, sources[(i + away) % len(pairs)]) for i, (entry, _) in enumerate(pairs)]
    of_pairs, of_controls = compared(pairs), compared(controls)
    print(f"{len(pairs)} entries of FOLDOC that name the Jargon File, and as many controls:\n")
    print("| condition | of the entries | of the controls |\n|---|--:|--:|")
    rows = [(f"similarity >= {s}", lambda r, s=s: r[0] >= s) for s in (.8, .5)]
    rows += [(f"containment >= {s}", lambda r, s=s: r[1] >= s) for s in (.8, .5)]
    rows += [(f"a run of {n} words", lambda r, n=n: r[2] >= n) for n in (8, 12, 16, 32)]
    for name, holds in rows:
        shares = [sum(map(holds, results)) / len(results) for results in (of_pairs, of_controls)]
        print(f"| {name} | {shares[0]:.3f} | {shares[1]:.3f} |".replace("0.", "."))


main()
