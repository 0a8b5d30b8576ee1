#!/usr/bin/env python3
"""How well passages tell copies from strangers, on two sets that their authors have labelled: passages.py FOLDER

The Free On-line Dictionary of Computing says of an entry where it was taken from. Those that name the
Jargon File, and have its headword, are compared with the entry there (Debian: dict-foldoc, dict-jargon),
and each with the Jargon File's entry of another headword, as a control.

The copyright files of this machine's packages name the licences whose texts they hold. Those that name the
Expat licence, one of each source, are compared with each other, and as a control with files that name none of
their licences, but some whose text is another: Expat's goes by many names.

Of pairs of which one text has .8 of the other's shingles it counts those that also have a run of words in common.

build/compare_texts compares texts by the library's own code: similarity and containment of shingles of three
words, longest common run.
"""
import collections
import glob
import gzip
import os
import re
import subprocess
import sys

import corpora

DIGITS = {c: i for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}
FILES = {"dict-foldoc": "foldoc", "dict-jargon": "jargon"}
LEAST_WORDS = 16  # of an entry: fewer have no passage
OF_OTHER_TEXT = {"GPL", "LGPL", "AGPL", "GFDL", "Artistic", "Apache", "MPL", "CC", "OFL"}  # than Expat's


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


def copyright_files():
    """Machine-readable copyright files, one of each source, and the licences that they name, by families."""
    found = {}
    for path in sorted(glob.glob("/usr/share/doc/*/copyright")):
        text = corpora.read(path)
        if re.match(r"Format: .*copyright-format", text):
            families = frozenset(re.findall(r"^License: *([A-Za-z]+)", text, re.M))
            found.setdefault(text[:400], (text, families))
    return list(found.values())


def licence_pairs():
    """Pairs of files that name Expat, and pairs that have no licence in common."""
    files = copyright_files()
    named = [file for file in files if "Expat" in file[1]]
    controls = [(text, other) for i, (text, families) in enumerate(named)
                for other, others in (files[i:] + files[:i]) if others <= OF_OTHER_TEXT and not families & others]
    return [(a[0], b[0]) for a, b in zip(named, named[1:] + named[:1])], controls[::max(1, len(controls) // len(named))]


def licence_texts():
    """The texts and headers of licences in the copyright files of this machine, and these files."""
    files = sorted({corpora.read(path) for path in glob.glob("/usr/share/doc/*/copyright")})
    paragraph = re.compile(r"^License: .*\n((?:[ \t].*\n)+)", re.M)
    return sorted({text for file in files for text in paragraph.findall(file)}), files


def mostly_in(texts, others):
    """Pairs of a text and one of the others that has most of its rare shingles, by Python's words."""
    def shingles(text):
        words = re.findall(r"[^\W_]+", text.lower())
        return set(zip(words, words[1:], words[2:])) if len(words) >= LEAST_WORDS else set()
    having = collections.defaultdict(list)
    for i, other in enumerate(others):
        for shingle in shingles(other):
            having[shingle].append(i)
    for text in texts:
        # A third of a text's shingles cannot be without one of .8 of them: the rarest are enough.
        rarest = sorted(shingles(text), key=lambda shingle: len(having[shingle]))
        rarest = rarest[:len(rarest) // 3 + 1]
        for i in {i for shingle in rarest for i in having[shingle]}:
            if others[i] != text:
                yield text, others[i]


def report_contained(what, pairs):
    """Of the pairs with a containment of .8, how many the condition on passages finds."""
    runs = [run for _, containment, run in compared(pairs) if containment >= .8]
    print(f"{len(runs)} {what}, of which are found by\n")
    for words in (8, 12, 16, 32):
        print(f"- a run of {words} words: {sum(run >= words for run in runs) / len(runs):.3f}")
    print()


def report(what, pairs, controls):
    of_pairs, of_controls = compared(pairs), compared(controls)
    print(f"{len(pairs)} {what}, and {len(controls)} controls:\n")
    print("| condition | of the pairs | of the controls |\n|---|--:|--:|")
    rows = [(f"similarity >= {s}", lambda r, s=s: r[0] >= s) for s in (.8, .5)]
    rows += [(f"containment >= {s}", lambda r, s=s: r[1] >= s) for s in (.8, .5)]
    rows += [(f"a run of {n} words", lambda r, n=n: r[2] >= n) for n in (8, 12, 16, 32)]
    for name, holds in rows:
        shares = [sum(map(holds, results)) / len(results) for results in (of_pairs, of_controls)]
        print(f"| {name} | {shares[0]:.3f} | {shares[1]:.3f} |".replace("0.", "."))
    print()


def main():
    folder = os.path.abspath(sys.argv[1])  # apt-get runs in a folder of its own
    targets = {package: corpora.unpacked(folder, package, "bookworm") for package in FILES}
    os.makedirs(os.path.join(folder, "x"), exist_ok=True)
    corpora.Apt(folder).unpack("bookworm", targets)
    pairs = list(labelled(*(entries(folder, package) for package in FILES)))
    sources = [source for _, source in pairs]
    # A third of the list away: another letter.
    away = len(pairs) // 3
    report("entries of FOLDOC with the entry of the Jargon File that they name", pairs,
           [(entry, sources[(i + away) % len(pairs)]) for i, (entry, _) in enumerate(pairs)])
    report("copyright files with another that names the same licence", *licence_pairs())
    foldoc, jargon = (list(entries(folder, package).values()) for package in FILES)
    report_contained("pairs of an entry of the Jargon File and one of FOLDOC that has .8 of its shingles",
                     list(mostly_in(jargon, foldoc)))
    texts, files = licence_texts()
    report_contained("pairs of a licence's text or header and a copyright file that has .8 of its shingles",
                     list(mostly_in(texts[::10], files)))


main()
