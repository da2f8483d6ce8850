#!/usr/bin/env python3
"""check_symbols.py FILE...: no symbol newer than glibc 2.34 is needed; no C++ run-time either, except by a copied
oneDNN, and of that none newer than GCC 11's."""
import re
import shutil
import subprocess
import sys

import tree

NEWEST_GLIBC = (2, 34)  # Ubuntu 22.04 has 2.35, RHEL 9 has 2.34
NEWEST_GLIBCXX = {"GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)}  # GCC 11, which RHEL 9 has
MAY_USE_CXX = re.compile(r"/libdnnl\.so")
NEEDED = re.compile(r"\*UND\*\s.*\s\(?(\w+?)_([\d.]+|PRIVATE)\)?\s+(\S+)$")


def check_file(path, problems):
    run = subprocess.run(["objdump", "-T", path], capture_output=True, text=True, check=False)
    if run.returncode:
        problems.append(f"{path}: {run.stderr.strip()}")
        return 0
    count = 0
    for line in run.stdout.splitlines():
        match = NEEDED.search(line)
        if not match:
            continue
        library, version, symbol = match.groups()
        count += 1
        if library in NEWEST_GLIBCXX and MAY_USE_CXX.search(path):
            if tuple(map(int, version.split("."))) > NEWEST_GLIBCXX[library]:
                problems.append(f"{path}: needs {symbol} of {library} {version}, newer than GCC 11")
        elif library in NEWEST_GLIBCXX:
            problems.append(f"{path}: needs {symbol} of libstdc++, which is to be linked statically")
        elif library == "GLIBC" and (version == "PRIVATE" or tuple(map(int, version.split("."))) > NEWEST_GLIBC):
            problems.append(f"{path}: needs {symbol} of glibc {version}, newest allowed is 2.34")
    if not count:
        problems.append(f"{path}: no versioned symbol found: is it a dynamic program or library?")
    return count


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: check_symbols.py FILE...")
    if not shutil.which("objdump"):
        tree.skip("objdump (binutils) is not installed")
    problems = []
    paths = [path for path in sys.argv[1:] if path]  # what a build left out is an empty word
    count = sum(check_file(path, problems) for path in paths)
    tree.finish(problems, f"{count} symbols of {len(paths)} files")


if __name__ == "__main__":
    sys.exit(main())
