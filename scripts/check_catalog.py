#!/usr/bin/env python3
"""What a table lists has its source, page and tests, and nothing of the kind stands outside the tables."""
import re
import sys

import tree

# One row a kind: its table (or where its functions are declared) with the pattern of an entry, what an entry {name} (C
# name) or {id} (with hyphens) must have, what files must say of it, and where an orphan would stand. A need that ends in /
# is a folder with a file in it.
KINDS = (
    {"what": "command", "table": "src/cli/commands.def", "entry": r"FW_CMD\(\s*(\w+)",
     "needs": ("src/cli/cmd_{name}.c", "docs/man/fullwarp-{id}.1", "tests/cli/{id}*/cmd"),
     "orphans": ((r"src/cli/cmd_(\w+)\.c", "name"), (r"docs/man/fullwarp-(?!serve\.)([\w-]+)\.1", "id"))},
    {"what": "command of the service", "table": "src/serve/commands.def", "entry": r"FW_CMD\(\s*(\w+)",
     "needs": ("src/serve/cmd_{name}.c", "tests/serve/{id}*/cmd"),
     "says": (("docs/man/fullwarp-serve.1", ".SS {id}"), ("docs/nn.md", "`fullwarp-serve {id}")),
     "orphans": ((r"src/serve/cmd_(\w+)\.c", "name"),)},
    {"what": "rule", "table": "src/rules/rules.def", "entry": r"FW_RULE\(\s*(\w+)",
     "needs": ("src/rules/{name}.c", "docs/rules/{id}.md", "tests/rules/{id}/"),
     "orphans": ((r"docs/rules/(?!README)([\w-]+)\.md", "id"), (r"tests/rules/([\w-]+)/.*", "id"))},
    {"what": "importer", "table": "src/import/*.h", "entry": r"\bfw_(\w+)_import\(struct fw_source",
     "needs": ("src/import/{name}.c", "docs/format/{id}.md", "tests/fuzz/fuzz_{name}.c"),
     "orphans": ()},
    {"what": "report format", "table": "src/report/formats.def", "entry": r"FW_FORMAT\(\s*(\w+)",
     "needs": ("src/report/{name}.c", "docs/format/report-{id}.md", "tests/cli/report-{id}*/cmd"),
     "orphans": ((r"docs/format/report-([\w-]+)\.md", "id"),)},
    {"what": "doctor check", "table": "src/doctor/checks.def", "entry": r"FW_CHECK\(\s*(\w+), (?:ALWAYS|FOR)",
     "needs": ("src/doctor/{name}.c",),
     "says": (("docs/doctor.md", "| `{id}` |"), ("tests/doctor/*.cases", "expect {id} ok"),
              ("tests/doctor/*.cases", "expect {id} problem"), ("tests/doctor/*.cases", "expect {id} unknown")),
     "orphans": ()},
    {"what": "doctor check on a GPU", "table": "src/doctor/checks.def", "entry": r"FW_CHECK\(\s*(\w+), SMOKE",
     "needs": ("src/doctor/{name}.c",),
     "says": (("docs/doctor.md", "| `{id}` |"), ("tests/doctor/*.cases", "expect {id} unknown")),
     "orphans": ()},
    {"what": "search strategy", "table": "src/tune/strategies.def", "entry": r"FW_STRATEGY\(\s*(\w+)",
     "needs": ("src/tune/strategy_{name}.c",), "says": (("docs/tune.md", "| `{id}` |"),),
     "orphans": ((r"src/tune/strategy_(\w+)\.c", "name"),)},
    {"what": "what-if change", "table": "src/whatif/changes.def", "entry": r"FW_CHANGE\(\s*(\w+)",
     "needs": ("src/whatif/{name}.c", "docs/whatif/{id}.md", "tests/whatif/{id}/"),
     "orphans": ((r"docs/whatif/(?!README)([\w-]+)\.md", "id"), (r"tests/whatif/([\w-]+)/.*", "id"))},
)


def read_table(root, kind):
    """The C names that the table lists; None where the house does not have this kind yet."""
    paths = sorted(root.glob(kind["table"]))
    if not paths:
        return None
    text = "".join(path.read_text() for path in paths)
    return re.findall(kind["entry"], re.sub(r"/\*.*?\*/", "", text, flags=re.S))


def check_kind(root, names, kind, listed, problems):
    twice = {name for name in listed if listed.count(name) > 1}
    problems += [f"{kind['table']}: {name} is listed twice" for name in sorted(twice)]
    for name in listed:
        forms = {"name": name, "id": name.replace("_", "-")}
        for need in kind["needs"]:
            need = need.format(**forms)
            pattern = need + "**/*" if need.endswith("/") else need
            if not any(p.is_file() for p in root.glob(pattern)):
                problems.append(f"{kind['what']} {name}: {need} is missing")
        for where, words in kind.get("says", ()):
            words = words.format(**forms)
            if not any(words in p.read_text() for p in root.glob(where)):
                problems.append(f"{kind['what']} {name}: {where} does not say '{words}'")
    known = {"name": set(listed), "id": {name.replace("_", "-") for name in listed}}
    for pattern, form in kind["orphans"]:
        for name in names:
            match = re.fullmatch(pattern, name)
            if match and match[1] not in known[form]:
                problems.append(f"{name}: {kind['table']} lists no {kind['what']} '{match[1]}'")


def check_fuzz(names, problems):
    """Each fuzz target has a corpus, each corpus a target."""
    targets = {m[1] for m in (re.fullmatch(r"tests/fuzz/fuzz_(\w+)\.c", n) for n in names) if m}
    corpora = {m[1] for m in (re.fullmatch(r"tests/fuzz/corpus/(\w+)/.+", n) for n in names) if m}
    problems += [f"tests/fuzz/fuzz_{t}.c: tests/fuzz/corpus/{t}/ is missing" for t in sorted(targets - corpora)]
    problems += [f"tests/fuzz/corpus/{c}/: tests/fuzz/fuzz_{c}.c is missing" for c in sorted(corpora - targets)]
    return len(targets)


def main():
    root = tree.root_argument()
    names = [p.relative_to(root).as_posix() for p in tree.all_files(root)]
    problems, looked_at = [], []
    for kind in KINDS:
        listed = read_table(root, kind)
        if listed is None:
            continue
        check_kind(root, names, kind, listed, problems)
        looked_at.append(f"{len(listed)} of kind '{kind['what']}'")
    looked_at.append(f"{check_fuzz(names, problems)} fuzz targets")
    tree.finish(problems, ", ".join(looked_at))


if __name__ == "__main__":
    sys.exit(main())
