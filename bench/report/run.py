#!/usr/bin/env python3
"""How long `fullwarp report` takes, beside Python that only reads the same JSON (gzip and json.loads, no analysis).

run.py [--fullwarp PROGRAM] [--runs N] [--output RESULT.json] TRACE.json.gz...
The runs of both alternate, so that what else the machine does hits both. Needs a release build."""
import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEER = "import gzip, json, sys; json.loads(gzip.open(sys.argv[1]).read())"


def seconds(command):
    start = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return round(time.monotonic() - start, 4)


def row(name, runs, is_peer):
    return {"name": name, "unit": "s", "runs": runs, "median": round(statistics.median(runs), 4), "min": min(runs),
            "max": max(runs), "peer": is_peer}


def measure(fullwarp, trace, count):
    ours, theirs = [], []
    for _ in range(count):
        ours.append(seconds([fullwarp, "report", trace]))
        theirs.append(seconds([sys.executable, "-c", PEER, trace]))
    name = pathlib.Path(trace).name
    return [row(f"{name}: fullwarp report", ours, False), row(f"{name}: python gzip and json.loads", theirs, True)]


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                  if line.startswith("model name")), platform.machine())
    return f"{model}, {os.cpu_count()} processors"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fullwarp", default=str(ROOT / "build/release/fullwarp"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output")
    parser.add_argument("traces", nargs="+")
    args = parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    version = subprocess.run([args.fullwarp, "--version"], capture_output=True, text=True, check=True)
    result = {"schema": 1, "what": "report", "machine": machine(), "gpu": "none", "driver": "none",
              "versions": {"fullwarp": version.stdout.split()[1], "python": platform.python_version(),
                           "linux": platform.release()},
              "commit": commit.stdout.strip(), "date": datetime.date.today().isoformat(),
              "rows": [r for trace in args.traces for r in measure(args.fullwarp, trace, args.runs)], "targets": []}
    for r in result["rows"]:
        print(f"{r['median']:8.3f} s  ({r['min']:.3f} to {r['max']:.3f})  {r['name']}")
    if args.output:
        pathlib.Path(args.output).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
