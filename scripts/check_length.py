#!/usr/bin/env python3
"""Functions aim at 40 lines: past 60 they need a reason in long_functions.txt, past 100 they fail; so do files
past 1000 lines."""
import json
import re
import shutil
import subprocess
import sys

import tree

NEEDS_REASON, MAX_FUNCTION, MAX_FILE = 60, 100, 1000


def read_reasons(root, problems):
    """long_functions.txt as {(file, function): line number}; each line is 'file function: reason'."""
    reasons = {}
    path = root / "scripts/long_functions.txt"
    for number, line in enumerate(path.read_text().splitlines() if path.is_file() else (), 1):
        if not line or line.startswith("#"):
            continue
        match = re.fullmatch(r"(\S+) (\w+): (.{10,})", line)
        if match:
            reasons[match[1], match[2]] = number
        else:
            problems.append(f"scripts/long_functions.txt:{number}: not 'file function: reason'")
    return reasons


def functions(root, files):
    """(file, line, name, length) of every function, as universal-ctags sees them."""
    if not files:
        return
    out = subprocess.run(["ctags", "--languages=C", "--langmap=C:+.h", "--c-kinds=f", "--fields=+ne",
                          "--output-format=json", "-f", "-", *map(str, files)],
                         capture_output=True, text=True, check=True, cwd=root).stdout
    for line in out.splitlines():
        tag = json.loads(line)
        if tag["_type"] == "tag" and "end" in tag:
            yield tag["path"], tag["line"], tag["name"], tag["end"] - tag["line"] + 1


def main():
    root = tree.root_argument()
    if not shutil.which("ctags"):
        tree.skip("universal-ctags is not installed")
    problems = []
    reasons = read_reasons(root, problems)
    files = [p.relative_to(root) for p in tree.c_files(root)]
    for name in files:
        length = len((root / name).read_text().splitlines())
        if length > MAX_FILE:
            problems.append(f"{name}: {length} lines, at most {MAX_FILE}")
    used, count = set(), 0
    for name, line, function, length in functions(root, files):
        count += 1
        where = f"{name}:{line}: {function} has {length} lines"
        if length > MAX_FUNCTION:
            problems.append(f"{where}, at most {MAX_FUNCTION}")
        elif length > NEEDS_REASON and (name, function) not in reasons:
            problems.append(f"{where}: past {NEEDS_REASON} it needs a reason in scripts/long_functions.txt")
        if length > NEEDS_REASON:
            used.add((name, function))
    for key in sorted(reasons.keys() - used):
        problems.append(f"scripts/long_functions.txt:{reasons[key]}: {key[1]} is not that long any more")
    tree.finish(problems, f"{count} functions in {len(files)} files")


if __name__ == "__main__":
    sys.exit(main())
