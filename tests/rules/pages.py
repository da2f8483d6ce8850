#!/usr/bin/env python3
"""pages.py FULLWARP: the example in each rule's page is what the report says of the scenario 'fires' (or, where a rule
cannot fire on such a trace, of its first scenario), and the table in docs/rules/README.md lists what the scenarios prove.
UPDATE=1 writes both."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import make_trace

ROOT = pathlib.Path(__file__).resolve().parents[2]
UPDATE = bool(os.environ.get("UPDATE"))
SUPPORT = {"PATH": os.environ["PATH"], "COLUMNS": "100", "LC_ALL": "C.UTF-8", "TERM": "dumb"}


def replace(path, pattern, text, problems):
    """What the pattern's group 1 holds must be the text."""
    old = path.read_text()
    match = re.search(pattern, old, re.S)
    name = path.relative_to(ROOT)
    if not match:
        problems.append(f"{name}: has no place for it: {pattern!r}")
    elif match[1] != text and UPDATE:
        path.write_text(old[:match.start(1)] + text + old[match.end(1):])
    elif match[1] != text:
        problems.append(f"{name}: is not what the program says; UPDATE=1 rewrites it. Expected:\n{text}")


def report(fullwarp, made, arguments):
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, trace in enumerate(made if isinstance(made, list) else [made]):
            names.append(f"rank{number}.json")
            trace.write(pathlib.Path(folder) / names[-1])
        run = subprocess.run([fullwarp, "report", "--all-findings", *arguments, *names], capture_output=True, text=True, cwd=folder, env=SUPPORT,
                             check=True)
    return run.stdout


def example(text, rule):
    """The finding's part of a report, numbered 1; or the line that says that the rule could not look."""
    found = re.search(r"^\d+(\. [^\n]* \[%s\]\n.*?)(?=^\S|\Z)" % rule, text, re.S | re.M)
    if found:
        return "1" + found[1].rstrip() + "\n"
    found = re.search(r"^  - (?:(?!^  - ).)*\(could not look:[^)]*\b%s\b.*?(?=^  - |^\S|\Z)" % rule, text, re.S | re.M)
    return found[0].rstrip() + "\n" if found else ""


def names(want, kind):
    picked = [n for n, w in want.items() if kind(w)]
    return ", ".join(n.replace("_", " ") for n in picked) or "-"


def main():
    fullwarp = pathlib.Path(sys.argv[1]).resolve()
    listed = subprocess.run([fullwarp, "rules"], capture_output=True, text=True, check=True).stdout.splitlines()
    problems, rows = [], ["| rule | what it sees | fires | quiet | could not look |\n|---|---|---|---|---|\n"]
    for line in listed:
        rule, summary = line.split(None, 1)
        module = make_trace.load_scenarios(rule)
        want = module.EXPECT
        shown = "fires" if "fires" in want else next(iter(want))
        arguments = want[shown].get("arguments", ["--all"])
        text = example(report(fullwarp, getattr(module, shown)(), arguments), rule)
        replace(ROOT / f"docs/rules/{rule}.md", r"## Example\n.*?```text\n(.*?)```\n", text, problems)
        rows.append(f"| [{rule}]({rule}.md) | {summary} | {names(want, lambda w: w.get('fires', True) and 'unable' not in w)} | "
                    f"{names(want, lambda w: not w.get('fires', True))} | {names(want, lambda w: 'unable' in w)} |\n")
    table = "".join(rows)
    print(table)
    replace(ROOT / "docs/rules/README.md", r"<!-- table -->\n(.*?)<!-- end of table -->", table, problems)
    print("\n".join(problems))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
