#!/usr/bin/env python3
"""No file names a path of somebody's machine or a thing that only its writer's workplace has, or keeps a merge's marks."""
import re
import sys

import tree

# One letter of each stands in a class, so that this file passes its own check.
FOREIGN = re.compile(r"(?<![\w.$}~])/(?:[w]ork|[r]oot|[f]arm|[h]ome/[a-z]\w*|Users/[A-Z])(?=/|\b)"
                     r"|/tmp/[r]esearch|\b[l]and\.sh\b|\b[G]UIDE\.md\b|\b[D]EVELOPERS\.md\b"
                     r"|\b[C]laude\b|\b[A]nthropic\b|\b[C]hatGPT\b|\bsub-?[a]gents?\b", re.I)
RECORDINGS = (".json", ".gz", ".zst", ".sqlite")  # a recording keeps the paths of the machine it was made on


def main():
    root = tree.root_argument()
    problems, count = [], 0
    for path in tree.all_files(root):
        name = path.relative_to(root).as_posix()
        if path.suffix in RECORDINGS and name.split("/")[0] in ("examples", "tests"):
            continue
        data = path.read_bytes()
        if b"\0" in data[:8192]:
            continue
        count += 1
        for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
            if re.match(r"(<<<<<<<|>>>>>>>) \S", line):
                problems.append(f"{name}:{number}: a merge left its mark")
            match = FOREIGN.search(line)
            if match:
                problems.append(f"{name}:{number}: '{match[0]}' means nothing to a reader elsewhere")
    tree.finish(problems, f"{count} text files")


if __name__ == "__main__":
    sys.exit(main())
