#!/usr/bin/env python3
"""Mutants: copies of the source with one mistake each (run.sh beside this file tests them).

    mutate.py check                    fails where a planted mistake does not fit the source any more
    mutate.py names planted            the names of the planted mistakes
    mutate.py names machine SEED N     the names of N changes of an operator, drawn by the seed
    mutate.py hint NAME                the tests that are expected to notice it
    mutate.py reason NAME              why it changes nothing, where it is known to
    mutate.py tests [FILE...]          the tests that hold these files of the source: those that are expected to
                                       notice mistakes in them, and those of test/holds.txt; without a file
                                       the list of all, which fails where a file has none
    mutate.py needs NAME               `assertions` where only a server with assertions can notice it
    mutate.py apply NAME FOLDER        puts the mistake into the copy of the source in FOLDER
    mutate.py report RESULTS           run.sh's results as tables

The planted mistakes are in planted/*.txt. One of them:

    == push-down-without-flags
    The page below a root that was pushed down is not flagged as a leaf.
    in src/index/insert/split.cpp
    found by sql/splits
    - init_page(child_page, tree.number, level, page_opaque(root_page)->flags);
    + init_page(child_page, tree.number, level, 0);

The lines with - stand once in the file, with those of + in their place. There may be several such
pairs, and another `in FILE` between them. Comments do not count, nor does where lines break.
`found by` names the tests that run first: it saves time and promises nothing. Where a mistake turns
out to change nothing that anybody could notice, a line `changes nothing: WHY` says so, and it is
not run. `unnoticed: WHY` says why no test is known that notices it. `needs assertions`: it is run
only where the server was configured with --enable-cassert.

A machine-made name is FILE:LINE:COLUMN:OPERATOR.
"""
import fnmatch
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent

# ---- planted mistakes ----


class Planted:
    def __init__(self, name, theme):
        self.name, self.theme = name, theme
        self.what, self.reason, self.unnoticed, self.needs = [], "", "", ""
        self.hints, self.edits = [], []

    def add_line(self, line):
        sign, text = line[:1], line[2:]
        if line.startswith("in "):
            self.edits.append([line[3:].strip(), [], []])
        elif line.startswith("found by "):
            self.hints += line[9:].replace(",", " ").split()
        elif line.startswith("changes nothing: "):
            self.reason = line[17:].strip()
        elif line.startswith("needs "):
            self.needs = line[6:].strip()
        elif line.startswith("unnoticed: "):
            self.unnoticed = line[11:].strip()
        elif sign == "-":
            file, removed, added = self.edits[-1]
            if added:
                self.edits.append([file, [], []])
            self.edits[-1][1].append(text)
        elif sign == "+":
            self.edits[-1][2].append(text)
        elif line.strip():
            self.what.append(line.strip())


def planted():
    """Returns all of them, by name."""
    found = {}
    for path in sorted((HERE / "planted").glob("*.txt")):
        mutant = None
        for line in path.read_text().splitlines():
            if line.startswith("== "):
                mutant = Planted(line[3:].strip(), path.stem)
                if mutant.name in found:
                    sys.exit(f"{path}: {mutant.name} stands twice")
                found[mutant.name] = mutant
            elif mutant is not None and not line.startswith("#"):
                mutant.add_line(line)
    return found


def pattern_of(code):
    """A pattern of the same tokens, whatever space and comments stand between them."""
    tokens = re.findall(r"\w+|[^\w\s]", re.sub(r"//[^\n]*", "", code))
    return re.compile(r"(?:\s|//[^\n]*\n)*".join(map(re.escape, tokens)))


def replaced(text, removed, added):
    """Returns the changed text, or says why there is none."""
    places = list(pattern_of("\n".join(removed)).finditer(text))
    if len(places) != 1:
        return None, f"{len(places)} places have: {' '.join(removed).strip()}"
    begin, end = places[0].span()
    return text[:begin] + "\n".join(added) + text[end:], ""


def apply_planted(mutant, folder):
    """Changes the files. Returns what is wrong, or an empty text."""
    texts = {}
    for file, removed, added in mutant.edits:
        path = folder / file
        if path not in texts:
            if not path.exists():
                return f"there is no {file}"
            texts[path] = path.read_text()
        texts[path], wrong = replaced(texts[path], removed, added)
        if wrong:
            return f"{file}: {wrong}"
    for path, text in texts.items():
        path.write_text(text)
    return "" if texts else "it changes no file"


def misfits():
    """Returns (name, what is wrong) of the mistakes that cannot be put into the source."""
    wrong = []
    for mutant in planted().values():
        texts = {}
        for file, removed, added in mutant.edits:
            path = TOP / file
            text = texts.get(path) or (path.read_text() if path.exists() else "")
            text, misfit = replaced(text, removed, added)
            if misfit:
                wrong.append((mutant.name, f"{file}: {misfit}"))
                break
            texts[path] = text
        if not mutant.edits or not mutant.what:
            wrong.append((mutant.name, "it lacks a sentence or an edit"))
    return wrong


# ---- which tests hold a file ----


def held_by():
    """Returns a function from a file of the source to its tests, those that are likeliest first."""
    lines = [line.split() for line in (HERE.parent / "holds.txt").read_text().splitlines()
             if line and not line.startswith("#")]
    hints = {}
    for mutant in planted().values():
        for file, _, _ in mutant.edits:
            if not mutant.reason:
                hints.setdefault(file, []).extend(mutant.hints)

    def tests_of(file):
        # Headers are held by what holds the source file beside them.
        beside = [file, str(pathlib.Path(file).with_suffix(".cpp"))]
        found = sum((hints.get(name, []) for name in dict.fromkeys(beside)), [])
        # The last line that matches is the most special one.
        for pattern, *tests in reversed(lines):
            if any(fnmatch.fnmatchcase(name, pattern) for name in beside):
                found += tests
        return list(dict.fromkeys(found))
    return tests_of


def print_tests(files):
    tests_of = held_by()
    if files:
        print("\n".join(dict.fromkeys(test for file in files for test in tests_of(file))))
        return
    bare = 0
    for path in sorted((TOP / "src").rglob("*.?pp")):
        file = str(path.relative_to(TOP))
        tests = tests_of(file)
        bare += not tests
        print(f"{file:<44} {' '.join(tests) or 'NONE'}")
    sys.exit(1 if bare else 0)


def missing_tests():
    """Returns the tests that are named, in hints and in the list, and do not exist."""
    named = {test for mutant in planted().values() for test in mutant.hints}
    for line in (HERE.parent / "holds.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            named.update(line.split()[1:])
    folders = {"sql": "sql/{}.sql", "isolation": "test/isolation/specs/{}.spec", "tap": "test/t/{}_*.pl"}
    return sorted(test for test in named if test.split("/")[0] in folders and "/" in test and
                  not list(TOP.glob(folders[test.split("/")[0]].format(test.split("/", 1)[1]))))


# ---- machine-made ones ----

MACHINE_FILES = ["src/index/**/*.?pp", "src/planner/*.?pp", "src/core/layout/*.?pp",
                 "src/core/leaf/*.?pp", "src/core/pairs/*.?pp"]
# clang-format puts spaces around binary operators, and none around template brackets, references
# and pointers.
OPERATORS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ",
             " != ": " == ", " && ": " || ", " || ": " && ", " + ": " - ", " - ": " + ",
             " * ": " / ", " & ": " | ", " | ": " & ", " << ": " >> ", " >> ": " << ",
             " += ": " -= ", " -= ": " += ", " |= ": " &= ", " &= ": " |= ", "++": "--",
             " - 1": "", " + 1": "", "return false;": "return true;",
             "return true;": "return false;", "std::min": "std::max", "std::max": "std::min",
             "break;": ";", "continue;": ";", "(!": "(", " !": " "}
OPERATOR = re.compile("|".join(map(re.escape, sorted(OPERATORS, key=len, reverse=True))))
# What tests cannot see: assertions, messages, preprocessor lines, declarations of templates; and
# AArch64's loops, which are not compiled here.
NO_CODE = re.compile(r'^\s*(#|template|//|Assert\(|static_assert|err|")|operator|prefetch')


def without_comment(line):
    """The line, with spaces in place of text in quotes and of a comment."""
    line = re.sub(r'"(\\.|[^"\\])*"', lambda m: " " * len(m.group()), line)
    return line.split("//")[0]


def machine_names():
    names = []
    for glob in MACHINE_FILES:
        for path in sorted(TOP.glob(glob)):
            is_neon = False
            for number, line in enumerate(path.read_text().splitlines(), 1):
                is_neon = (is_neon or "SIMHASH_NEON" in line) and not line.startswith("#endif")
                if is_neon or NO_CODE.search(line):
                    continue
                for found in OPERATOR.finditer(without_comment(line)):
                    names.append(f"{path.relative_to(TOP)}:{number}:{found.start() + 1}:"
                                 f"{found.group().strip().replace(' ', '')}")
    return names


def apply_machine(name, folder):
    file, number, column, _ = name.split(":", 3)
    path = folder / file
    lines = path.read_text().split("\n")
    line, begin = lines[int(number) - 1], int(column) - 1
    found = OPERATOR.match(line, begin)
    if not found:
        return f"{name}: there is no operator"
    lines[int(number) - 1] = line[:begin] + OPERATORS[found.group()] + line[found.end():]
    path.write_text("\n".join(lines))
    return ""


def description(name):
    if ":" not in name:
        mutant = planted()[name]
        why = mutant.reason or mutant.unnoticed
        return " ".join(mutant.what) + (f" ({why})" if why else "")
    operator = next(o for o in OPERATORS if o.strip().replace(" ", "") == name.split(":", 3)[3])
    return f"`{operator.strip()}` becomes `{OPERATORS[operator].strip() or 'nothing'}`"


# ---- the report ----

def cells(*values):
    print("| " + " | ".join(str(value) for value in values) + " |")


def report_themes(rows, mutants):
    """Counts by theme: results, and kinds of tests that noticed."""
    kinds = ["unit", "sql", "isolation", "tap"]
    cells("part of the source", "mistakes", "found", *("by " + kind for kind in kinds),
          "not noticed", "change nothing", "need assertions")
    print("|---" * (6 + len(kinds)) + "|")
    for theme in list(dict.fromkeys(mutant.theme for mutant in mutants.values())) + ["all"]:
        chosen = [row for row in rows if theme in ("all", mutants[row[0]].theme)]
        if not chosen:
            continue
        result = [row[1] for row in chosen]
        by = [row[2].split("/")[0] for row in chosen if row[1] == "found"]
        cells(theme, len(chosen), result.count("found"), *(by.count(kind) for kind in kinds),
              result.count("survived"),
              result.count("changes nothing") + result.count("same code"),
              result.count("needs assertions"))
    print()


def report(path):
    """Prints run.sh's results as tables."""
    last = {}
    for line in pathlib.Path(path).read_text().splitlines():
        last[line.split("\t")[0]] = line.split("\t")
    mutants = planted()
    rows = [last[name] for name in mutants if name in last]
    report_themes(rows, mutants)
    cells("mistake", "noticed by", "s")
    print("|---|---|---|")
    for name, result, test, seconds in rows:
        cells(description(name), test if result == "found" else result, seconds)
    missing = len(mutants) - len(rows)
    if missing:
        print(f"\n{missing} planted mistakes were not run.")
    rows = [row for name, row in last.items() if ":" in name]
    if rows:
        print()
        cells("change by machine", "what", "noticed by", "s")
        print("|---|---|---|---|")
        for name, result, test, seconds in rows:
            place = ":".join(name.split(":")[:2])
            cells(place, description(name), test if result == "found" else result, seconds)


def main(arguments):
    command, rest = arguments[0], arguments[1:]
    if command == "check":
        wrong = misfits()
        for name, why in wrong:
            print(f"{name}: {why}")
        for test in missing_tests():
            wrong.append(test)
            print(f"there is no test {test}")
        sys.exit(1 if wrong else 0)
    elif command == "tests":
        print_tests(rest)
    elif command == "names" and rest[0] == "planted":
        print("\n".join(planted()))
    elif command == "names":
        names = machine_names()
        print("\n".join(random.Random(int(rest[1])).sample(names, min(int(rest[2]), len(names)))))
    elif command == "hint":
        for hint in planted()[rest[0]].hints if ":" not in rest[0] else []:
            print(hint)
    elif command == "reason":
        print(planted()[rest[0]].reason if ":" not in rest[0] else "")
    elif command == "needs":
        print(planted()[rest[0]].needs if ":" not in rest[0] else "")
    elif command == "apply":
        name, folder = rest[0], pathlib.Path(rest[1])
        wrong = (apply_machine(name, folder) if ":" in name else
                 apply_planted(planted()[name], folder))
        sys.exit(wrong or None)
    elif command == "report":
        report(rest[0])
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
