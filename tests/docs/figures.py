#!/usr/bin/env python3
"""figures.py ROOT PAGE...: the figures that a page quotes are those of the result files that it names.

A section of such a page ends with a comment, one figure a line:

    <!-- figures
    38,914 = nn-h200.json: resnet50 fp16 batch 64: ours, rate
    1.44 = nn-h200.json: one row // nn-h200.json: another
    29.0 = recordings-by-example.md: | 53.6 | 29.0 % |
    -->

Left the figure as the section shows it, right where it is from: the median of a row of bench/results (with ' [min]' or
' [max]' behind the name, that; with ' [target]', a target's), divided by another's after ' // ', or the words of a page of docs/
in which it stands. A 'k' behind the figure is a thousand. ' * N' behind all of it multiplies."""
import json
import pathlib
import re
import sys

NUMBER = re.compile(r"(-?[\d,]*\.?\d+)(k?)$")
COMMENT = re.compile(r"<!-- figures\n(.*?)-->", re.S)


class Wrong(Exception):
    pass


class Sources:
    """Result files and pages, each read once."""

    def __init__(self, root):
        self.root, self.files = root, {}

    def rows(self, name):
        if name not in self.files:
            path = self.root / "bench/results" / name
            if not path.is_file():
                raise Wrong(f"bench/results/{name} is not there")
            data = json.loads(path.read_text())
            self.files[name] = {row["name"]: row for row in data["rows"]}
            self.files[name].update({f"target {t['name']}": {"target": t["measured"]} for t in data["targets"]})
        return self.files[name]

    def value(self, operand):
        name, _, row = operand.partition(": ")
        key = re.search(r" \[(min|max|target)\]$", row)
        field = key[1] if key else "median"
        row = row[:key.start()] if key else row
        row = f"target {row}" if field == "target" else row
        rows = self.rows(name)
        if row not in rows:
            raise Wrong(f"{name} has no row '{row}'")
        return rows[row][field]

    def page_says(self, operand, shown):
        name, _, words = operand.partition(": ")
        path = self.root / "docs" / name
        if not path.is_file() or words not in path.read_text():
            raise Wrong(f"docs/{name} does not say '{words}'")
        if not stands_in(shown, words):
            raise Wrong(f"'{words}' has no {shown}")


def stands_in(shown, text):
    return re.search(rf"(?<![\d.,]){re.escape(shown)}(?!\d|[.,]\d)", text) is not None


def check(shown, source, sources):
    """Raises Wrong if the figure is not what the source says, to the digits that are shown."""
    if source.partition(": ")[0].endswith(".md"):
        sources.page_says(source, shown)
        return
    source, _, factor = source.partition(" * ")
    values = [sources.value(operand) for operand in source.split(" // ")]
    value = values[0] / values[1] if len(values) == 2 else values[0]
    value *= float(factor or 1)
    number = NUMBER.match(shown)
    if not number:
        raise Wrong(f"'{shown}' is not a number")
    digits, scale = number[1].replace(",", ""), 1000 if number[2] else 1
    half = 0.5 * 10 ** -len(digits.partition(".")[2]) * scale
    if abs(float(digits) * scale - value) > half * (1 + 1e-9):
        raise Wrong(f"it is {value:.6g}")


def sections(text):
    """(heading, text) of each; code is no heading."""
    title, lines, is_code = "", [], False
    for line in text.splitlines():
        is_code ^= line.startswith("```")
        if line.startswith("#") and not is_code:
            yield title, "\n".join(lines)
            title, lines = line.lstrip("# "), []
        lines.append(line)
    yield title, "\n".join(lines)


def look_at(page, sources, problems):
    count = 0
    for title, text in sections(page.read_text()):
        visible = re.sub(r"<!--.*?-->", "", text, flags=re.S)
        for line in "".join(COMMENT.findall(text)).splitlines():
            count += 1
            shown, found, source = line.partition(" = ")
            try:
                if not found:
                    raise Wrong("the line is not FIGURE = SOURCE")
                if not stands_in(shown, visible):
                    raise Wrong("the section does not show it")
                check(shown, source, sources)
            except Wrong as why:
                problems.append(f"{page.name}: {title}: {line}: {why}")
    if not count:
        problems.append(f"{page.name}: names the source of no figure")
    return count


def main():
    root, problems = pathlib.Path(sys.argv[1]).resolve(), []
    sources = Sources(root)
    count = sum(look_at(root / page, sources, problems) for page in sys.argv[2:])
    print("\n".join(problems) if problems else f"ok: {count} figures")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
