#!/usr/bin/env python3
"""run_example.py PAGE: runs the page's ```python example; it must print the ```text block after it."""
import contextlib
import difflib
import io
import re
import sys


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    match = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", text, flags=re.S)
    if not match:
        sys.exit(f"{sys.argv[1]}: no python block followed by a text block")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(match[1], sys.argv[1], "exec"), {"__name__": "__main__"})
    if printed.getvalue() != match[2]:
        sys.stdout.writelines(difflib.unified_diff(match[2].splitlines(True),
                                                   printed.getvalue().splitlines(True), "page", "printed"))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
