#!/usr/bin/env python3
"""check_exports.py ROOT LIBRARY [NAME...]: the library exports what the public headers declare, and nothing else.

pipeline.h has a library of its own: --header=pipeline.h checks that one.
With names: it exports those, and needs no library but libc, since it is loaded into programs of others."""
import re
import shutil
import subprocess
import sys

import tree


APART = {"pipeline.h"}  # headers of other libraries than libfullwarp.so


def declared(root, only=None):
    names = set()
    for header in sorted((root / "include" / "fullwarp").glob("*.h")):
        if header.name != only if only else header.name in APART:
            continue
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        names |= set(re.findall(r"FW_API\s[^;{]*?\b(fw_\w+)\s*\(", text))
    return names


def exported(library):
    run = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return {line.split()[2].split("@")[0] for line in run.stdout.splitlines()}


def needed(library):
    run = subprocess.run(["objdump", "-p", library], capture_output=True, text=True, check=True)
    names = re.findall(r"NEEDED\s+(\S+)", run.stdout)
    return [name for name in names if not re.match(r"libc\.so|ld-linux|lib[atu]san\.so|libubsan\.so", name)]


def check_guest(library, want):
    """A library that is loaded into programs which did not ask for it."""
    have = exported(library)
    problems = [f"{library}: does not export {name}" for name in sorted(want - have)]
    problems += [f"{library}: exports {name}" for name in sorted(have - want)]
    problems += [f"{library}: needs {name}" for name in needed(library)]
    tree.finish(problems, f"{len(want)} functions")


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: check_exports.py ROOT LIBRARY [NAME...]")
    if not shutil.which("nm"):
        tree.skip("nm (binutils) is not installed")
    only = None
    if sys.argv[-1].startswith("--header="):
        only = sys.argv.pop().split("=")[1]
    if len(sys.argv) > 3:
        return check_guest(sys.argv[2], set(sys.argv[3:]))
    want, have = declared(tree.root_argument(), only), exported(sys.argv[2])
    problems = [f"{name}: declared in include/fullwarp, not exported" for name in sorted(want - have)]
    problems += [f"{name}: exported, but no public header declares it" for name in sorted(have - want)]
    tree.finish(problems, f"{len(want)} functions")


if __name__ == "__main__":
    sys.exit(main())
