#!/usr/bin/env python3
"""Prints the text files in a folder and below it, one a line: test/bench/folder_documents.py FOLDER. Of UTF-8, in the order of their
names; control characters, of which lines end with some, become spaces. Files without a letter or a digit are left out."""
import os
import sys

SPACES = {code: " " for code in range(32)}

for top, folders, names in os.walk(sys.argv[1]):
    folders.sort()
    for path in (os.path.join(top, name) for name in sorted(names)):
        if os.path.islink(path) or not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            data = file.read()
        try:
            text = data.decode()
        except UnicodeDecodeError:
            continue
        if "\0" not in text and any(character.isalnum() for character in text):
            sys.stdout.buffer.write(text.translate(SPACES).encode() + b"\n")
