#!/usr/bin/env python3
"""How near the perceptual hashes of a picture's copies are: pictures.py FOLDER

Fetches the pictures of some of Debian's packages (wallpapers, photographs, drawings, textures) into
a folder, hashes each and copies of it, and writes the share of copies within each radius, and how
many of a million pairs of different pictures are, as tables in Markdown. Needs python3-numpy and
python3-pil.

The hashes are those of docs/pictures.md, written from their descriptions: of 64 bits, average
hash and difference hash (Krawetz), and the signs of a cosine transform about their median; of 256
bits, PDQ (pdq.py).

An index cuts a hash of 256 bits into four words and finds the rows that have a word near the
query's. The last table says how many strangers it looks at, by the way in which bits are dealt to
words.
"""
import io
import itertools
import math
import os
import statistics
import sys

import numpy
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageOps

import pdq
from corpora import Apt

RELEASE = "bookworm"
PACKAGES = ("gcompris-qt-data", "gnome-backgrounds", "mate-backgrounds",
            "plasma-workspace-wallpapers", "scratch", "tuxpaint-stamps-default",
            "ukui-wallpapers")
MOST_OF_PACKAGE = 150
ENDINGS = (".jpg", ".jpeg", ".png", ".webp")
LEAST_BYTES = 20_000  # of a file; less are icons
LEAST_SIDE, GREATEST_SIDE = 150, 800  # pixels; larger pictures are reduced
RADII = (4, 6, 8, 10, 12)
PDQ_RADII = (15, 23, 31, 39, 47)
BITS, WORD_BITS, BLOCK_BITS = 256, 64, 16  # of a wide hash, its words, and their blocks
WORD_RADIUS, BLOCK_RADIUS = 7, 1  # within which hashes within PDQ's radius agree somewhere


def bits(values):
    return sum(bool(value) << place for place, value in enumerate(values))


def grey(picture, width, height):
    return list(picture.convert("L").resize((width, height), Image.LANCZOS).getdata())


def average_hash(picture, side=8):
    pixels = grey(picture, side, side)
    mean = sum(pixels) / len(pixels)
    return bits(pixel > mean for pixel in pixels)


def difference_hash(picture, side=8):
    pixels = grey(picture, side + 1, side)
    return bits(pixels[place + 1] > pixels[place] for y in range(side)
                for place in range((side + 1) * y, (side + 1) * y + side))


COSINES = [[math.cos(math.pi * wave * (2 * n + 1) / 64) for n in range(32)] for wave in range(8)]


def cosine_hash(picture):
    pixels = grey(picture, 32, 32)
    rows = [[sum(map(float.__mul__, wave, map(float, pixels[32 * y:32 * y + 32])))
             for wave in COSINES] for y in range(32)]
    lowest = [sum(wave[y] * rows[y][across] for y in range(32))
              for wave in COSINES for across in range(8)]
    median = statistics.median(lowest)
    return bits(value > median for value in lowest)


HASHES = {"difference hash (dHash)": difference_hash, "cosine transform (pHash)": cosine_hash,
          "average hash (aHash)": average_hash}


def jpeg(picture):
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=30)
    return Image.open(file)


def reduced(picture, times):
    size = max(picture.width // times, 1), max(picture.height // times, 1)
    return picture.resize(size, Image.BILINEAR)


def cut(picture, share):
    width, height = picture.size
    return picture.crop((int(width * share), int(height * share), int(width * (1 - share)),
                         int(height * (1 - share))))


def captioned(picture):
    picture = picture.copy()
    width, height = picture.size
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, height * 7 // 8, width, height), fill="white")
    draw.text((width // 10, height * 15 // 16), "a caption in small letters", fill="black")
    return picture


CHANGES = {
    "half the size": lambda picture: reduced(picture, 2),
    "a quarter of the size": lambda picture: reduced(picture, 4),
    "JPEG of quality 30": jpeg,
    "a fifth brighter": lambda picture: ImageEnhance.Brightness(picture).enhance(1.2),
    "blurred": lambda picture: picture.filter(ImageFilter.GaussianBlur(2)),
    "2 % cut off each side": lambda picture: cut(picture, .02),
    "5 % cut off each side": lambda picture: cut(picture, .05),
    "a frame of 3 %": lambda picture: ImageOps.expand(picture, int(picture.width * .03),
                                                      fill="white"),
    "a caption over an eighth": captioned,
}
KINDS = {"the same again": list(CHANGES)[:5], "edited": list(CHANGES)[5:]}


def picture_paths(folder):
    """One file of each picture: there may be several sizes, in a folder named for it."""
    largest = {}
    for top, folders, names in os.walk(folder):
        folders.sort()
        for path in (os.path.join(top, name) for name in sorted(names)):
            if path.endswith(ENDINGS) and os.path.getsize(path) >= LEAST_BYTES:
                name = path.split("/contents/")[0]
                largest[name] = max(largest.get(name, path), path, key=os.path.getsize)
    return list(largest.values())


def pictures(folder):
    paths = picture_paths(folder)
    for path in paths[::math.ceil(len(paths) / MOST_OF_PACKAGE)]:
        picture = Image.open(path)
        if picture.mode in ("RGBA", "LA", "P"):
            picture = picture.convert("RGBA")
            picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
        picture = picture.convert("RGB")
        picture.thumbnail((GREATEST_SIDE, GREATEST_SIDE))
        if min(picture.size) >= LEAST_SIDE:
            yield picture


def shares_within(distances, radii, number=1):
    """`number` times the share of the distances that are within each radius."""
    return [number * sum(distance <= radius for distance in distances) / len(distances)
            for radius in radii]


def distance(a, b):
    return (a ^ b).bit_count()


def distances_of_copies(collection, hashes, hash_of, names):
    return [distance(of_picture, hash_of(CHANGES[name](picture))) for name in names
            for picture, of_picture in zip(collection, hashes)]


def heading(first, last):
    print(first, *(f"{radius} |" for radius in last))
    print("|---" * (first.count("|") - 1) + "|" + "--:|" * len(last))


def print_shares(label, shares):
    print(label, *(f"{share:.2f} |" for share in shares))


def print_counts(label, counts):
    print(label, *(f"{count:,.0f} |".replace(",", " ") for count in counts))


def print_table(collection):
    heading("| hash | copies |", RADII)
    for name, hash_of in HASHES.items():
        hashes = [hash_of(picture) for picture in collection]
        for kind, names in KINDS.items():
            distances = distances_of_copies(collection, hashes, hash_of, names)
            print_shares(f"| {name} | {kind} |", shares_within(distances, RADII))
        distances = [distance(a, b) for a, b in itertools.combinations(hashes, 2)]
        print_counts("| | others, per million |", shares_within(distances, RADII, 1_000_000))


def print_pdq(copies, hashes, detailed):
    """copies: the hashes of each change. detailed: whether each picture has the quality that PDQ's
    authors ask for."""
    print(f"\n{sum(detailed)} of them have PDQ's least quality, {pdq.LEAST_QUALITY}\n")
    heading("| PDQ |", PDQ_RADII)
    for name, of_change in copies.items():
        distances = [distance(a, b) for a, b in zip(hashes, of_change)]
        print_shares(f"| {name} |", shares_within(distances, PDQ_RADII))
    for words, chosen in (("", hashes),
                          (", of the least quality", list(itertools.compress(hashes, detailed)))):
        distances = [distance(a, b) for a, b in itertools.combinations(chosen, 2)]
        print_counts(f"| others, per million{words} |",
                     shares_within(distances, PDQ_RADII, 1_000_000))


WIDE_HASHES = {"PDQ": pdq.pdq_hash, "dHash, 16 x 16": lambda picture: difference_hash(picture, 16),
               "aHash, 16 x 16": lambda picture: average_hash(picture, 16)}


def scattered(bit):
    """As the index does (src/core/bits): by a step that is near a share of sqrt(2) - 1 and has no
    divisor in common with the number of bits."""
    step = next(step for step in itertools.count(BITS * 29 // 70 + 1) if math.gcd(step, BITS) == 1)
    return bit * step % BITS


# The place of a bit among the words' bits, one word after the other.
DEALINGS = {
    "adjacent": lambda bit: bit,
    "by turns": lambda bit: bit % 4 * WORD_BITS + bit // 4,
    "scattered": scattered,
}


def quarters(picture):
    across, down = picture.width // 2, picture.height // 2
    return [picture.crop((x, y, x + across, y + down)) for x in (0, across) for y in (0, down)]


def differing(signs):
    """Of each two rows of +1 and -1, in how many columns they differ."""
    size = signs.shape[1]
    pairs = numpy.triu_indices(len(signs), 1)
    return ((size - signs @ signs.T) / 2).round().astype(numpy.int16)[pairs]


def shares_that_meet(signs, part_bits, radius, strangers):
    """Of each part_bits bits in turn, the share of strangers that are within the radius in them."""
    return [numpy.mean(differing(signs[:, first:first + part_bits])[strangers] <= radius)
            for first in range(0, BITS, part_bits)]


def print_words(collection):
    print(f"\n| {BITS} bits | dealt to words | a word within {WORD_RADIUS}, per million | "
          f"a block of {BLOCK_BITS} bits within {BLOCK_RADIUS} |\n|---|---|--:|--:|")
    for name, hash_of in WIDE_HASHES.items():
        hashes = sorted({hash_of(picture) for picture in collection})
        signs = numpy.array([[2 * (of_picture >> bit & 1) - 1 for bit in range(BITS)]
                             for of_picture in hashes], dtype=numpy.float32)
        strangers = differing(signs) > pdq.USUAL_RADIUS
        for words, place in DEALINGS.items():
            dealt = numpy.empty_like(signs)
            dealt[:, [place(bit) for bit in range(BITS)]] = signs
            counts = (sum(shares_that_meet(dealt, WORD_BITS, WORD_RADIUS, strangers)),
                      numpy.mean(shares_that_meet(dealt, BLOCK_BITS, BLOCK_RADIUS, strangers)))
            print_counts(f"| {name} | {words} |", (1_000_000 * count for count in counts))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0])
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(folder, exist_ok=True)
    Apt(folder).unpack(RELEASE, {name: os.path.join(folder, name) for name in PACKAGES})
    collection = [picture for name in PACKAGES
                  for picture in pictures(os.path.join(folder, name))]
    print(f"{len(collection)} pictures\n")
    print_table(collection)
    hashes = [pdq.pdq_hash(picture) for picture in collection]
    copies = {name: [pdq.pdq_hash(change(picture)) for picture in collection]
              for name, change in CHANGES.items()}
    print_pdq(copies, hashes, [pdq.quality(picture) >= pdq.LEAST_QUALITY for picture in collection])
    print_words(collection + [part for picture in collection for part in quarters(picture)])


main()
