#!/usr/bin/env python3
"""Writes docs/block-tables.svg, the picture of how block tables find a neighbour.

    scripts/block_tables.py > docs/block-tables.svg

What is shown is computed: the fingerprints come from a fixed seed, the rows are sorted by the
permutation that src/core/layout/layout.hpp makes of each block, the distances are counted. The same
script gives the same picture, and scripts/check.sh compares.
"""
import sys

RADIUS = 3
BLOCKS = "ABCD"
BLOCK_BITS = 16  # in one block

# ---- the fingerprints ----


def random_words(seed):
    """64-bit words of a fixed sequence (splitmix64)."""
    mask = (1 << 64) - 1
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        word = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & mask
        word = (word ^ word >> 27) * 0x94D049BB133111EB & mask
        yield word ^ word >> 31


def shift_of(block):
    return 64 - BLOCK_BITS * (block + 1)


def block_of(fingerprint, block):
    return fingerprint >> shift_of(block) & 0xFFFF


def with_block(fingerprint, block, bits):
    return fingerprint ^ (block_of(fingerprint, block) ^ bits) << shift_of(block)


def distance(a, b):
    return bin(a ^ b).count("1")


words = random_words(42)
QUERY = next(words)
# Position of a bit counted from the left: one each in the blocks A, C and D.
NEIGHBOUR = QUERY ^ 1 << 63 - 6 ^ 1 << 63 - 43 ^ 1 << 63 - 55
# Two that agree with the query in a block by accident, and others.
ROWS = [NEIGHBOUR, with_block(next(words), 1, block_of(QUERY, 1)),
        with_block(next(words), 2, block_of(QUERY, 2))] + [next(words) for _ in range(4)]
assert distance(QUERY, NEIGHBOUR) == RADIUS


def permuted(fingerprint, block):
    """The four blocks as the block table has them: its own first, then those after it, going round."""
    order = [(block + i) % 4 for i in range(4)]
    return [(other, block_of(fingerprint, other)) for other in order]


def table_rows(block):
    return sorted(ROWS, key=lambda row: [bits for _, bits in permuted(row, block)])


# ---- the picture ----

# All in pixels.
WIDTH, HEIGHT = 880, 548
MARGIN = 24
LEFT = 112  # of the bits
BIT = 11  # width of one
BLOCK_GAP = 10
PANEL, PANEL_GAP = 202, 8
ROW_HEIGHT = 22

STYLE = """
text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
       font-size: 13px; fill: #1f2328 }
.card { fill: #ffffff; stroke: #d1d9e0 }
.panel { fill: #f6f8fa; stroke: #d1d9e0 }
.small { font-size: 12px }
.step { font-weight: 600; font-size: 14px }
.number { fill: #ffffff; font-weight: 600; text-anchor: middle }
.badge { fill: #57606a }
.quiet { fill: #59636e }
.middle { text-anchor: middle }
.mono { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace }
.bold { font-weight: 700 }
.differs { fill: #cf222e }
text.on-differs { fill: #ffffff; font-weight: 700 }
.line { stroke: #59636e; stroke-width: 1.5; fill: none }
.dot { fill: #cf222e }
.found { fill: #1a7f37; font-weight: 700 }
.A { fill: #0550ae } .B { fill: #116329 } .C { fill: #953800 } .D { fill: #6639ba }
.tint-A { fill: #ddf4ff } .tint-B { fill: #d2f5da }
.tint-C { fill: #fff0d6 } .tint-D { fill: #f3e8ff }
.rim-A { stroke: #0969da } .rim-B { stroke: #1a7f37 }
.rim-C { stroke: #bc4c00 } .rim-D { stroke: #8250df }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .card { fill: #0d1117; stroke: #3d444d }
  .panel { fill: #151b23; stroke: #3d444d }
  .number { fill: #0d1117 }
  .badge { fill: #9198a1 }
  .quiet { fill: #9198a1 }
  .differs { fill: #f85149 }
  text.on-differs { fill: #0d1117 }
  .line { stroke: #9198a1 }
  .dot { fill: #f85149 }
  .found { fill: #3fb950 }
  .A { fill: #79c0ff } .B { fill: #7ee787 } .C { fill: #ffa657 } .D { fill: #d2a8ff }
  .tint-A { fill: #0c2d6b } .tint-B { fill: #0f3d1e }
  .tint-C { fill: #4d2600 } .tint-D { fill: #3c1e70 }
  .rim-A { stroke: #58a6ff } .rim-B { stroke: #3fb950 }
  .rim-C { stroke: #f0883e } .rim-D { stroke: #bc8cff }
}
"""

out = []


def rectangle(x, y, width, height, classes, radius=4):
    out.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}" '
               f'class="{classes}"/>')


def outline(x, y, width, height, classes):
    out.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" fill="none" '
               f'stroke-width="1.5" class="{classes}"/>')


def text(x, y, what, classes=""):
    style = f' class="{classes}"' if classes else ""
    out.append(f'<text x="{x}" y="{y}"{style}>{what}</text>')


def step(number, y, what):
    out.append(f'<circle cx="{MARGIN + 10}" cy="{y - 5}" r="10" class="badge"/>')
    text(MARGIN + 10, y, number, "number")
    text(MARGIN + 30, y, what, "step")


def block_left(block):
    return LEFT + block * (BLOCK_BITS * BIT + BLOCK_GAP)


def block_middle(block):
    return block_left(block) + BLOCK_BITS * BIT / 2


def draw_bits(y, label, fingerprint, other):
    text(MARGIN, y, label, "small")
    for block, name in enumerate(BLOCKS):
        left = block_left(block)
        rectangle(left - 3, y - 16, BLOCK_BITS * BIT + 6, 23, f"tint-{name}")
        for i in range(BLOCK_BITS):
            place = 63 - (block * BLOCK_BITS + i)
            bit = fingerprint >> place & 1
            centre = left + i * BIT + BIT / 2
            if (fingerprint ^ other) >> place & 1:
                rectangle(centre - 6, y - 13.5, 12, 18, "differs", 3)
                text(centre, y, bit, "mono middle on-differs")
            else:
                text(centre, y, bit, f"mono middle {name}")


def draw_fingerprints(top):
    step(1, top, "Cut 64 bits into 4 blocks. 3 differing bits cannot touch all of them.")
    for block, name in enumerate(BLOCKS):
        text(block_middle(block), top + 28, f"block {name}", f"middle bold {name}")
    draw_bits(top + 54, "query", QUERY, NEIGHBOUR)
    draw_bits(top + 84, "neighbour", NEIGHBOUR, QUERY)
    dot(MARGIN + 72, top + 79.5)
    for block, name in enumerate(BLOCKS):
        differing = distance(block_of(QUERY, block), block_of(NEIGHBOUR, block))
        words = "1 bit differs" if differing else "equal"
        text(block_middle(block), top + 110, words,
             "middle quiet" if differing else f"middle bold {name}")


def panel_left(block):
    return MARGIN + block * (PANEL + PANEL_GAP)


def dot(x, y):
    out.append(f'<circle cx="{x}" cy="{y}" r="3.5" class="dot"/>')


def draw_row(left, y, fingerprint, block, chosen):
    name = BLOCKS[block]
    if chosen:
        rectangle(left + 8, y - 15, PANEL - 16, ROW_HEIGHT - 1, f"tint-{name}")
        outline(left + 8, y - 15, PANEL - 16, ROW_HEIGHT - 1, f"rim-{name}")
    for place, (other, bits) in enumerate(permuted(fingerprint, block)):
        classes = f"bold {BLOCKS[other]}" if place == 0 else "quiet"
        text(left + 30 + place * 40, y, f"{bits:04x}", f"mono {classes}")
    if fingerprint == NEIGHBOUR:
        dot(left + 19, y - 4.5)


def draw_tables(top):
    step(2, top, "Each block table has all fingerprints, its own block first, sorted. "
                 "Look up the query’s block in each.")
    height = 66 + len(ROWS) * ROW_HEIGHT
    for block, name in enumerate(BLOCKS):
        left, wanted = panel_left(block), block_of(QUERY, block)
        rectangle(left, top + 16, PANEL, height, "panel", 6)
        text(left + 14, top + 38, f"block table {name}", f"bold {name}")
        out.append(f'<text x="{left + 14}" y="{top + 58}" class="quiet">look up '
                   f'<tspan class="mono bold {name}">{wanted:04x}</tspan></text>')
        y = top + 84
        before = sum(block_of(row, block) < wanted for row in ROWS)
        if all(block_of(row, block) != wanted for row in ROWS):  # where it would stand
            line = y - 15.5 + before * ROW_HEIGHT
            out.append(f'<path d="M{left + 8} {line:g}h{PANEL - 16}" stroke-dasharray="4 3" '
                       f'stroke-width="1.5" class="rim-{name}"/>')
        for row in table_rows(block):
            draw_row(left, y, row, block, block_of(row, block) == wanted)
            y += ROW_HEIGHT
    return top + 16 + height


def draw_checks(top, bottom_of_tables):
    for block, name in enumerate(BLOCKS):
        left, middle = panel_left(block), panel_left(block) + PANEL / 2
        candidates = [row for row in table_rows(block)
                      if block_of(row, block) == block_of(QUERY, block)]
        if not candidates:
            text(middle, top + 42, "no candidate", "middle quiet")
            continue
        out.append(f'<path d="M{middle:g} {bottom_of_tables + 3}V{top - 28}'
                   f'M{middle - 5:g} {top - 34}l5 6l5 -6" class="line"/>')
        y = top + 42 - (len(candidates) - 1) * 11
        for row in candidates:
            far = distance(row, QUERY)
            if far <= RADIUS:
                text(middle, y, f"distance {far}: neighbour ✓", "middle found")
            else:
                text(middle, y, f"distance {far}: dropped", "middle quiet")
            y += 22
    step(3, top, "Compare the candidates with the query, all 64 bits: "
                 "what is within 3 bits is the answer.")


def draw():
    out.append(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
               f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="title description">')
    out.append('<title id="title">How block tables find a neighbour</title>')
    out.append('<desc id="description">Two fingerprints that differ in 3 bits agree in one of four '
               'blocks of 16 bits. In the table sorted by that block, a look-up of the query’s '
               'block finds the neighbour among the candidates, and the distance decides.</desc>')
    out.append(f"<style>{STYLE}</style>")
    rectangle(0.5, 0.5, WIDTH - 1, HEIGHT - 1, "card", 10)
    draw_fingerprints(36)
    bottom = draw_tables(188)
    draw_checks(bottom + 56, bottom)
    out.append("</svg>")
    return "\n".join(out) + "\n"


sys.stdout.reconfigure(encoding="utf-8")
sys.stdout.write(draw())
