#!/usr/bin/env python3
"""Prints documents of about 1 kB, one a line: test/bench/documents.py COUNT. The words come from a made-up vocabulary, the frequent ones
more often. Every tenth document is the one nine before it with up to 11 words exchanged. The same COUNT gives the same documents."""
import random
import sys

LETTERS = "etaoinshrdlucmfwypvbgk"
FREQUENCIES = [12, 9, 8, 7.5, 7, 7, 6.3, 6, 6, 4.3, 4, 2.8, 2.8, 2.4, 2.2, 2.4, 1.9, 2, 1, 1.5, 2, .8]
LENGTHS = (2, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10)
WORDS = 60_000

source = random.Random(31)
vocabulary = {}
while len(vocabulary) < WORDS:
    vocabulary["".join(source.choices(LETTERS, weights=FREQUENCIES, k=source.choice(LENGTHS)))] = None
vocabulary = list(vocabulary)
weights, total = [], 0.0
for rank in range(WORDS):
    total += 1 / (rank + 20)
    weights.append(total)

copied = []
for i in range(int(sys.argv[1])):
    if i % 10 == 9:
        words = list(copied)
        for _ in range(source.randrange(12)):
            words[source.randrange(len(words))] = source.choice(vocabulary)
    else:
        words = source.choices(vocabulary, cum_weights=weights, k=source.randrange(120, 200))
        if i % 10 == 0:
            copied = words
    print(" ".join(words))
