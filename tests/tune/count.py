#!/usr/bin/env python3
"""Counts the valid configurations of specifications by trying every combination in Python, and compares.

    count.py TUNE_POINTS KERNEL.cu..."""
import itertools
import pathlib
import re
import subprocess
import sys


def values(text):
    """The numbers of "1 2 4..16 step 4"."""
    found = []
    text = re.sub(r"default .*", "", text).replace(",", " ")
    for first, last, step in re.findall(r"(-?\d+)(?:\s*\.\.\s*(\d+)(?: step (\d+))?)?", text):
        found += range(int(first), int(last or first) + 1, int(step or 1))
    return found


def translate(expression):
    """C to Python, for positive numbers; && and || bind in Python's order too."""
    expression = expression.replace("&&", " and ").replace("||", " or ").replace("/", "//")
    return re.sub(r"!(?!=)\s*(\w+)", r"(not \1)", expression)


def count(path):
    lines = re.findall(r"^// fullwarp: (.*)", pathlib.Path(path).read_text(), re.M)
    items = [item.strip() for line in lines for item in line.split(" ; ")]
    names, rules = {}, []
    for item in items:
        word, rest = item.split(" ", 1)
        if word in ("param", "set"):
            name, value = rest.split(" = ")
            names[name] = values(value) if word == "param" else [eval(value)]
        elif word == "where":
            rules.append(translate(rest))
        elif word == "block":
            rules.append("*".join(f"({part})" for part in rest[2:].split(",")) + " <= 1024")
    rule = eval("lambda {}: {}".format(", ".join(names), " and ".join(f"({r})" for r in rules)))
    return sum(bool(rule(*point)) for point in itertools.product(*names.values()))


def main():
    tool, *paths = sys.argv[1:]
    bad = 0
    for path in paths:
        told = int(subprocess.run([tool, path, "0", "1"], check=True, capture_output=True, text=True).stdout.split()[0])
        counted = count(path)
        print(f"{pathlib.Path(path).name}: {told} valid, counted {counted}")
        bad += told != counted
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
