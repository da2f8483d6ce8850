#!/usr/bin/env python3
"""What docs/format/tune-spec.md shows is read: its source as a whole, and each item of its tables within a small one.

    page.py TUNE_POINTS PAGE"""
import pathlib
import re
import subprocess
import sys
import tempfile

BASE = ["kernel scale", "grid = 4", "block = BX, BY", "set W = 4096", "set H = 2048", "param BX = 32 64",
        "param BY = 1 2", "arg out f32[W] output"]
SOURCE = "__global__ void FULLWARP_BOUNDS scale(float *out);\n"


def source_of(item):
    """A specification with this item, in place of the one that there may be only once."""
    word = item.split()[0]
    items = [i for i in BASE if word not in ("kernel", "grid", "block") or i.split()[0] != word]
    return "".join(f"// fullwarp: {i}\n" for i in items + [item]) + SOURCE


def main():
    tool, page = sys.argv[1:]
    text = pathlib.Path(page).read_text()
    sources = re.findall(r"^```cuda\n(.*?)^```", text, re.S | re.M)
    items = re.findall(r"^\| `((?:kernel|grid|block|smem|set|check|param|where|arg|flags|reference) [^`]*)` \|", text, re.M)
    items += re.findall(r"`(kernel [^`]*<[^`]*)`", text)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.cu"
        for source in sources + [source_of(item) for item in items]:
            path.write_text(source)
            done = subprocess.run([tool, path, "1", "1"], capture_output=True, text=True)
            if done.returncode:
                print(source + done.stderr)
                bad += 1
    print(f"{len(sources)} sources and {len(items)} items, {bad} not read")
    return bad > 0 or not sources or len(items) < 25


if __name__ == "__main__":
    sys.exit(main())
