#!/usr/bin/env python3
"""check_pages.py ROOT FULLWARP [SERVE]: the links of the pages lead somewhere, and each command's man page and --help
name the same options; the commands of fullwarp-serve share a page."""
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


def read_commands(path):
    table = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    return re.findall(r"FW_CMD\(\s*(\w+)", table)


def check_page(page, program, commands, problems):
    """The page names the options of these commands, and no other."""
    has = set()
    for command in commands:
        run = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=False)
        if run.returncode:
            problems.append(f"{program.name} {command} --help: exit {run.returncode}")
            return
        has |= set(re.findall(r"^\s+(?:-\w, )?(--[a-z][a-z0-9-]*)", run.stdout, re.M)) - EVERYWHERE
    text = page.read_text().replace(r"\-", "-")
    options = re.split(r"^\.SH\s+\"?(?:EXAMPLES|SEE ALSO)", text, flags=re.M)[0]
    tells = set(re.findall(r"(?<![\w-])(--[a-z][a-z0-9-]*)", options)) - EVERYWHERE
    problems += [f"{page.name}: does not name {option}" for option in sorted(has - tells)]
    problems += [f"{page.name}: names {option}, which the command does not know" for option in sorted(tells - has)]


def check_options(root, fullwarp, serve, problems):
    commands = read_commands(root / "src/cli/commands.def")
    for command in commands:
        page = root / f"docs/man/fullwarp-{command.replace('_', '-')}.1"
        if page.is_file():  # else check.catalog says so
            check_page(page, fullwarp, [command], problems)
    if not serve:
        return len(commands)
    shared = read_commands(root / "src/serve/commands.def")
    check_page(root / "docs/man/fullwarp-serve.1", serve, shared, problems)
    return len(commands) + len(shared)


def main():
    root, fullwarp = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    serve = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 3 and sys.argv[3] else None
    problems = []
    links = check_links(root, problems)
    commands = check_options(root, fullwarp, serve, problems)
    print("\n".join(problems) if problems else f"ok: {links} links, the options of {commands} commands")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
