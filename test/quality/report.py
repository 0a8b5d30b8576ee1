#!/usr/bin/env python3
"""The quality bench's tables and plots: report.py RESULTS.tsv FOLDER

Prints a page with the tables, in Markdown, and writes FOLDER/*.svg from what measure printed.

Means are over kinds of documents, and in a kind over its corpora. What is chosen (a radius, a
weighting) is chosen for each kind by the figures of the other kinds. Intervals are of 95 %.
"""
import collections
import copy
import os
import random
import sys
import textwrap

RADIUS = 3
RADII = range(13)
WIDE = (3, 6, 8, 10, 12)  # radii of which is told what they find before verification
RECALLS = (.8, .9, .95, .99)  # of which is told what radius finds as many
BY_LENGTH = "pieces"  # a kind that is shown by itself: paragraphs of other kinds' texts by length
# Groups of kinds that are shown by themselves, too: nothing was chosen on the first; the second has
# what people change in a script without writing anything else.
UNSEEN, SCRIPTS = "unseen", "script"
PEERS = ("textbook", "ClickHouse", "usual")
INK, GRID = "#333", "#ddd"
# Forms that are best at something, for which is told what radius to choose.
LEADING = ("default: words, balanced", "characters 3, balanced", "words, log",
           "word 3-shingles, binary", "minhash")
BYTES = {"minhash, 128 bits, within 2 k": 16, "minhash, 256 bits, within 4 k": 32}  # others: 8
# What may decide alone, at which radii.
ALONE = (("default: words, balanced", (3, 4, 6)), ("characters 3, balanced", (3,)),
         ("word 3-shingles, binary", (9, 10)), ("minhash", (6, 7, 8, 9, 10)),
         ("minhash, 128 bits, within 2 k", (8, 9)), ("minhash, 256 bits, within 4 k", (8, 9)))
COLOURS = ["#c0392b", "#2471a3", "#1e8449", "#b7950b", "#7d3c98", "#5d6d7e"]


class Results:
    """What measure printed. A triple is (near, between, others)."""

    def __init__(self, path):
        self.documents, self.bytes, self.near, self.between = {}, {}, {}, {}
        self.totals = collections.defaultdict(list)  # near-duplicates, by corpus and replicate
        self.counts = {}  # by (corpus, form): a triple for each radius
        self.trials = collections.defaultdict(list)  # the same by (corpus, trial), for each hash
        self.resampled = collections.defaultdict(list)  # the same, for each replicate
        self.minhash = {}  # by (corpus, method): a triple, then one for each replicate
        self.seconds, self.signing = {}, {}
        self.other = collections.defaultdict(dict)  # lines that are only shown
        with open(path, encoding="utf-8") as file:
            for line in file:
                self.take(*line.rstrip("\n").split("\t"))
        self.forms = list(dict.fromkeys(form for _, form in self.counts))
        self.kinds = collections.defaultdict(list)
        for corpus in self.documents:
            self.kinds[corpus.split("-")[0]].append(corpus)
        self.by_length = self.kinds.pop(BY_LENGTH, [])
        self.scripts = self.take_group(SCRIPTS)
        self.unseen = self.take_group(UNSEEN)
        self.together = self.documents | self.unseen.documents  # in tables of all corpora together
        self.bounds = list(dict.fromkeys(bound for _, _, bound in self.other["length"]))

    def take_group(self, name):
        """The same results of a group of kinds, which are taken away from these."""
        group = copy.copy(self)
        group.kinds = {corpus.split("-", 1)[1]: [corpus] for corpus in self.kinds.pop(name, [])}
        names = {corpus for corpora in group.kinds.values() for corpus in corpora}
        group.documents = {corpus: count for corpus, count in self.documents.items()
                           if corpus in names}
        self.documents = {corpus: count for corpus, count in self.documents.items()
                          if corpus not in names}
        group.together = group.documents
        return group

    def take(self, what, corpus, name, *fields):
        if what == "corpus":
            self.documents[corpus] = int(name)
            self.bytes[corpus], self.near[corpus], self.between[corpus] = map(int, fields)
        elif what == "total":
            self.totals[corpus].append(float(fields[0]))
        elif what == "counts":
            self.counts[corpus, name] = triples(fields)
        elif what == "trial":
            self.trials[corpus, name].append(triples(fields[1:]))
        elif what == "resampled":
            self.resampled[corpus, name].append(triples(fields[1:]))
        elif what == "minhash":
            self.signing[corpus] = float(fields[0])
            self.minhash[corpus, name] = triples(fields[1:])
        elif what == "seconds":
            self.seconds[corpus, name] = float(fields[0])
        elif what in ("edit", "length", "refusals"):
            self.other[what][corpus, name, fields[0]] = [float(field) for field in fields[1:]]
        else:
            self.other[what][corpus, name] = [float(field) for field in fields]


def triples(fields):
    return [tuple(map(float, field.split(","))) for field in fields]


# ---- figures ----

def f1(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def precision(triple):
    near, _, others = triple
    return near / (near + others) if near + others else 1.0


def as_found(triple, total):
    return f1(precision(triple), triple[0] / total if total else 0.0)


def strict(triple, total):
    """Every pair below .8 is wrong."""
    return f1(triple[0] / sum(triple) if sum(triple) else 1.0, triple[0] / total if total else 0.0)


def verified(triple, total):
    """After an exact comparison of what was found."""
    return f1(1.0, triple[0] / total if total else 0.0)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


class Scores:
    """A figure of every form, by kind and radius, as measured and for each replicate."""

    def __init__(self, results, figure):
        self.results, self.figure = results, figure
        self.measured, self.replicates = {}, {}
        for form in results.forms:
            for kind, corpora in results.kinds.items():
                self.measured[form, kind] = [
                    mean(figure(results.counts[corpus, form][k], results.near[corpus])
                         for corpus in corpora) for k in RADII]
                self.replicates[form, kind] = [
                    [mean(figure(results.resampled[corpus, form][r][k], total[r])
                          for corpus, total in self.totals(corpora)) for k in RADII]
                    for r in range(len(results.totals[corpora[0]]))]

    def totals(self, corpora):
        return [(corpus, self.results.totals[corpus]) for corpus in corpora]

    def mean(self, form, radius, kinds=None):
        return mean(self.measured[form, kind][radius] for kind in kinds or self.results.kinds)

    def own_radius(self, form, left_out=None):
        kinds = [kind for kind in self.results.kinds if kind != left_out]
        return max(RADII, key=lambda k: self.mean(form, k, kinds))

    def radii(self, form):
        """The form's own radius for each kind, chosen without the kind."""
        return {kind: self.own_radius(form, kind) for kind in self.results.kinds}

    def at(self, form, radii):
        return mean(self.measured[form, kind][radii[kind]] for kind in radii)

    def spread(self, form, radii, less=None):
        """Of the mean, for each replicate; of its difference from another form, where named."""
        def value(which, kind, r):
            return self.replicates[which, kind][r][radii[kind]]
        count = len(next(iter(self.replicates.values())))
        return [mean(value(form, kind, r) - (value(less, kind, r) if less else 0)
                     for kind in radii) for r in range(count)]

    def spread_of_kinds(self, form, less, radius):
        """The same of the difference where kinds are drawn, too: what another kind may give."""
        draw, kinds, out = random.Random(5), list(self.results.kinds), []
        count = len(next(iter(self.replicates.values())))
        for _ in range(2000):
            r = draw.randrange(count)
            out.append(mean(self.replicates[form, kind][r][radius] -
                            self.replicates[less, kind][r][radius]
                            for kind in draw.choices(kinds, k=len(kinds))))
        return out


def interval(values):
    values = sorted(values)
    return values[int(.025 * len(values))], values[int(.975 * len(values))]


def same(results, radius):
    return {kind: radius for kind in results.kinds}


# ---- tables ----

def short(number, digits=2):
    text = f"{abs(number):.{digits}f}"
    sign = "-" if number < 0 and float(text) else ""
    return sign + (text[1:] if text.startswith("0.") else text)


def show_interval(values, digits=3):
    low, high = interval(values)
    return f"{short(low, digits)} to {short(high, digits)}"


def table(title, head, rows):
    print("\n" + textwrap.fill(title, 100, break_long_words=False, break_on_hyphens=False) +
          "\n\n| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def kind_table(results, scores):
    radii = same(results, RADIUS)
    rows = [[form, *(short(scores.measured[form, kind][RADIUS]) for kind in results.kinds),
             f"**{short(scores.mean(form, RADIUS), 3)}**",
             show_interval(scores.spread(form, radii))] for form in results.forms]
    table(f"F1 at distance <= {RADIUS}, by kind:",
          ["features, weights", *results.kinds, "mean", "interval"], rows)


def corpus_table(results):
    def cell(form, corpus):
        triple = results.counts[corpus, form][RADIUS]
        recall = triple[0] / results.near[corpus] if results.near[corpus] else 0
        return f"{short(precision(triple))} / {short(recall)}"
    forms = [form for form in results.forms if form == results.forms[0] or
             any(peer in form for peer in PEERS)]
    table(f"Precision / recall at distance <= {RADIUS}, by corpus:",
          ["corpus", *forms], [[corpus, *(cell(form, corpus) for form in forms)]
                               for corpora in results.kinds.values() for corpus in corpora])


def radius_table(results, scores):
    rows = [[form, *(short(scores.mean(form, k)) for k in RADII)] for form in results.forms]
    table("Mean F1 at each radius:", ["features, weights", *(f"k = {k}" for k in RADII)], rows)


def own_radius_table(results, scores, strictly):
    rows = []
    for form in results.forms:
        radii, strict_radii = scores.radii(form), strictly.radii(form)
        chosen = sorted(set(radii.values()))
        rows.append([form, " or ".join(map(str, chosen)), short(scores.at(form, radii), 3),
                     show_interval(scores.spread(form, radii)),
                     " or ".join(map(str, sorted(set(strict_radii.values())))),
                     short(strictly.at(form, strict_radii), 3),
                     short(strictly.mean(form, RADIUS), 3)])
    table("Each form at its own best radius, which is chosen for each kind by the other kinds; and "
          "strictly, every pair below .8 being wrong:",
          ["features, weights", "k", "mean F1", "interval", "strictly: k", "mean F1",
           f"at k = {RADIUS}"], rows)


def difference_table(results, scores):
    ours, rows = results.forms[0], []
    for form in results.forms[1:]:
        spread = scores.spread(ours, same(results, RADIUS), form)
        rows.append([form, short(scores.mean(ours, RADIUS) - scores.mean(form, RADIUS), 3),
                     show_interval(spread),
                     show_interval(scores.spread_of_kinds(ours, form, RADIUS))])
    table(f"How far the default leads at k = {RADIUS} (mean F1), with the interval for other "
          "documents of these kinds, and for other kinds:",
          ["features, weights", "lead", "other documents", "other kinds"], rows)


def compared(results, triple_of):
    """Pairs to verify for each near-duplicate, mean over the kinds."""
    return mean(mean(sum(triple_of(corpus)) / max(results.near[corpus], 1) for corpus in corpora)
                for corpora in results.kinds.values())


def recall_of(results, triple_of):
    return mean(mean(triple_of(corpus)[0] / max(results.near[corpus], 1) for corpus in corpora)
                for corpora in results.kinds.values())


def microseconds(results, seconds):
    return 1e6 * sum(map(seconds, results.documents)) / sum(results.documents.values())


def verified_table(results, scores):
    rows = []
    for form in results.forms:
        spent = microseconds(results, lambda corpus: results.seconds[corpus, form])
        cells = [f"{short(scores.mean(form, k), 3)} ("
                 f"{compared(results, lambda corpus: results.counts[corpus, form][k]):.3g})"
                 for k in WIDE]
        rows.append([form, str(BYTES.get(form, 8)), f"{spent:.0f}", *cells])
    table("After verification, mean F1 (and pairs compared for each near-duplicate), with the "
          "bytes kept of a document and the time to make them:",
          ["features, weights", "bytes", "µs", *(f"k = {k}" for k in WIDE)], rows)
    rows = []
    for method in dict.fromkeys(name for _, name in results.minhash):
        spread = [mean(mean(verified(results.minhash[corpus, method][1 + r],
                                     results.totals[corpus][r]) for corpus in corpora)
                       for corpora in results.kinds.values())
                  for r in range(len(next(iter(results.totals.values()))))]
        def figure(what):
            return mean(mean(what(results.minhash[corpus, method][0], results.near[corpus])
                             for corpus in corpora) for corpora in results.kinds.values())
        pairs = compared(results, lambda corpus: results.minhash[corpus, method][0])
        spent = microseconds(results, lambda corpus: results.signing[corpus])
        rows.append([method, "512", f"{spent:.0f}", short(figure(verified), 3),
                     show_interval(spread), f"{pairs:.3g}", short(figure(as_found), 3),
                     short(figure(strict), 3)])
    table("MinHash, 128 permutations, with locality-sensitive hashing:",
          ["method", "bytes", "µs", "F1 verified", "interval", "pairs compared",
           "F1 as found", "strictly"], rows)


def by_kind(results, figure):
    """What figure(corpus) gives, mean over a kind's corpora, for each kind."""
    return [mean(map(figure, corpora)) for corpora in results.kinds.values()]


def alone_row(results, name, size, radius, triple_of):
    """What is found without verification; triple_of(corpus)."""
    recalls = by_kind(results, lambda corpus: triple_of(corpus)[0] / max(results.near[corpus], 1))
    precisions = by_kind(results, lambda corpus: precision(triple_of(corpus)))
    scores = by_kind(results, lambda corpus: as_found(triple_of(corpus), results.near[corpus]))
    checked = by_kind(results, lambda corpus: verified(triple_of(corpus), results.near[corpus]))
    return [name, str(size), radius, short(mean(recalls), 3), short(mean(precisions), 3),
            f"**{short(mean(scores), 3)}**", short(mean(checked), 3),
            f"{compared(results, triple_of):.3g}", short(min(recalls)), short(min(precisions)),
            short(min(scores))]


def alone_table(results):
    rows = [alone_row(results, form, BYTES.get(form, 8), str(k * BYTES.get(form, 8) // 8),
                      lambda corpus: results.counts[corpus, form][k])
            for form, radii in ALONE for k in radii]
    for method in dict.fromkeys(name for _, name in results.minhash):
        rows.append(alone_row(results, "MinHash, " + method, 512, "",
                              lambda corpus: results.minhash[corpus, method][0]))
    table("What decides alone, without verification (after it: the column *verified*); the last "
          "three columns are of the kinds that have the least:",
          ["form", "bytes", "radius", "recall", "precision", "F1 as found", "verified",
           "pairs found for each near-duplicate", "least recall", "least precision", "least F1"],
          rows)


def alone_by_kind_table(results):
    rows = []
    for form, radii in ALONE:
        for k in radii:
            scores = by_kind(results, lambda corpus: as_found(results.counts[corpus, form][k],
                                                              results.near[corpus]))
            rows.append([form, str(k * BYTES.get(form, 8) // 8), *map(short, scores),
                         f"**{short(mean(scores), 3)}**"])
    table("F1 as found of the same, by kind:",
          ["form", "radius", *results.kinds, "mean"], rows)


# ---- what near_duplicate() finds ----

def recall_table(results):
    rows = []
    for method in dict.fromkeys(name for _, name in results.other["recall"]):
        def share(corpus, which):
            near, *counted = results.other["recall"][corpus, method]
            return counted[which] / near
        corpora = {kind: [corpus for corpus in of_kind
                          if results.other["recall"][corpus, method][0] > 0]
                   for kind, of_kind in results.kinds.items()}
        recalls, compared = ([mean(share(corpus, which) for corpus in of_kind)
                              for of_kind in corpora.values()] for which in (0, 1))
        rows.append([method, *(short(recall, 3) for recall in recalls),
                     f"**{short(mean(recalls), 4)}**", short(min(recalls), 3),
                     f"{mean(compared):.3g}"])
    table("What share of the pairs that have at least .8 of their word 3-shingles in common is "
          "found, by kind, and the pairs that are compared for each:",
          ["", *results.kinds, "mean", "lowest", "compared"], rows)


def summed(results, what, name):
    return [sum(column) for column in
            zip(*(fields for (corpus, of), fields in results.other[what].items()
                  if of == name and corpus in results.together))]


def similarity_table(results):
    rows = []
    for percent in dict.fromkeys(name for _, name in results.other["similar"]):
        pairs, found = summed(results, "similar", percent)
        rows.append([short(int(percent) / 100), f"{pairs:.0f}", short(found / max(pairs, 1), 4)])
    table("What share near_duplicate(a, b, s) finds of the pairs whose similarity is s, or above "
          "by less than .02; all corpora together:", ["s", "pairs", "found"], rows)


def short_text_table(results):
    rows = []
    for words in dict.fromkeys(name for _, name in results.other["edited"]):
        pairs, found, by_minhash = summed(results, "edited", words)
        rows.append([words, f"{pairs:.0f}", short(found / max(pairs, 1), 4),
                     short(by_minhash / max(pairs, 1), 4)])
    table("Runs of a few words of the documents, with one word added, taken away or replaced, that "
          "still share .8 of their shingles: what share near_duplicate() finds, and MinHash with "
          "16 bands of 8:", ["words", "pairs", "near_duplicate", "MinHash"], rows)


def dressed_table(results):
    rows = []
    for kind, corpora in results.kinds.items():
        documents, same = map(sum, zip(*(results.other["dressed"][corpus, "-"]
                                         for corpus in corpora)))
        rows.append([kind, f"{documents:.0f}", short(same / documents, 4)])
    table("Documents, and what share has the same shingles as before it was dressed:",
          ["", "documents", "the same"], rows)


def refusals_table(results):
    rows = []
    forms = dict.fromkeys(form for _, form, _ in results.other["refusals"])
    for form in forms:
        for radius in RADII[1:]:
            refused, wrongly, admitted = map(sum, zip(*(
                results.other["refusals"][corpus, form, str(radius)]
                for corpora in results.kinds.values() for corpus in corpora)))
            rows.append([form, str(radius), f"{refused:.0f}", f"{wrongly:.0f}",
                         f"{100 * wrongly / max(refused, 1):.2f} %", f"{admitted:.0f}"])
    table("What a constraint refuses, each corpus inserted in order: documents refused; of these, "
          "wrongly, with no row of J >= .5; and documents admitted beside a row of J >= .8:",
          ["features, weights", "radius", "refused", "wrongly", "share", "admitted"], rows)


def radius_for_recall_table(results):
    rows = []
    for form in results.forms:
        rows.append([form, *(short(recall_of(results, lambda corpus:
                                             results.counts[corpus, form][k])) for k in RADII)])
    table("Recall at each radius, mean over the kinds:",
          ["features, weights", *(f"k = {k}" for k in RADII)], rows)


def radius_for(recalls, wanted):
    """The least radius with the wanted recall, as text; recalls: by radius."""
    return next((str(k) for k in RADII if recalls[k] >= wanted), f"> {RADII[-1]}")


def radius_by_kind_table(results):
    rows = []
    for kind, corpora in results.kinds.items():
        row = [kind]
        for form in LEADING:
            recalls = [mean(results.counts[corpus, form][k][0] / max(results.near[corpus], 1)
                            for corpus in corpora) for k in RADII]
            row.append(" / ".join(radius_for(recalls, wanted) for wanted in RECALLS))
        rows.append(row)
    for bound, title in zip(results.bounds, length_titles(results)):
        rows.append([title, *(" / ".join(radius_for(recalls_of_length(results, form, bound), wanted)
                                         for wanted in RECALLS) for form in LEADING)])
    table("The least radius that finds " + " / ".join(short(wanted) for wanted in RECALLS) +
          " of the near-duplicates, by kind, and by the bytes of a pair's shorter document:",
          ["", *LEADING], rows)


def recalls_of_length(results, form, bound):
    """Recall at each radius, of the pairs of all kinds whose shorter document is so long."""
    lines = [results.other["length"][corpus, form, bound]
             for corpora in results.kinds.values() for corpus in corpora]
    pairs, *within = map(sum, zip(*lines))
    return [found / pairs for found in within]


def length_titles(results):
    return [f"{least} to {int(greatest) - 1} bytes" if greatest else f"{least} bytes and more"
            for least, greatest in zip(results.bounds, [*results.bounds[1:], None])]


def trial_score(results, name, radius, kinds):
    """Mean over the hashes, too."""
    return mean(mean(as_found(counts[radius], results.near[corpus])
                     for corpus in results.kinds[kind]
                     for counts in results.trials[corpus, name]) for kind in kinds)


def choice_table(results, scores):
    names = list(dict.fromkeys(name for _, name in results.trials))
    ours, rows, sums = results.forms[0], [], collections.Counter()
    peers = [form for form in results.forms if any(peer in form for peer in PEERS)]
    for left_out in results.kinds:
        rest = [kind for kind in results.kinds if kind != left_out]
        chosen = max(names, key=lambda name: trial_score(results, name, RADIUS, rest))
        peer = max(peers, key=lambda form: scores.mean(form, RADIUS, rest))
        figures = (trial_score(results, chosen, RADIUS, [left_out]),
                   scores.measured[ours, left_out][RADIUS], scores.measured[peer, left_out][RADIUS])
        sums.update(dict(enumerate(figures)))
        rows.append([left_out, chosen, *map(short, figures)])
    rows.append(["mean", "", *(f"**{short(sums[i] / len(rows), 3)}**" for i in range(3))])
    table(f"The weighting of words that the other kinds choose (by mean F1 at k = {RADIUS}), and "
          "what it gives for the kind left out, beside the default and the peer's form that the "
          "other kinds choose:",
          ["left out", "chosen", "F1", "default", "peer's form"], rows)
    best = sorted(names, key=lambda name: -trial_score(results, name, RADIUS, results.kinds))
    table("The weightings tried, with all kinds, the best ten:", ["weighting", "mean F1"],
          [[name, short(trial_score(results, name, RADIUS, results.kinds), 3)]
           for name in best[:10]])


def length_tables(results):
    for corpus in results.by_length:
        rows = []
        for form in results.forms:
            found = [as_found(results.counts[corpus, form][k], results.near[corpus])
                     for k in RADII]
            rows.append([form, *map(short, found)])
        table(f"{corpus}: F1 at each radius, {results.documents[corpus]} documents, "
              f"{results.near[corpus]} near-duplicates:",
              ["features, weights", *(f"k = {k}" for k in RADII)], rows)
    rows = []
    for form in results.forms:
        cells = []
        for bound in results.bounds:
            recalls = recalls_of_length(results, form, bound)
            cells.append(" / ".join(short(recalls[k]) for k in (3, 6, 8, 10)))
        rows.append([form, *cells])
    table("Recall at k = 3 / 6 / 8 / 10 by the bytes of a pair's shorter document, all kinds "
          "together:", ["features, weights", *length_titles(results)], rows)


def corpora_table(results):
    rows = [[corpus, str(count), f"{results.bytes[corpus] / count:.0f}",
             str(results.near[corpus]), str(results.between[corpus])]
            for corpus, count in (results.together | results.scripts.documents).items()]
    table("The corpora:", ["corpus", "documents", "bytes, mean", "pairs with J >= .8",
                           "pairs with .5 <= J < .8"], rows)


def edit_table(results):
    edits = list(dict.fromkeys(edit for _, _, edit in results.other["edit"]))
    forms = list(dict.fromkeys(form for _, form, _ in results.other["edit"]))
    rows = [[form, *(short(mean(mean(results.other["edit"][corpus, form, edit][RADIUS]
                                     for corpus in corpora)
                                for corpora in results.kinds.values())) for edit in edits)]
            for form in forms]
    table(f"Share of edited copies within {RADIUS}, mean over the kinds:",
          ["features, weights", *edits], rows)


def bit_table(results):
    rows = []
    for form in results.forms:
        ones = [results.other["ones"][corpus, form] for corpus in results.documents]
        leading = [results.other["leading"][corpus, form] for corpus in results.documents]
        pairs, *within = results.other["strangers"]["-", form]
        rows.append([form, short(mean(map(min, ones))), short(mean(map(max, ones))),
                     short(mean(have / best for have, best in leading)),
                     *(f"{1e9 * within[k] / pairs:.0f}" for k in (3, 6, 8, 10, 12))])
    table("Bits: the least and greatest share of ones that any of the 64 bits has (mean over the "
          "corpora); the distinct values of the leading 16 bits as a share of what random "
          "fingerprints would have; and of a thousand million pairs of documents of different "
          "kinds, how many lie within k:",
          ["features, weights", "least", "greatest", "leading 16 bits",
           *(f"k = {k}" for k in (3, 6, 8, 10, 12))], rows)


# ---- plots: small multiples, one panel per corpus ----

def polyline(points, colour, dashed=False):
    dash = ' stroke-dasharray="4 3"' if dashed else ""
    return (f'<polyline fill="none" stroke="{colour}" stroke-width="1.6"{dash} points="' +
            " ".join(f"{x:.1f},{y:.1f}" for x, y in points) + '"/>')


def label(x, y, words, anchor="start", size=11):
    return (f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="{INK}">'
            f'{words}</text>')


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
        out.append(polyline([(left + i * step, top + height * (1 - value))
                             for i, value in enumerate(values)], colour, dashed))
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
        out.append(panel(40 + i % columns * (width + 50), 58 + i // columns * (height + 50),
                         width, height, name, x_labels, lines))
    for i, (words, colour, dashed) in enumerate(legend):
        y = 58 + rows * (height + 50) + 16 * i
        out.append(polyline([(40, y - 4), (70, y - 4)], colour, dashed))
        out.append(label(78, y, words))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out + ["</svg>", ""]))


def plot_pairs(results, folder):
    shown = ["minhash", *results.forms[:5]]
    x_labels = [(k / 12, str(k)) for k in range(0, 13, 2)]

    def recall(triple, total):
        return triple[0] / total if total else 0.0

    for figure, word in ((lambda triple, _: precision(triple), "precision"), (recall, "recall")):
        scores = Scores(results, figure)
        panels = [(kind, x_labels, [(scores.measured[form, kind], colour, False)
                                    for form, colour in zip(shown, COLOURS)])
                  for kind in results.kinds]
        write_panels(os.path.join(folder, word + ".svg"),
                     f"{word.capitalize()} of distance <= k, against k", panels,
                     [(form, colour, False) for form, colour in zip(shown, COLOURS)])


def plot_lengths(results, folder):
    x_labels = [(k / 12, str(k)) for k in range(0, 13, 2)]
    panels = [(title, x_labels, [(recalls_of_length(results, form, bound), colour, False)
                                 for form, colour in zip(LEADING, COLOURS)])
              for bound, title in zip(results.bounds, length_titles(results))]
    write_panels(os.path.join(folder, "lengths.svg"),
                 "Recall of distance <= k, against k, by the length of a pair's shorter document",
                 panels, [(form, colour, False) for form, colour in zip(LEADING, COLOURS)])


def plot_distances(results, folder):
    panels = []
    for corpus in results.documents:
        counts = results.other["distances"][corpus, results.forms[0]]
        lines = []
        for begin, colour in ((0, COLOURS[0]), (65, COLOURS[1])):
            part = counts[begin:begin + 65]
            greatest = max(part) or 1
            lines.append(([count / greatest for count in part], colour, False))
        panels.append((corpus, [(d / 64, str(d)) for d in range(0, 65, 16)], lines))
    write_panels(os.path.join(folder, "distances.svg"),
                 "Distances of pairs (the default; each curve has its greatest value at 1)", panels,
                 [("near-duplicates, J >= .8", COLOURS[0], False),
                  ("others, J < .5", COLOURS[1], False)])


def plot_bits(results, folder):
    ones, forms = results.other["ones"], results.forms
    panels = [(corpus, [(bit / 63, str(63 - bit)) for bit in (0, 16, 32, 48, 63)],
               [(ones[corpus, forms[0]], COLOURS[0], False),
                (ones[corpus, forms[1]], COLOURS[1], True)]) for corpus in results.documents]
    write_panels(os.path.join(folder, "bits.svg"),
                 "Share of fingerprints with a 1, by bit, the leading bit on the left", panels,
                 [(forms[0], COLOURS[0], False), (forms[1], COLOURS[1], True)])


def main():
    results = Results(sys.argv[1])
    os.makedirs(sys.argv[2], exist_ok=True)
    print("# Figures of the quality bench\n\nWritten by `make quality`; "
          "docs/choosing.md says what they mean.")
    scores, strictly = Scores(results, as_found), Scores(results, strict)
    recall_table(results)
    similarity_table(results)
    short_text_table(results)
    alone_table(results)
    alone_by_kind_table(results)
    refusals_table(results)
    kind_table(results, scores)
    difference_table(results, scores)
    radius_table(results, scores)
    own_radius_table(results, scores, strictly)
    verified_table(results, Scores(results, verified))
    radius_for_recall_table(results)
    radius_by_kind_table(results)
    choice_table(results, scores)
    length_tables(results)
    corpus_table(results)
    corpora_table(results)
    edit_table(results)
    bit_table(results)
    print("\n## Unseen kinds\n\nOf documents on which no form and no weighting was chosen.")
    scores = Scores(results.unseen, as_found)
    recall_table(results.unseen)
    alone_table(results.unseen)
    alone_by_kind_table(results.unseen)
    refusals_table(results.unseen)
    kind_table(results.unseen, scores)
    difference_table(results.unseen, scores)
    radius_table(results.unseen, scores)
    verified_table(results.unseen, Scores(results.unseen, verified))
    radius_for_recall_table(results.unseen)
    corpus_table(results.unseen)
    print("\n## Scripts\n\nOf texts that were changed as people change them in a script without "
          "writing anything else (corpora.py). A pair counts by what it was before.")
    dressed_table(results.scripts)
    recall_table(results.scripts)
    similarity_table(results.scripts)
    short_text_table(results.scripts)
    for plot in (plot_pairs, plot_lengths, plot_distances, plot_bits):
        plot(results, sys.argv[2])


if __name__ == "__main__":
    main()
