#!/usr/bin/env python3
"""clang-format 14 has nothing to change in our C files."""
import re
import shutil
import subprocess
import sys

import tree

VERSION = "14"


def find_formatter():
    """The formatter of the version whose taste .clang-format was written for; others format differently."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True, check=False).stdout
            if re.search(rf"version {VERSION}\.", said):
                return name
    return None


def main():
    root = tree.root_argument()
    formatter = find_formatter()
    if not formatter:
        tree.skip(f"clang-format {VERSION} is not installed")
    files = [str(p.relative_to(root)) for p in tree.c_files(root)]
    run = subprocess.run([formatter, "--dry-run", "-Werror", *files], cwd=root, capture_output=True, text=True,
                         check=False)
    problems = [line for line in run.stderr.splitlines() if ": error:" in line]
    if run.returncode and not problems:
        problems = run.stderr.splitlines() or [f"{formatter} failed"]
    tree.finish(problems, f"{len(files)} files")


if __name__ == "__main__":
    sys.exit(main())
