#!/usr/bin/env python3
"""How near the perceptual hashes of a picture's copies are: pictures.py FOLDER

Fetches the pictures of some of Debian's packages (wallpapers, photographs, drawings, textures) into
a folder, hashes each and copies of it, and writes the share of copies within each radius, and how
many of a million pairs of different pictures are, as a table in Markdown. Needs python3-pil.

The hashes are those of docs/fingerprints-from-elsewhere.md, each of 64 bits, written from their
descriptions: average hash and difference hash (Krawetz), and the signs of a cosine transform about
their median.
"""
import io
import itertools
import math
import os
import statistics
import sys

from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageOps

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


def bits(values):
    return sum(bool(value) << place for place, value in enumerate(values))


def grey(picture, width, height):
    return list(picture.convert("L").resize((width, height), Image.LANCZOS).getdata())


def average_hash(picture):
    pixels = grey(picture, 8, 8)
    mean = sum(pixels) / len(pixels)
    return bits(pixel > mean for pixel in pixels)


def difference_hash(picture):
    pixels = grey(picture, 9, 8)
    return bits(pixels[9 * y + x + 1] > pixels[9 * y + x] for y in range(8) for x in range(8))


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


COPIES = {
    "the same again": (
        lambda picture: reduced(picture, 2), lambda picture: reduced(picture, 4), jpeg,
        lambda picture: ImageEnhance.Brightness(picture).enhance(1.2),
        lambda picture: picture.filter(ImageFilter.GaussianBlur(2))),
    "edited": (
        lambda picture: cut(picture, .02), lambda picture: cut(picture, .05),
        lambda picture: ImageOps.expand(picture, int(picture.width * .03), fill="white"),
        captioned),
}


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


def within(distances, number):
    """`number` times the share of the distances that are within each radius."""
    return [number * sum(distance <= radius for distance in distances) / len(distances)
            for radius in RADII]


def distance(a, b):
    return (a ^ b).bit_count()


def print_table(collection):
    print(f"{len(collection)} pictures\n")
    print("| hash | copies |", *(f"{radius} |" for radius in RADII))
    print("|---|---|" + "--:|" * len(RADII))
    for name, hash_of in HASHES.items():
        hashes = [hash_of(picture) for picture in collection]
        for kind, makers in COPIES.items():
            distances = [distance(of_picture, hash_of(make(picture))) for make in makers
                         for picture, of_picture in zip(collection, hashes)]
            print(f"| {name} | {kind} |", *(f"{share:.2f} |" for share in within(distances, 1)))
        distances = [distance(a, b) for a, b in itertools.combinations(hashes, 2)]
        print("| | others, per million |",
              *(f"{count:,.0f} |".replace(",", " ") for count in within(distances, 1_000_000)))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0])
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(folder, exist_ok=True)
    Apt(folder).unpack(RELEASE, {name: os.path.join(folder, name) for name in PACKAGES})
    print_table([picture for name in PACKAGES for picture in pictures(os.path.join(folder, name))])


main()
