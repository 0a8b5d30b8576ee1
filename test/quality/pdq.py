"""PDQ, a perceptual hash of pictures in 256 bits, written from its description ("The TMK+PDQF
Video-Hashing Algorithm and the PDQ Image-Hashing Algorithm", Facebook, 2019). Needs python3-numpy.

A picture's brightness is smoothed and reduced to 64 x 64 points, of which a cosine transform keeps
16 x 16 waves, the constant one left out. A bit tells whether a wave is above the median of all.
Each step but the last is linear and the same along rows as along columns, so it is a matrix: for a
picture L of brightness, the waves are W(height) L W(width)^T.

    python3 pdq.py PICTURE...    prints hash, quality and name of each
"""
import functools
import math
import sys

import numpy
from PIL import Image

POINTS, WAVES = 64, 16
GREATEST_SIDE = 512  # pixels; a larger picture is reduced to this width and height first
BRIGHTNESS = (.299, .587, .114)  # of red, green and blue
USUAL_RADIUS = 31  # bits; its authors call pictures alike within it
LEAST_QUALITY = 50  # they leave out pictures of less


def mean_of_window(size, window):
    """The matrix that replaces each pixel of a row by the mean of the window about it, which is cut
    off at the row's ends. An even window reaches further to the right."""
    right = (window + 2) // 2
    left = window - right
    first = numpy.arange(size)[:, None] - left
    place = numpy.arange(size)[None, :]
    inside = (first <= place) & (place < first + window)
    return inside / inside.sum(axis=1, keepdims=True)


@functools.lru_cache(maxsize=1000)
def reduction(size):
    """The matrix that makes POINTS points of a row: two means (a tent), then every n-th pixel."""
    if size == POINTS:
        return numpy.identity(POINTS)
    mean = mean_of_window(size, -(-size // (2 * POINTS)))
    taken = [int((point + .5) * size / POINTS) for point in range(POINTS)]
    return (mean @ mean)[taken]


COSINES = math.sqrt(2 / POINTS) * numpy.cos(
    math.pi / (2 * POINTS) * numpy.outer(range(1, WAVES + 1), range(1, 2 * POINTS, 2)))


def points(picture):
    picture = picture.convert("RGB")
    if max(picture.size) > GREATEST_SIDE:
        picture = picture.resize((GREATEST_SIDE, GREATEST_SIDE), Image.BOX)
    pixels = numpy.asarray(picture, dtype=float) @ BRIGHTNESS
    return reduction(picture.height) @ pixels @ reduction(picture.width).T


def quality(picture):
    """0 for a plain picture to 100 for one full of edges."""
    grid = points(picture)
    steps = sum(numpy.trunc(numpy.diff(grid, axis=axis) * 100 / 255).astype(int)
                .__abs__().sum() for axis in (0, 1))
    return min(100, int(steps / 90))


def pdq_hash(picture):
    """As a number of 256 bits. The last of its hexadecimal digits have the longest waves."""
    waves = COSINES @ points(picture) @ COSINES.T
    above = waves > numpy.sort(waves, axis=None)[WAVES * WAVES // 2 - 1]
    return sum(1 << place for place in map(int, numpy.flatnonzero(above)))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for path in sys.argv[1:]:
        picture = Image.open(path)
        print(f"{pdq_hash(picture):064x} {quality(picture):3} {path}")


if __name__ == "__main__":
    main()
