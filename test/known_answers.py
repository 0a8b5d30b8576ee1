#!/usr/bin/env python3
"""The fingerprints of docs/fingerprints.md once more, in plain Python, written from that page alone.

    test/known_answers.py [FILE]

compares them with test/data/known_answers.tsv (or FILE), and fails where one differs. The file is in
the text format of COPY: its first line names the columns, of which the first two are a name and a
text, and each other one is a form: function, features, width, and for simhash weighting and hash.
The texts have no code point that Unicode came to know lately, so that any Python from 3.8 on will do.
"""
import math
import os
import re
import sys
import unicodedata
from functools import lru_cache

MASK = (1 << 64) - 1

# ---- hashes ----

P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def read(data, at, size=8):
    return int.from_bytes(data[at:at + size], "little")


def fold(a, b):
    product = a * b
    return (product & MASK) ^ (product >> 64)


def avalanche(h):
    h = (h ^ (h >> 37)) * 0x165667919E3779F9 & MASK
    return h ^ (h >> 32)


def avalanche_64(h):
    h = (h ^ (h >> 33)) * P64_2 & MASK
    h = (h ^ (h >> 29)) * P64_3 & MASK
    return h ^ (h >> 32)


def rotated(h, bits):
    return (h << bits | h >> (64 - bits)) & MASK


def mix_16(data, at, secret):
    return fold(read(data, at) ^ read(SECRET, secret), read(data, at + 8) ^ read(SECRET, secret + 8))


def xxh3_long(data):
    n = len(data)
    lanes = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]

    def accumulate(at, secret):
        for i in range(8):
            value = read(data, at + 8 * i)
            key = value ^ read(SECRET, secret + 8 * i)
            lanes[i ^ 1] = (lanes[i ^ 1] + value) & MASK
            lanes[i] = (lanes[i] + (key & 0xFFFFFFFF) * (key >> 32)) & MASK

    blocks = (n - 1) // 1024
    for block in range(blocks):
        for stripe in range(16):
            accumulate(1024 * block + 64 * stripe, 8 * stripe)
        for i in range(8):
            lane = lanes[i] ^ (lanes[i] >> 47) ^ read(SECRET, 128 + 8 * i)
            lanes[i] = lane * P32_1 & MASK
    for stripe in range((n - 1 - 1024 * blocks) // 64):
        accumulate(1024 * blocks + 64 * stripe, 8 * stripe)
    accumulate(n - 64, 121)
    total = n * P64_1
    for i in range(4):
        total += fold(lanes[2 * i] ^ read(SECRET, 11 + 16 * i), lanes[2 * i + 1] ^ read(SECRET, 19 + 16 * i))
    return avalanche(total & MASK)


@lru_cache(maxsize=None)
def xxh3(data):
    """XXH3 of 64 bits with seed 0, as the xxHash project specifies it."""
    n = len(data)
    if n == 0:
        return avalanche_64(read(SECRET, 56) ^ read(SECRET, 64))
    if n <= 3:
        combined = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        return avalanche_64(combined ^ read(SECRET, 0, 4) ^ read(SECRET, 4, 4))
    if n <= 8:
        h = (read(data, n - 4, 4) + (read(data, 0, 4) << 32)) ^ read(SECRET, 8) ^ read(SECRET, 16)
        h ^= rotated(h, 49) ^ rotated(h, 24)
        h = h * 0x9FB21C651E98DF25 & MASK
        h = (h ^ ((h >> 35) + n)) * 0x9FB21C651E98DF25 & MASK
        return h ^ (h >> 28)
    if n <= 16:
        low = read(data, 0) ^ read(SECRET, 24) ^ read(SECRET, 32)
        high = read(data, n - 8) ^ read(SECRET, 40) ^ read(SECRET, 48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return avalanche((n + swapped + high + fold(low, high)) & MASK)
    if n <= 128:
        total = n * P64_1
        for i in range((n - 1) // 32 + 1):
            total += mix_16(data, 16 * i, 32 * i) + mix_16(data, n - 16 * (i + 1), 32 * i + 16)
        return avalanche(total & MASK)
    if n <= 240:
        total = n * P64_1 + sum(mix_16(data, 16 * i, 16 * i) for i in range(8))
        total = avalanche(total & MASK)
        total += sum(mix_16(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, n // 16))
        return avalanche((total + mix_16(data, n - 16, 119)) & MASK)
    return xxh3_long(data)


def fnv1(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h * 0x100000001B3 & MASK) ^ byte
    return h


# ---- from text to normalised characters ----

IGNORED = [(0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
           (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F),
           (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A),
           (0x1F3FB, 0x1F3FF), (0xE0000, 0xE0FFF)]
SPACELESS = [(0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19FF), (0x1A20, 0x1AAF),
             (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x3035), (0x3038, 0x303C),
             (0x3041, 0x30FF), (0x3100, 0x312F), (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x3400, 0x4DBF),
             (0x4E00, 0x9FFF), (0xA9E0, 0xA9FF), (0xAA60, 0xAADF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F),
             (0x11700, 0x1174F), (0x16FE0, 0x18D7F), (0x1AFF0, 0x1B2FF), (0x20000, 0x3FFFD)]
PICTOGRAPHS = [(0x2600, 0x27BF), (0x1F000, 0x1FAFF)]


def within(character, ranges):
    return any(first <= ord(character) <= last for first, last in ranges)


@lru_cache(maxsize=None)
def kind(character):
    category = unicodedata.category(character)
    if category[0] == "M":
        return "mark"
    if category[0] == "L" or category in ("Nl", "No"):
        return "spaceless" if within(character, SPACELESS) else "letter"
    if category == "Nd" or category in ("Cn", "Co") and ord(character) & 0xFFFE != 0xFFFE:
        return "letter"
    return "pictograph" if category == "So" and within(character, PICTOGRAPHS) else "separator"


def folded(text):
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFKD", "".join(c.casefold() for c in decomposed))


@lru_cache(maxsize=None)
def later_parts():
    """The code points that are the second or a later one of a canonical decomposition."""
    return {c for i in range(0x110000) for c in unicodedata.normalize("NFD", chr(i))[1:]}


@lru_cache(maxsize=None)
def joins(character):
    first = folded(character)[:1]
    return any(unicodedata.combining(c) != 0 or c in later_parts() for c in (character, first) if c)


def normalised(text):
    segments = []
    for character in text:
        if within(character, IGNORED):
            continue
        if segments and joins(character) and len(segments[-1]) < 32:
            segments[-1] += character
        else:
            segments.append(character)
    return "".join(unicodedata.normalize("NFC", folded(segment)) for segment in segments)


# ---- from characters to features ----

def size(text):
    return len(text.encode())


def words(text):
    found, word, run = [], "", []

    def end_word():
        nonlocal word
        if word:
            found.append(word)
        word = ""

    def end_run():
        found.extend(run if len(run) == 1 else [a + b for a, b in zip(run, run[1:])])
        run.clear()

    for character in normalised(text):
        what = kind(character)
        if what == "spaceless":
            end_word()
            run.append(character)
        elif what == "mark" and run:
            if size(run[-1]) <= 28:
                run[-1] += character
        else:
            end_run()
            if what in ("letter", "mark"):
                if size(word + character) > 255:
                    end_word()
                word += character
            else:
                end_word()
            if what == "pictograph":
                found.append(character)
    end_run()
    end_word()
    return found


def characters(text):
    found, separated, spaced_before = [], False, False
    for character in normalised(text):
        what = kind(character)
        if what == "separator":
            separated = True
            continue
        spaced = what in ("letter", "mark")
        if separated and spaced and spaced_before:
            found.append(" ")
        found.append(character)
        separated, spaced_before = False, spaced
    return found


def features(text, of, width):
    pieces, between = (words(text), " ") if of == "words" else (characters(text), "")
    width = min(width, len(pieces))
    return [between.join(pieces[i:i + width]).encode() for i in range(len(pieces) - width + 1 if width else 0)]


# ---- simhash ----

@lru_cache(maxsize=None)
def balanced(frequency, feature):
    logarithm = ((1 + frequency) ** 65536).bit_length() - 1  # 2^16 * log2(1 + f), rounded down
    root = math.isqrt(math.isqrt(logarithm << 16) << 16)
    damped = (logarithm * logarithm >> 16) * root >> 16
    length = min(len(feature), 12)
    length_root = math.isqrt(length << 30 if feature[:1].isdigit() else length << 32)
    return damped * length_root >> 24


def bound_weights(weights):
    if len(weights) < 8:
        return [min(weights)] * len(weights)
    falling = sorted(weights, reverse=True)
    for i in range(8):
        rest = sum(falling[i:])
        if falling[i] * (8 - i) <= rest:
            bound = rest // (8 - i)
            break
    return [min(weight, bound) for weight in weights]


def simhash(found, weighting, hash_name):
    frequencies = {}
    for feature in found:
        frequencies[feature] = frequencies.get(feature, 0) + 1
    if weighting == "balanced":
        weights = bound_weights([balanced(f, feature) for feature, f in frequencies.items()])
    else:
        weights = [f if weighting == "tf" else 1 for f in frequencies.values()]
    hashes = [(xxh3 if hash_name == "xxh3" else fnv1)(feature) for feature in frequencies]
    total, result = sum(weights), 0
    for bit in range(64):
        ones = sum(weight for h, weight in zip(hashes, weights) if h >> bit & 1)
        result |= (2 * ones > total) << bit
    return result


# ---- minhash ----

def mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def minhash(found):
    numbers = {mix(xxh3(feature)) & 0xFFFFFFFF for feature in found}
    result = 0
    for i in range(64):
        s = mix((i + 1) * 0x9E3779B97F4A7C15 & MASK)
        factor, addend = s >> 32 | 1, s & 0xFFFFFFFF
        minimum = min((factor * x + addend) & 0xFFFFFFFF for x in numbers)
        result |= (mix((i << 32) + minimum) & 1) << i
    return result


# ---- the comparison ----

def fingerprint(form, text):
    """By a form such as minhash/words/3 or simhash/words/1/balanced/xxh3; null: none."""
    function, of, width, *rest = form.split("/")
    found = features(text, of, int(width))
    if not found:
        return "\\N"
    value = minhash(found) if function == "minhash" else simhash(found, *rest)
    return str(value - (value >> 63 << 64))


def unescaped(field):
    return re.sub(r"\\(.)", lambda escape: {"n": "\n", "r": "\r", "t": "\t"}.get(escape[1], escape[1]), field)


def main():
    default = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "known_answers.tsv")
    with open(sys.argv[1] if len(sys.argv) > 1 else default, encoding="utf-8", newline="\n") as file:
        heading, *rows = (line.rstrip("\n").split("\t") for line in file)
    compared = differing = 0
    for name, text, *answers in rows:
        for form, answer in zip(heading[2:], answers):
            ours = fingerprint(form, unescaped(text))
            compared += 1
            if ours != answer:
                differing += 1
                print(f"{name}: {form} is {answer}, here {ours}")
    print(f"{len(rows)} texts, {compared} fingerprints, {differing} differ")
    return 0 if compared and not differing else 1


if __name__ == "__main__":
    sys.exit(main())
