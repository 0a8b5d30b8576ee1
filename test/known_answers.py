#!/usr/bin/env python3
"""A second implementation of simhash and minhash, and what docs/fingerprints.md leaves to it: which code
points count, and as what. It was written from the definition alone.

    known_answers.py [FILE]              compares it with test/data/known_answers.tsv, or FILE
    known_answers.py --features TEXT     prints what it cuts a text into, by words and by characters

Fails if a fingerprint differs. Needs Python 3.9 or later, and nothing but its standard library.

The fingerprints are those of Unicode 15.0, which only Python 3.12 has. Older and newer tables differ
from it in the code points that they assign; no code point that both assign is of another kind or has
another name, decomposition, combining class or folding. So

  - a code point that Unicode assigned after 15.0 (LATER) is treated as one that is not assigned,
    whatever this Python knows of it;
  - a text with a code point that this Python does not know, but Unicode 15.0 does (RECENT), is not
    compared; its name is printed.
"""
import os
import re
import sys
import unicodedata
from functools import lru_cache
from math import isqrt

LOW_32 = (1 << 32) - 1
LOW_64 = (1 << 64) - 1


def ranges(text):
    """The pairs (first, last) of code points that a list such as "00AD 115F-1160" stands for."""
    parts = (part.split("-") for part in text.split())
    return [(int(part[0], 16), int(part[-1], 16)) for part in parts]


def within(character, table):
    return any(first <= ord(character) <= last for first, last in table)


# ---- Unicode 15.0, whatever this Python has ----

# New in Unicode 14.0 and 15.0, and some older ones between them: Python 3.9 and 3.10 have Unicode
# 13.0, Python 3.11 has 14.0.
RECENT = ranges("""
    061D 0870-088E 0890-0891 0898-08D2 0C3C 0C5D 0CDD 0CF3 0ECE 170D-1715 171F 180F 1AC1-1ACE 1B4C
    1B7D-1B7E 1DFA 20C0 2C2F-2C5F 2E53-2E5D 9FFD-9FFF A7C0-A7C1 A7D0-A7D1 A7D3 A7D5-A7D9 A7F2-A7F4
    FBC2 FD40-FD4F FDCF FDFE-FDFF 10570-1057A 1057C-1058A 1058C-10592 10594-10595 10597-105A1
    105A3-105B1 105B3-105B9 105BB-105BC 10780-10785 10787-107B0 107B2-107BA 10EFD-10EFF 10F70-10F89
    11070-11075 110C2 1123F-11241 116B9 11740-11746 11AB0-11ABF 11B00-11B09 11F00-11F10 11F12-11F3A
    11F3E-11F59 12F90-12FF2 1342F-13455 16A70-16ABE 16AC0-16AC9 1AFF0-1AFF3 1AFF5-1AFFB 1AFFD-1AFFE
    1B11F-1B122 1B132 1B155 1CF00-1CF2D 1CF30-1CF46 1CF50-1CFC3 1D1E9-1D1EA 1D2C0-1D2D3 1DF00-1DF1E
    1DF25-1DF2A 1E030-1E06D 1E08F 1E290-1E2AE 1E4D0-1E4F9 1E7E0-1E7E6 1E7E8-1E7EB 1E7ED-1E7EE
    1E7F0-1E7FE 1F6DC-1F6DF 1F774-1F776 1F77B-1F7D9 1F7F0 1F979-1F9CC 1FA75-1FA7C 1FA87-1FA88
    1FAA9-1FABD 1FABF-1FAC5 1FACE-1FADB 1FAE0-1FAE8 1FAF0-1FAF8 2A6DE-2A6DF 2B735-2B739
    31350-323AF""")

# New in Unicode 15.1, 16.0 and 17.0, and some between them that are not assigned.
LATER = ranges("""
    088F 0897 0C5C 0CDC 1ACF-1AEB 1B4E-1B4F 1B7F 1C89-1C8A 20C1 2427-2429 2B96 2FFC-2FFF 31E4-31EF
    A7CB-A7CF A7D2 A7D4 A7DA-A7F1 FBC3-FBD2 FD90-FD91 FDC8-FDCE 105C0-105F3 10940-10959 10D40-10D8F
    10EC2-10EFC 11380-113E2 116D0-116E3 11B60-11BF9 11DB0-11DE9 11F5A 13460-143FA 16100-16139
    16D40-16D79 16EA0-16ED3 16FF2-16FF6 187F8-187FF 18CFF 18D09-18DF2 1CC00-1CEF0 1E5D0-1E6FF 1F6D8
    1F777-1F77A 1F8B2-1F8D8 1FA54-1FA57 1FA89-1FA8F 1FABE 1FAC6-1FACD 1FADC-1FADF 1FAE9-1FAEF
    1FBCB-1FBEF 1FBFA 2B73A-2B73F 2CEA2-2CEAD 2EBF0-2EE5D 323B0-33479""")


@lru_cache(maxsize=None)
def category(character):
    """The general category in Unicode 15.0."""
    return "Cn" if within(character, LATER) else unicodedata.category(character)


def unknown(text):
    """The code points of a text that Unicode 15.0 assigns, but this Python's Unicode does not."""
    return sorted({character for character in text
                   if unicodedata.category(character) == "Cn" and within(character, RECENT)})


# ---- hashes of features ----

XXH_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
PRIME_32_1, PRIME_32_2, PRIME_32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIME_64_1, PRIME_64_2, PRIME_64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
PRIME_64_4, PRIME_64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
PRIME_MX_1, PRIME_MX_2 = 0x165667919E3779F9, 0x9FB21C651E98DF25


def read_32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def read_64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def rotate(value, bits):
    return (value << bits | value >> (64 - bits)) & LOW_64


def fold_product(a, b):
    """The two halves of the product of 128 bits, by exclusive or."""
    product = a * b
    return (product ^ product >> 64) & LOW_64


def avalanche(value):
    value ^= value >> 37
    value = value * PRIME_MX_1 & LOW_64
    return value ^ value >> 32


def avalanche_of_xxh64(value):
    value ^= value >> 33
    value = value * PRIME_64_2 & LOW_64
    value ^= value >> 29
    value = value * PRIME_64_3 & LOW_64
    return value ^ value >> 32


def mix_16_bytes(data, at, secret_at):
    return fold_product(read_64(data, at) ^ read_64(XXH_SECRET, secret_at),
                        read_64(data, at + 8) ^ read_64(XXH_SECRET, secret_at + 8))


def xxh3_of_1_to_3(data):
    size = len(data)
    value = data[0] << 16 | data[size >> 1] << 24 | data[size - 1] | size << 8
    return avalanche_of_xxh64(value ^ read_32(XXH_SECRET, 0) ^ read_32(XXH_SECRET, 4))


def xxh3_of_4_to_8(data):
    size = len(data)
    value = read_32(data, size - 4) + (read_32(data, 0) << 32)
    value ^= read_64(XXH_SECRET, 8) ^ read_64(XXH_SECRET, 16)
    value ^= rotate(value, 49) ^ rotate(value, 24)
    value = value * PRIME_MX_2 & LOW_64
    value ^= (value >> 35) + size
    value = value * PRIME_MX_2 & LOW_64
    return value ^ value >> 28


def xxh3_of_9_to_16(data):
    size = len(data)
    low = read_64(XXH_SECRET, 24) ^ read_64(XXH_SECRET, 32) ^ read_64(data, 0)
    high = read_64(XXH_SECRET, 40) ^ read_64(XXH_SECRET, 48) ^ read_64(data, size - 8)
    swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
    return avalanche((size + swapped + high + fold_product(low, high)) & LOW_64)


def xxh3_of_17_to_128(data):
    size = len(data)
    total = size * PRIME_64_1
    for i in range((size - 1) // 32 + 1):
        total += mix_16_bytes(data, 16 * i, 32 * i)
        total += mix_16_bytes(data, size - 16 * (i + 1), 32 * i + 16)
    return avalanche(total & LOW_64)


def xxh3_of_129_to_240(data):
    size = len(data)
    total = size * PRIME_64_1
    for i in range(8):
        total += mix_16_bytes(data, 16 * i, 16 * i)
    total = avalanche(total & LOW_64)
    for i in range(8, size // 16):
        total += mix_16_bytes(data, 16 * i, 16 * (i - 8) + 3)
    total += mix_16_bytes(data, size - 16, 136 - 17)
    return avalanche(total & LOW_64)


def xxh3_of_more(data):
    size = len(data)
    lanes = [PRIME_32_3, PRIME_64_1, PRIME_64_2, PRIME_64_3, PRIME_64_4, PRIME_32_2, PRIME_64_5,
             PRIME_32_1]

    def add_stripe(at, secret_at):
        for i in range(8):
            value = read_64(data, at + 8 * i)
            keyed = value ^ read_64(XXH_SECRET, secret_at + 8 * i)
            lanes[i ^ 1] = (lanes[i ^ 1] + value) & LOW_64
            lanes[i] = (lanes[i] + (keyed & LOW_32) * (keyed >> 32)) & LOW_64

    stripes_in_block = (len(XXH_SECRET) - 64) // 8
    block_size = 64 * stripes_in_block
    blocks = (size - 1) // block_size
    for block in range(blocks):
        for stripe in range(stripes_in_block):
            add_stripe(block * block_size + 64 * stripe, 8 * stripe)
        for i, lane in enumerate(lanes):
            lane ^= lane >> 47
            lane ^= read_64(XXH_SECRET, len(XXH_SECRET) - 64 + 8 * i)
            lanes[i] = lane * PRIME_32_1 & LOW_64
    for stripe in range((size - 1 - block_size * blocks) // 64):
        add_stripe(blocks * block_size + 64 * stripe, 8 * stripe)
    add_stripe(size - 64, len(XXH_SECRET) - 64 - 7)
    total = size * PRIME_64_1
    for i in range(4):
        total += fold_product(lanes[2 * i] ^ read_64(XXH_SECRET, 11 + 16 * i),
                              lanes[2 * i + 1] ^ read_64(XXH_SECRET, 19 + 16 * i))
    return avalanche(total & LOW_64)


@lru_cache(maxsize=None)
def xxh3(data):
    """XXH3, 64 bits, seed 0, as the xxHash project specifies it. A feature has a byte at least."""
    for greatest, function in ((3, xxh3_of_1_to_3), (8, xxh3_of_4_to_8), (16, xxh3_of_9_to_16),
                               (128, xxh3_of_17_to_128), (240, xxh3_of_129_to_240)):
        if len(data) <= greatest:
            return function(data)
    return xxh3_of_more(data)


def fnv1(data):
    """FNV-1 of 64 bits: multiplies, then takes the exclusive or."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = value * 0x100000001B3 & LOW_64 ^ byte
    return value


# ---- from a text to normalised characters ----

# What is left out of a text. Invisible code points: the assigned ones with the property
# Default_Ignorable_Code_Point, and skin tones. Unassigned ones with the property, such as U+2065,
# remain.
INVISIBLE = ranges("""
    00AD 034F 061C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-2064 2066-206F 3164
    FE00-FE0F FEFF FFA0 1BCA0-1BCA3 1D173-1D17A 1F3FB-1F3FF E0001 E0020-E007F E0100-E01EF""")
# And marks of categories Mn and Me whose Script is Inherited, Latin, Greek, Cyrillic, Arabic or Hebrew,
# but for 0951-0954, 1CD0-1CF9, 302A-302D, 3099-309A and 1133B; and 0640, 06E5 and 06E6. (The iota
# below, U+0345, is folded to the letter iota before it would be removed.)
LEFT_OUT = INVISIBLE + ranges("""
    0300-036F 0483-0489 0591-05BD 05BF 05C1-05C2 05C4-05C5 05C7 0610-061A 0640 064B-065F 0670
    06D6-06DC 06DF-06E8 06EA-06ED 0898-089F 08CA-08E1 08E3-08FF 1AB0-1ACE 1DC0-1DFF 20D0-20F0
    2DE0-2DFF A66F-A672 A674-A67D A69E-A69F FB1E FE20-FE2F 101FD 102E0 10EFD-10EFF 1CF00-1CF2D
    1CF30-1CF46 1D167-1D169 1D17B-1D182 1D185-1D18B 1D1AA-1D1AD 1D242-1D244 1E08F""")
SIGNS_OF_RIGHTS = ranges("00A9 00AE 2120 2122")
# Also a letter whose name is LATIN SMALL LETTER X WITH Y, or CYRILLIC SMALL LETTER X WITH Y, where X is
# all that stands before the first WITH, becomes the one that is named LATIN (or CYRILLIC) SMALL LETTER
# X, if there is one: plain_letter().
PLAIN_LETTERS = {
    "\u00E6": "ae", "\u0153": "oe", "\u0131": "i", "\u0237": "j", "\u0671": "\u0627",
    "\u0629": "\u0647", "\u06BE": "\u0647", "\u06C1": "\u0647", "\u06C3": "\u0647", "\u06D5": "\u0647",
    "\u0649": "\u064A", "\u06CC": "\u064A", "\u06D2": "\u064A", "\u06A9": "\u0643",
    # Letters without a vowel become the letter and its virama. Bengali khanda ta, Telugu and Kannada nakaara
    # pollu, Malayalam dot reph, and the chillus of Malayalam.
    "\u09CE": "\u09A4\u09CD", "\u0C5D": "\u0C28\u0C4D", "\u0CDD": "\u0CA8\u0CCD",
    "\u0D4E": "\u0D30\u0D4D", "\u0D54": "\u0D2E\u0D4D", "\u0D55": "\u0D2F\u0D4D",
    "\u0D56": "\u0D34\u0D4D", "\u0D7A": "\u0D23\u0D4D", "\u0D7B": "\u0D28\u0D4D",
    "\u0D7C": "\u0D30\u0D4D", "\u0D7D": "\u0D32\u0D4D", "\u0D7E": "\u0D33\u0D4D",
    "\u0D7F": "\u0D15\u0D4D"}
VIRAMA = 9  # combining class
BREAKS = "\n\v\f\r\u0085\u2028\u2029"
BLANKS = "\t \u00A0\u1680\u2000-\u200A\u202F\u205F\u3000" + BREAKS  # White_Space
ARABIC = "\u0600-\u06FF\u0750-\u077F\u0870-\u08FF\uFB50-\uFDFF\uFE70-\uFEFC"
MOST_IN_SEGMENT = 32  # code points


def plain_letter(character):
    if character in PLAIN_LETTERS:
        return PLAIN_LETTERS[character]
    base, *rest = unicodedata.name(character, "").split(" WITH ")
    if rest and base.startswith(("LATIN SMALL LETTER ", "CYRILLIC SMALL LETTER ")):
        try:
            letter = unicodedata.lookup(base)
        except KeyError:
            return character
        return character if category(letter) == "Cn" else letter
    return character


@lru_cache(maxsize=None)
def form(character):
    """What a code point becomes, decomposed: these steps are repeated until they change nothing. Code
    points that are not assigned or for private use, and signs of rights, are their own forms."""
    if category(character) in ("Cn", "Co") or within(character, SIGNS_OF_RIGHTS):
        return character
    before, text = "", character
    while text != before:
        before = text
        # str.casefold is the full folding, statuses C and F, of each code point by itself.
        text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
        text = "".join(plain_letter(part) for part in text if not within(part, LEFT_OUT))
    return text


@lru_cache(maxsize=None)
def later_parts():
    """The code points that are the second or a later one in some canonical decomposition."""
    found = set()
    for number in range(0x30000):  # no code point from there on has a decomposition of two
        character = chr(number)
        if category(character) not in ("Cn", "Cs"):
            found.update(unicodedata.normalize("NFD", character)[1:])
    return found


@lru_cache(maxsize=None)
def joins(character):
    """Whether a code point goes on with the segment before it: the first code point of its form has a
    combining class other than 0, or is the second or a later one in the canonical decomposition of some
    code point (Hangul syllables and composition exclusions included). One that is not assigned joins
    none."""
    if category(character) == "Cn":
        return False
    first = form(character)[:1]
    return unicodedata.combining(first) != 0 or first in later_parts()


def without_hints(text):
    """What is left out for good, and what its neighbours decide on: a soft hyphen (U+00AD) or U+00AC is left
    out with the white space behind it, if a line ends there. Any other soft hyphen is left out. U+200C is a
    blank beside a character of Arabic script, and otherwise left out."""
    text = "".join(character for character in text if character in "\u00AD\u200C" or form(character))
    text = re.sub(f"[\u00AC\u00AD](?=[{BLANKS}]*[{BREAKS}])[{BLANKS}]*", "", text).replace("\u00AD", "")
    return re.sub(f"(?<=[{ARABIC}])\u200C|\u200C(?=[{ARABIC}])", " ", text).replace("\u200C", "")


def segments(text):
    """A segment has at most MOST_IN_SEGMENT code points, before they are replaced by their forms. One for
    which there is no room begins a segment, and those that join go on with that one."""
    found = []
    for character in without_hints(text):
        if found and joins(character) and len(found[-1]) < MOST_IN_SEGMENT:
            found[-1] += character
        else:
            found.append(character)
    return found


def normalised_segment(segment):
    # One that is not assigned stays as it is, and what follows has nothing to compose with.
    if segment and category(segment[0]) == "Cn":
        return segment[0] + normalised_segment(segment[1:])
    composed = unicodedata.normalize("NFC", "".join(map(form, segment)))
    # Equal viramas side by side are one. Marathi's ra before a virama may have a nukta, so ra has none. The
    # Malayalam vowel sign au is its second part.
    composed = re.sub(r"(.)\1+", lambda run: run[1] if unicodedata.combining(run[1]) == VIRAMA else run[0],
                      composed, flags=re.DOTALL)
    head, *tails = composed.split("\u0931")
    for tail in tails:
        base = next((i for i, mark in enumerate(tail) if unicodedata.combining(mark) == 0), len(tail))
        head += "\u0930" + tail[:base].replace("\u093C", "") + tail[base:]
    return head.replace("\u0D4C", "\u0D57")


def normalised(text):
    return "".join(normalised_segment(segment) for segment in segments(text))


# ---- from normalised characters to features ----

# The scripts that are written without spaces. Of these, L, Nl and No are spaceless; Nd, Cn and Co are
# letters.
SPACELESS = ranges("""
    0E00-0EFF 1000-109F 1780-17FF 1950-19FF 1A20-1AAF 3005-3007 3021-3029 3031-3035 3038-303C
    3041-30FF 3100-312F 31A0-31BF 31F0-31FF 3400-4DBF 4E00-9FFF A9E0-A9FF AA60-AADF F900-FAFF
    11700-1174F 16FE0-18D7F 1AFF0-1B2FF 20000-3FFFD""")
# Extended_Pictographic and Regional_Indicator.
PICTOGRAPHS = ranges("""
    00A9 00AE 203C 2049 2122 2139 2194-2199 21A9-21AA 231A-231B 2328 2388 23CF 23E9-23F3 23F8-23FA
    24C2 25AA-25AB 25B6 25C0 25FB-25FE 2600-2605 2607-2612 2614-2685 2690-2705 2708-2712 2714 2716
    271D 2721 2728 2733-2734 2744 2747 274C 274E 2753-2755 2757 2763-2767 2795-2797 27A1 27B0 27BF
    2934-2935 2B05-2B07 2B1B-2B1C 2B50 2B55 3030 303D 3297 3299 1F000-1F0FF 1F10D-1F10F 1F12F
    1F16C-1F171 1F17E-1F17F 1F18E 1F191-1F19A 1F1AD-1F1FF 1F201-1F20F 1F21A 1F22F 1F232-1F23A
    1F23C-1F23F 1F249-1F3FA 1F400-1F53D 1F546-1F64F 1F680-1F6FF 1F774-1F77F 1F7D5-1F7FF 1F80C-1F80F
    1F848-1F84F 1F85A-1F85F 1F888-1F88F 1F8AE-1F8FF 1F90C-1F93A 1F93C-1F945 1F947-1FAFF
    1FC00-1FFFD""")
LIKE_APOSTROPHES = ranges("02B9-02FF 0559 07F4-07F5 A78B-A78C")
MOST_IN_WORD = 255  # bytes
MARKS_UP_TO = 28  # bytes: a spaceless character that has more takes no further mark


@lru_cache(maxsize=None)
def kind(character):
    """The first that fits. Cn and Co are letters (also U+FDD0 to U+FDEF), but for those that end in FFFE
    or FFFF."""
    of = category(character)
    if within(character, SIGNS_OF_RIGHTS) or within(character, LIKE_APOSTROPHES):
        return "separator"
    if within(character, PICTOGRAPHS):
        return "pictograph"
    if of[0] == "M":
        return "mark"
    if (of[0] == "L" or of in ("Nl", "No")) and within(character, SPACELESS):
        return "spaceless"
    if of in ("Cn", "Co"):
        return "separator" if ord(character) & 0xFFFE == 0xFFFE else "letter"
    return "letter" if of[0] in "LN" else "separator"


def size_of(text):
    return len(text.encode())


def words(text):
    """The words of a normalised text."""
    found, word, run = [], [], []

    def end_word():
        piece = ""
        for character in word:
            if size_of(piece + character) > MOST_IN_WORD:
                found.append(piece)
                piece = ""
            piece += character
        if piece:
            found.append(piece)
        word.clear()

    def end_run():
        found.extend(run if len(run) == 1 else [a + b for a, b in zip(run, run[1:])])
        run.clear()

    for character in text:
        of = kind(character)
        if of == "mark" and run:
            # A voicing mark of Kana does not compose yet where separators stood before it.
            composed = unicodedata.normalize("NFC", run[-1] + character)
            if character in "\u3099\u309A" and len(composed) == 1:
                run[-1] = composed
            elif size_of(run[-1]) <= MARKS_UP_TO:
                run[-1] += character
        elif of == "spaceless":
            end_word()
            run.append(character)
        elif of == "separator":
            end_word()
        else:
            end_run()
            if of == "pictograph":
                end_word()
                found.append(character)
            else:
                word.append(character)
    end_word()
    end_run()
    return found


def characters(text):
    """The characters of a normalised text, with a space where two words meet."""
    found, separated, spaced = [], False, False
    for character in text:
        of = kind(character)
        if of == "separator":
            separated = True
            continue
        of_this = of == "letter" or (of == "mark" and spaced)
        if separated and spaced and of_this:
            found.append(" ")
        found.append(character)
        separated, spaced = False, of_this
    return found


def features(text, pieces_of, width):
    """All features of a text, in order and with repetitions."""
    pieces, glue = (words, " ") if pieces_of == "words" else (characters, "")
    pieces = pieces(normalised(text))
    if not pieces:
        return []
    return [glue.join(pieces[i:i + width]) for i in range(max(1, len(pieces) - width + 1))]


# ---- simhash ----

MOST_IN_SECTION = 1 << 18  # distinct features


def log2_fixed(number):
    """2^16 times the logarithm, rounded down: exact, as n^(2^16) has one bit more than that."""
    return (number ** (1 << 16)).bit_length() - 1


@lru_cache(maxsize=None)
def balanced(feature, frequency):
    logarithm = log2_fixed(1 + frequency)
    damped = (logarithm ** 2 >> 16) * isqrt(isqrt(logarithm << 16) << 16) >> 16
    length = min(len(feature), 12)
    of_length = isqrt(length << 30 if feature[:1].isdigit() else length << 32)
    return damped * of_length >> 24


def bounded(weights):
    """No feature has more than an eighth of all weights."""
    if len(weights) < 8:
        return dict.fromkeys(weights, min(weights.values()))
    falling = sorted(weights.values(), reverse=True)
    rest = sum(falling)
    for i, weight in enumerate(falling, 1):
        if weight * (9 - i) <= rest:
            bound = rest // (9 - i)
            break
        rest -= weight
    return {feature: min(weight, bound) for feature, weight in weights.items()}


def weigh(frequencies, weighting):
    """The weights of a section's features."""
    if weighting == "balanced":
        return bounded({feature: balanced(feature, f) for feature, f in frequencies.items()})
    of_frequency = {
        "tf": lambda f: f,
        "sqrt": lambda f: isqrt(f << 16),
        "log": lambda f: (1 << 16) + (log2_fixed(f) * 2977044472 >> 32) >> 8,
        "binary": lambda f: 1,
    }[weighting]
    return {feature: of_frequency(f) for feature, f in frequencies.items()}


def simhash(found, weighting, hash_name):
    hash_of = {"xxh3": xxh3, "fnv1": fnv1}[hash_name]
    ones, total, frequencies = [0] * 64, 0, {}

    def end_section():
        nonlocal total
        for feature, weight in weigh(frequencies, weighting).items():
            value = hash_of(feature)
            total += weight
            for bit in range(64):
                ones[bit] += weight * (value >> bit & 1)
        frequencies.clear()

    for feature in found:
        if feature not in frequencies and len(frequencies) == MOST_IN_SECTION:
            end_section()
        frequencies[feature] = frequencies.get(feature, 0) + 1
    end_section()
    return sum(1 << bit for bit in range(64) if 2 * ones[bit] > total)


# ---- minhash ----

def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & LOW_64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & LOW_64
    return z ^ z >> 31


def permutation(i):
    """Its factor and its addend."""
    random = mix((i + 1) * 0x9E3779B97F4A7C15 & LOW_64)
    return random >> 32 | 1, random & LOW_32


PERMUTATIONS = [permutation(i) for i in range(256)]


def bits_of_minima(hashes, count):
    """One bit of each of the first minima."""
    numbers = {mix(value & LOW_64) & LOW_32 for value in hashes}
    minima = [min(factor * number + addend & LOW_32 for number in numbers)
              for factor, addend in PERMUTATIONS[:count]]
    return [mix((i << 32) + minimum) & 1 for i, minimum in enumerate(minima)]


def minhash_of_hashes(hashes):
    return sum(bit << i for i, bit in enumerate(bits_of_minima(hashes, 64)))


def minhash(found):
    return minhash_of_hashes({xxh3(feature) for feature in found})


def minhash_code_of_hashes(hashes, size):
    """The digits of a code: word by word, the highest bit of each first."""
    bits = bits_of_minima(hashes, size)
    words = [bits[first:first + 64] for first in range(0, size, 64)]
    return "".join(str(bit) for word in words for bit in reversed(word))


def minhash_code(found, size):
    return minhash_code_of_hashes({xxh3(feature) for feature in found}, size)


# ---- the comparison ----

def fingerprint(form, text):
    """As the file has it, by a form such as minhash/words/3, minhash_code/words/3/128 or
    simhash/words/1/balanced/xxh3."""
    function, pieces_of, width, *rest = form.split("/")
    found = [feature.encode() for feature in features(text, pieces_of, int(width))]
    if not found:
        return "\\N"
    if function == "minhash_code":
        return minhash_code(found, int(rest[0]))
    value = minhash(found) if function == "minhash" else simhash(found, *rest)
    return str(value - (value >> 63 << 64))


def unescaped(field):
    """A field in COPY's text format."""
    escapes = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}
    return re.sub(r"\\(.)", lambda match: escapes.get(match[1], match[1]), field)


def wrong_examples():
    """The examples of the page's definition that come out differently."""
    examples = [
        ("permutation 0", PERMUTATIONS[0], (0xE220A839, 0x7B1DCDAF)),
        ("permutation 1", PERMUTATIONS[1], (0x6E789E6B, 0xA1B965F4)),
        ("a code", minhash_code_of_hashes([1, 2, 3], 256),
         "".join(f"{word:064b}" for word in (0xD28A9B144290696F, 0x635BA63CB2FFC393,
                                             0xD4953EEF3B839C1F, 0xEC6302A26A15ABF5))),
        ("the hash 0", minhash_of_hashes([0]), 0x6A4299F077C263DE),
        ("the hashes 1, 2 and 3", minhash_of_hashes([1, 2, 3]), 0xD28A9B144290696F),
        ("the text a", minhash([b"a"]), 0x28B3C18985568FAA)]
    return [name for name, here, documented in examples if here != documented]


def compare(path):
    """Prints what differs. Returns whether nothing does."""
    with open(path, encoding="utf-8", newline="\n") as file:
        heading, *rows = (line.rstrip("\n").split("\t") for line in file)
    compared, differing, left_out = 0, len(wrong_examples()), 0
    for name in wrong_examples():
        print(f"the page's example of {name} differs")
    for name, text, *answers in rows:
        text = unescaped(text)
        if unknown(text):
            names = ", ".join(f"U+{ord(character):04X}" for character in unknown(text))
            print(f"{name} is not compared: Unicode {unicodedata.unidata_version}, which this "
                  f"Python has, does not assign {names}")
            left_out += 1
            continue
        for form, answer in zip(heading[2:], answers):
            here = fingerprint(form, text)
            compared += 1
            if here != answer:
                differing += 1
                print(f"{name}: {form} is {answer}, here {here}")
    print(f"{len(rows) - left_out} of {len(rows)} texts, {compared} fingerprints, {differing} differ")
    return compared > 0 and differing == 0


def main():
    if sys.argv[1:2] == ["--features"] and len(sys.argv) == 3:
        for pieces_of, width in ("words", 1), ("words", 3), ("chars", 3):
            print(f"{pieces_of}, {width}:", " | ".join(features(sys.argv[2], pieces_of, width)))
        return 0
    here = os.path.dirname(os.path.abspath(__file__))
    path = sys.argv[1] if len(sys.argv) == 2 else os.path.join(here, "data", "known_answers.tsv")
    return 0 if compare(path) else 1


if __name__ == "__main__":
    sys.exit(main())
