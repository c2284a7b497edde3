#!/usr/bin/env python3
"""Checks the rules of style that a machine can judge.

  .h .cc    at most 500 lines; lines of at most 120 columns; no tabs, no blanks at the end of a line
  .h        `#pragma once`; opens with a comment of 3 to 30 lines (purpose, thread safety; 15 do without a drawing);
            no `using namespace`; helpers of tests: 1 line at least
  all text  no open ends (TO-DO and the like) and no paths of the machine it was written on

Usage: check_style.py [root]; exit 1 with one line per finding.
"""

import pathlib
import re
import sys

LINES_MAX = 500
COLUMNS_MAX = 120
OPENING_MIN, OPENING_MAX = 3, 30
CODE = {".h", ".cc"}
TEXT = CODE | {".py", ".sh", ".md", ".cmake", ".txt", ".json", ".in", ".supp", ""}
SKIPPED_FOLDERS = {".git", "build", "corpus", "golden", "data", ".cache", "__pycache__"}
# Written in pieces so that this file does not find itself.
OPEN_ENDS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
MACHINE_PATHS = re.compile(r"(?<![\w.])/(wo" r"rk/(main|shared)|ro" r"ot/|ho" r"me/\w+/)")


def files(root):
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if SKIPPED_FOLDERS.isdisjoint(relative.parts) and path.is_file() and path.suffix in TEXT:
            yield relative


def opening_lines(lines):
    """Length of the comment a file opens with."""
    count = 0
    while count < len(lines) and lines[count].startswith("//"):
        count += 1
    return count


def check_code(path, lines):
    if len(lines) > LINES_MAX:
        yield f"{path}: {len(lines)} lines, at most {LINES_MAX}: split it by noun"
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            yield f"{path}:{number}: tab"
        if line != line.rstrip():
            yield f"{path}:{number}: blanks at the end of the line"
        if len(line) > COLUMNS_MAX:
            yield f"{path}:{number}: {len(line)} columns, at most {COLUMNS_MAX}"


def check_header(path, lines):
    if "#pragma once" not in lines:
        yield f"{path}: no #pragma once"
    opening = opening_lines(lines)
    wanted = 1 if path.parts[0] == "tests" else OPENING_MIN
    if opening < wanted:
        yield f"{path}:1: opens with {opening} lines of comment, at least {wanted}: what for, thread safety"
    if opening > OPENING_MAX:
        yield f"{path}:1: opens with {opening} lines of comment, at most {OPENING_MAX}: the rest belongs in docs/"
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*using\s+namespace\b", line):
            yield f"{path}:{number}: using namespace in a header"


def check_text(path, lines):
    for number, line in enumerate(lines, 1):
        if OPEN_ENDS.search(line):
            yield f"{path}:{number}: open end: {line.strip()[:60]}"
        if MACHINE_PATHS.search(line):
            yield f"{path}:{number}: path of a machine: {line.strip()[:60]}"


def check(root):
    problems = []
    for path in files(root):
        try:
            lines = (root / path).read_text(encoding="utf-8").split("\n")
        except UnicodeDecodeError:
            if path.suffix in CODE:
                problems.append(f"{path}: not UTF-8")
            continue
        if lines[-1] == "":
            lines.pop()
        problems += check_text(path, lines)
        if path.suffix in CODE:
            problems += check_code(path, lines)
        if path.suffix == ".h":
            problems += check_header(path, lines)
    return problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    problems = check(root)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
