#!/usr/bin/env python3
"""Includes go only along the arrows of layers.txt, public headers include only each other, and only src/gpu
opens libraries."""
import re
import sys

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def read_layers(root, problems):
    """layers.txt as layer -> layers it may include. A layer may name only those above it, so no cycle can be."""
    allowed = {}
    for line in (root / "scripts/layers.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        layer, below = line.split(":")
        for name in below.split():
            if name not in allowed:
                problems.append(f"scripts/layers.txt: {layer} names {name}, which is not listed above it")
        allowed[layer] = {layer, "fullwarp", *below.split()}
    return allowed


def check_file(path, name, allowed, problems):
    parts = name.split("/")
    is_public = parts[0] == "include"
    layer = "fullwarp" if is_public else parts[1]
    if not is_public and layer not in allowed:
        problems.append(f"{name}: layer {layer} is not in scripts/layers.txt")
        return
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, target = match.groups()
        if quote == "<":
            if target == "dlfcn.h" and layer != "gpu":
                problems.append(f"{name}:{number}: only src/gpu opens libraries, so only it includes <dlfcn.h>")
            continue
        first = target.split("/")[0]
        if "/" not in target or first == "..":
            problems.append(f'{name}:{number}: include as "layer/file", not "{target}"')
        elif first not in ({"fullwarp"} if is_public else allowed[layer]):
            problems.append(f"{name}:{number}: {layer} may not include {first}/")


def main():
    root = tree.root_argument()
    problems = []
    allowed = read_layers(root, problems)
    files = [p for p in tree.all_files(root) if p.suffix in (".c", ".h", ".def")
             and p.relative_to(root).parts[0] in ("src", "include")]
    for path in files:
        name = path.relative_to(root).as_posix()
        if name.startswith("src/") and name.count("/") < 2:
            problems.append(f"{name}: belongs in a layer's folder")
            continue
        check_file(path, name, allowed, problems)
    tree.finish(problems, f"{len(files)} files in {len(allowed)} layers")


if __name__ == "__main__":
    sys.exit(main())
