#!/usr/bin/env python3
"""report_speed.py FULLWARP: the report of the corpus' largest trace takes under a second of wall time.

The best of five runs counts: the question is what the program needs, not what else the machine does.
Exit 77: the corpus is not there."""
import os
import pathlib
import subprocess
import sys
import time

LIMIT_S, RUNS = 1.0, 5


def uncompressed_size(path):
    data = path.read_bytes()
    # The last four bytes of a gzip file are its uncompressed size (below 4 GB).
    return int.from_bytes(data[-4:], "little") if data[:2] == b"\x1f\x8b" else len(data)


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    corpus = pathlib.Path(os.environ.get("FW_CORPUS", root.parent / "shared" / "corpus"))
    traces = [p for p in corpus.glob("traces/**/*.json*") if "_et" not in p.name and "synthetic" not in p.parts]
    if not traces:
        print(f"skipped: no corpus at {corpus}")
        return 77
    largest = max(traces, key=uncompressed_size)
    seconds = []
    for _ in range(RUNS):
        start = time.monotonic()
        subprocess.run([sys.argv[1], "report", largest], stdout=subprocess.DEVNULL, check=True)
        seconds.append(time.monotonic() - start)
    print(f"{largest.name}, {uncompressed_size(largest) / 1e6:.1f} MB of JSON: "
          + ", ".join(f"{s:.3f}" for s in sorted(seconds)) + " s")
    return 0 if min(seconds) < LIMIT_S else 1


if __name__ == "__main__":
    sys.exit(main())
