#!/usr/bin/env python3
"""Checks that the folders include each other only as the folder table allows.

  include/tsdb          the public face: nothing of ours but itself
  base                  include
  chunk, wal, index     base
  compaction            chunk, base
  engine                all above
  ingest                base
  cli, server           include only (and themselves)
  tests, bench, examples  anything

Also: RocksDB's headers stay inside index/, no circle of includes between files, every quoted include exists, and
the layers named in CMakeLists.txt are those of the table. Usage: check_layers.py [root]; exit 1 with one line each.
"""

import pathlib
import re
import sys

BELOW = {
    "include": set(),
    "base": {"include"},
    "chunk": {"include", "base"},
    "wal": {"include", "base"},
    "index": {"include", "base"},
    "compaction": {"include", "base", "chunk"},
    "engine": {"include", "base", "chunk", "wal", "index", "compaction"},
    "ingest": {"include", "base"},
    "cli": {"include"},
    "server": {"include"},
}
ANYTHING = ("tests", "bench", "examples")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CMAKE_LAYER = re.compile(r"^\s*tsdb_layer\((\w+)((?:\s+LAYERS((?:\s+\w+)*?))?)(?:\s+LIBRARIES[^)]*)?\)", re.M)


def sources(root):
    """All .h and .cc of the known folders, relative to the root, sorted."""
    for folder in (*BELOW, *ANYTHING):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cc") and path.is_file():
                yield path.relative_to(root)


def resolve(root, path, bracket, name):
    """The file of ours that an include names, relative to the root; None for foreign headers."""
    if name.startswith("tsdb/"):
        return pathlib.Path("include") / name
    if bracket == "<":
        return None
    if (root / name).is_file():
        return pathlib.Path(name)
    beside = path.parent / name
    return beside if (root / beside).is_file() else pathlib.Path(name)


def find_circle(graph):
    """A list of files that include each other in a ring, or None."""
    state = {}
    for start in graph:
        if start in state:
            continue
        stack = [(start, iter(graph[start]))]
        state[start] = "open"
        while stack:
            node, targets = stack[-1]
            target = next(targets, None)
            if target is None:
                state[node] = "done"
                stack.pop()
            elif state.get(target) == "open":
                ring = [entry[0] for entry in stack]
                return ring[ring.index(target):] + [target]
            elif target not in state:
                state[target] = "open"
                stack.append((target, iter(graph.get(target, ()))))
    return None


def check_includes(root):
    problems = []
    graph = {}
    for path in sources(root):
        folder = path.parts[0]
        graph[path] = []
        for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            bracket, name = match.groups()
            where = f"{path}:{number}"
            if name.startswith("rocksdb/") and folder not in ("index", "tests", "bench"):
                problems.append(f"{where}: only index/ may include RocksDB")
            target = resolve(root, path, bracket, name)
            if target is None:
                continue
            if not (root / target).is_file():
                problems.append(f"{where}: there is no file {name}; own headers are included from the root")
                continue
            graph[path].append(target)
            if folder in ANYTHING or target.parts[0] == folder or target.parts[0] in BELOW[folder]:
                continue
            allowed = ", ".join(sorted(BELOW[folder])) or "nothing else"
            problems.append(f"{where}: {folder}/ may not include {target} (allowed: {allowed})")
    circle = find_circle(graph)
    if circle:
        problems.append("circle of includes: " + " -> ".join(map(str, circle)))
    return problems


def check_cmake(root):
    """The layers of CMakeLists.txt and of the table must be the same."""
    text = (root / "CMakeLists.txt").read_text(encoding="utf-8")
    problems = []
    for match in CMAKE_LAYER.finditer(text):
        name, layers = match.group(1), set((match.group(3) or "").split())
        if name not in BELOW:
            problems.append(f"CMakeLists.txt: layer {name} is not in the folder table")
        elif layers != BELOW[name] - {"include"}:
            problems.append(f"CMakeLists.txt: layer {name} names {sorted(layers)}, the table "
                            f"{sorted(BELOW[name] - {'include'})}")
    if "tsdb_layer(" not in text:
        problems.append("CMakeLists.txt: no tsdb_layer() found")
    return problems


def check(root):
    return check_includes(root) + check_cmake(root)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    problems = check(root)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
