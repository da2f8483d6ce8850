#!/usr/bin/env python3
"""check_pages.py ROOT FULLWARP: the links of the pages lead somewhere, and each command's man page and --help name
the same options."""
import pathlib
import re
import subprocess
import sys

SKIPPED = {"build", ".git", ".venv", ".gpu"}
# A page may name these without the command listing them, and the other way round.
EVERYWHERE = {"--help", "--version"}


def slug(heading):
    """The anchor that a heading gets on the usual hosts."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", "")).replace(" ", "-")


def headings(path):
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.S | re.M)
    return {slug(h) for h in re.findall(r"^#+\s+(.*)$", text, re.M)}


def check_links(root, problems):
    count = 0
    for page in sorted(root.rglob("*.md")):
        if SKIPPED & set(page.relative_to(root).parts):
            continue
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.S | re.M)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", link):
                continue
            count += 1
            name, _, anchor = link.partition("#")
            target = (page.parent / name) if name else page
            where = f"{page.relative_to(root)}: {link}"
            if not target.exists():
                problems.append(f"{where} leads nowhere")
            elif anchor and target.suffix == ".md" and anchor not in headings(target):
                problems.append(f"{where}: no such heading")
    return count


def check_options(root, fullwarp, problems):
    table = re.sub(r"/\*.*?\*/", "", (root / "src/cli/commands.def").read_text(), flags=re.S)
    commands = re.findall(r"FW_CMD\(\s*(\w+)", table)
    for command in commands:
        page = root / f"docs/man/fullwarp-{command.replace('_', '-')}.1"
        if not page.is_file():
            continue  # check.catalog says so
        run = subprocess.run([fullwarp, command, "--help"], capture_output=True, text=True, check=False)
        if run.returncode:
            problems.append(f"fullwarp {command} --help: exit {run.returncode}")
            continue
        text = page.read_text().replace(r"\-", "-")
        options = re.split(r"^\.SH\s+\"?(?:EXAMPLES|SEE ALSO)", text, flags=re.M)[0]
        has = set(re.findall(r"^\s+(?:-\w, )?(--[a-z][a-z0-9-]*)", run.stdout, re.M)) - EVERYWHERE
        tells = set(re.findall(r"(?<![\w-])(--[a-z][a-z0-9-]*)", options)) - EVERYWHERE
        problems += [f"{page.name}: does not name {option}" for option in sorted(has - tells)]
        problems += [f"{page.name}: names {option}, which the command does not know" for option in sorted(tells - has)]
    return len(commands)


def main():
    root, fullwarp = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    problems = []
    links = check_links(root, problems)
    commands = check_options(root, fullwarp, problems)
    print("\n".join(problems) if problems else f"ok: {links} links, the options of {commands} commands")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
