#!/usr/bin/env python3
"""README.md and README.zh-CN.md keep in step: the same order of headings, the same code blocks, the same links."""
import re
import sys

import tree


def shape(path):
    """The things that a translation keeps, in their order, each with its line: heading levels, code, link targets."""
    things, code = [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("```"):
            if code is None:
                code = [number, line]
            else:
                things.append((code[0], "code", "\n".join(code[1:])))
                code = None
        elif code is not None:
            code.append(line)
        else:
            heading = re.match(r"(#+) ", line)
            if heading:
                things.append((number, "heading", heading[1]))
            for target in re.findall(r"\]\(([^)#\s]+)", line):
                if not re.fullmatch(r"README(\.zh-CN)?\.md", target):
                    things.append((number, "link", target))
    return things


def compare(kind, english, chinese, problems):
    ours = [t for t in english if t[1] == kind]
    theirs = [t for t in chinese if t[1] == kind]
    for a, b in zip(ours, theirs):
        if a[2] != b[2]:
            problems.append(f"README.zh-CN.md:{b[0]}: {kind} differs from README.md:{a[0]}")
            return
    if len(ours) != len(theirs):
        problems.append(f"README.md has {len(ours)} of kind '{kind}', README.zh-CN.md {len(theirs)}")


def main():
    root = tree.root_argument()
    english, chinese = shape(root / "README.md"), shape(root / "README.zh-CN.md")
    problems = []
    for kind in ("heading", "code", "link"):
        compare(kind, english, chinese, problems)
    tree.finish(problems, f"{len(english)} headings, code blocks and links")


if __name__ == "__main__":
    sys.exit(main())
