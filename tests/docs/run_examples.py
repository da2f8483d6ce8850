#!/usr/bin/env python3
"""run_examples.py FULLWARP PAGE...: runs the examples of the pages and compares what they print.

In Markdown an example is a ```console block, in a man page what stands between .EX and .EE. A line '$ COMMAND' is
run ('> ' continues it); the lines up to the next one are what it prints, stdout and stderr together. A line '...'
stands for any number of lines. '```console no-test' is not run, but listed. The commands run in a scratch folder
that has a copy of examples/, with fullwarp in PATH. UPDATE=1 writes what they print into Markdown pages, except
where '...' stands.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARK = "--- end of command"
TIMEOUT_S = 240
ROFF = ((r"\-", "-"), (r"\(aq", "'"), (r"\(dq", '"'), (r"\(ti", "~"), (r"\(ha", "^"), (r"\&", ""), (r"\e", "\\"))


class Block:
    """The commands of one example, each with its place and the lines that it should print."""

    def __init__(self, page, line, is_run):
        self.page, self.line, self.is_run = page, line, is_run
        self.commands = []  # [line number, command, expected lines]

    def add(self, number, text):
        if text.startswith("$ "):
            self.commands.append([number, text[2:], []])
        elif text.startswith("> ") and self.commands and not self.commands[-1][2]:
            self.commands[-1][1] += "\n" + text[2:]
        elif self.commands:
            self.commands[-1][2].append(text.rstrip())


def read_markdown(page):
    block = None
    for number, text in enumerate(page.read_text().splitlines(), 1):
        fence = re.match(r"```console\b\s*(\S*)\s*$", text)
        if block is None and fence:
            block = Block(page, number, fence[1] != "no-test")
        elif block is not None and text.startswith("```"):
            yield block
            block = None
        elif block is not None:
            block.add(number, text)
    if block is not None:
        sys.exit(f"{page}:{block.line}: the block does not end")


def read_man(page):
    block = None
    for number, text in enumerate(page.read_text().splitlines(), 1):
        if text.startswith(".EX"):
            block = Block(page, number, True)
        elif text.startswith(".EE"):
            yield block
            block = None
        elif block is not None:
            for roff, plain in ROFF:
                text = text.replace(roff, plain)
            block.add(number, text)


def run_block(block, fullwarp, scratch):
    """What each command of the block printed, as lists of lines. One shell runs them all, so $? and cd work."""
    script = "".join(f"(exit $s)\n{command}\ns=$?\nprintf '%s\\n' '{MARK}'\n" for _, command, _ in block.commands)
    env = {"PATH": f"{fullwarp.parent}:{os.environ['PATH']}", "HOME": str(scratch), "COLUMNS": "100",
           "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    run = subprocess.run(["bash", "-c", "s=0\n" + script], cwd=scratch, env=env, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False)
    parts = run.stdout.decode(errors="replace").split(MARK + "\n")
    return [[line.rstrip() for line in part.splitlines()] for part in parts[:len(block.commands)]]


def matches(expected, got):
    """Whether the lines are the expected ones; '...' stands for any number of lines."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in got)) is not None


def strip_blank_ends(lines):
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def write_back(page, changes):
    """Puts new output behind the commands at the given lines of a Markdown page."""
    lines = page.read_text().splitlines()
    for number, old, new in sorted(changes, reverse=True):
        lines[number:number + old] = new
    page.write_text("\n".join(lines) + "\n")


def run_page(page, fullwarp, scratch):
    """Prints each difference; returns (examples run, not run, different)."""
    name = page.relative_to(ROOT) if page.is_relative_to(ROOT) else page
    ran = left = bad = 0
    changes = []
    for block in read_man(page) if page.suffix != ".md" else read_markdown(page):
        if not block.is_run:
            left += len(block.commands)
            for number, command, _ in block.commands:
                print(f"not run: {name}:{number}: {command}")
            continue
        if not block.commands:
            continue
        printed = run_block(block, fullwarp, scratch)
        printed += [["(the shell ended before this command)"]] * (len(block.commands) - len(printed))
        for (number, command, expected), got in zip(block.commands, printed):
            ran += 1
            if matches(strip_blank_ends(expected), strip_blank_ends(got)):
                continue
            if os.environ.get("UPDATE") and "..." not in expected and page.suffix == ".md":
                changes.append((number + command.count("\n"), len(expected), got))
                continue
            bad += 1
            print(f"{name}:{number}: $ {command}\n    expected:")
            print("\n".join("    | " + line for line in expected) + "\n    printed:")
            print("\n".join("    | " + line for line in got))
    write_back(page, changes)
    return ran, left, bad


def main():
    fullwarp = pathlib.Path(sys.argv[1]).resolve()
    pages = [pathlib.Path(name).resolve() for name in sys.argv[2:]]
    totals = [0, 0, 0]
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        if (ROOT / "examples").is_dir():
            shutil.copytree(ROOT / "examples", scratch / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        for page in pages:
            totals = [a + b for a, b in zip(totals, run_page(page, fullwarp, scratch))]
    print(f"{totals[0]} examples of {len(pages)} pages, {totals[2]} of them differ; {totals[1]} more are not run")
    sys.exit(bool(totals[2]))


if __name__ == "__main__":
    main()
