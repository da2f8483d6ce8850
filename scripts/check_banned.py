#!/usr/bin/env python3
"""check_banned.py ROOT BUILD: with the flags that the build gives src/, no banned function compiles."""
import json
import pathlib
import re
import shlex
import subprocess
import sys

import tree

# What the style guide bans; src/base/banned.h may ban more, and each of those is tried too.
MUST_BE_BANNED = ("strcpy strcat strncpy strncat sprintf vsprintf strtok gets atoi localtime gmtime mktemp "
                  "system").split()


def read_banned(root):
    text = (root / "src/base/banned.h").read_text()
    return [word for line in re.findall(r"#pragma GCC poison (.*)", text) for word in line.split()]


def flags_of(entry):
    """The compiler and flags of one entry of compile_commands.json, without its files."""
    words = shlex.split(entry["command"])
    flags, skip_next = [], False
    for word in words:
        if skip_next:
            skip_next = False
        elif word in ("-o", "-MF", "-MT", "-MQ"):
            skip_next = True
        elif word not in ("-c", "-MD", entry["file"]):
            flags.append(word)
    return flags


def compiles(flags, body):
    source = f"int banned_probe(void);\nint banned_probe(void)\n{{\n\t{body}\n\treturn 0;\n}}\n"
    run = subprocess.run([*flags, "-fsyntax-only", "-x", "c", "-"], input=source, capture_output=True, text=True,
                         check=False)
    return run.returncode == 0, run.stderr


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    commands = json.loads((build / "compile_commands.json").read_text())
    ours = [e for e in commands if pathlib.Path(e["file"]).is_relative_to(root / "src")]
    if not ours:
        tree.skip("the build lists no file of src/")
    problems = [f"{e['file']}: is compiled without src/base/banned.h" for e in ours
                if not re.search(r"-include \S*src/base/banned\.h", e["command"])]
    banned = read_banned(root)
    problems += [f"src/base/banned.h: {name} is not banned" for name in MUST_BE_BANNED if name not in banned]
    flags = flags_of(ours[0])
    works, said = compiles(flags, "(void)strlen;")
    if not works:
        problems.append(f"a function that is not banned does not compile either: {said}")
    for name in banned:
        works, said = compiles(flags, f"(void){name};")
        if works or "poisoned" not in said:
            problems.append(f"{name} is banned, and still compiles: {said}")
    tree.finish(problems, f"{len(banned)} banned functions, {len(ours)} files compiled with the ban")


if __name__ == "__main__":
    sys.exit(main())
