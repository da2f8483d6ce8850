#!/usr/bin/env python3
"""README.md and README.zh-CN.md keep in step: the same order of headings, the same code blocks and links, the same
commands and options in the text (whose order a translation may change)."""
import collections
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


def spans(path):
    """How often each piece of inline code stands in the text."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.S | re.M)
    return collections.Counter(re.findall(r"`([^`\n]+)`", text))


def compare_spans(english, chinese):
    missing = [f"README.zh-CN.md: lacks `{span}`" for span in sorted((english - chinese).elements())]
    return missing + [f"README.zh-CN.md: has `{span}`, which README.md has not" for span in sorted((chinese - english).elements())]


def main():
    root = tree.root_argument()
    for name in ("README.md", "README.zh-CN.md"):
        if not (root / name).is_file():
            tree.finish([f"{name} is missing"], "")
    english, chinese = shape(root / "README.md"), shape(root / "README.zh-CN.md")
    problems = compare_spans(spans(root / "README.md"), spans(root / "README.zh-CN.md"))
    for kind in ("heading", "code", "link"):
        compare(kind, english, chinese, problems)
    tree.finish(problems, f"{len(english)} headings, code blocks and links")


if __name__ == "__main__":
    sys.exit(main())
