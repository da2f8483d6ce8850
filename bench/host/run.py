#!/usr/bin/env python3
"""What sampling the host costs a recording: CPU time of the sampling thread, how often it comes round, and what the
recording of context switches adds to a program that does nothing but switch.

run.py [--program sample_tree] [--runs N] [--seconds S] [--output RESULT.json]     Needs a release build."""
import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREES = ((4, 3), (8, 8), (20, 10), (16, 64))


def row(name, unit, runs):
    return {"name": name, "unit": unit, "runs": runs, "median": round(statistics.median(runs), 4), "min": min(runs),
            "max": max(runs), "peer": False}


def numbers(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def measure_trees(args):
    for processes, threads in TREES:
        for switches in (0, 256):
            runs = [numbers(args.program, processes, threads, switches, args.seconds) for _ in range(args.runs)]
            name = f"{processes} processes of {threads} threads, {'with' if switches else 'without'} switches"
            yield row(f"{name}: CPU", "% of a core", [r[0] for r in runs])
            yield row(f"{name}: threads every", "ms", [r[1] for r in runs])
            yield row(f"{name}: processes every", "ms", [r[2] for r in runs])


def measure_switching(args):
    """The three take turns, so that what else the machine does hits all."""
    ways = {"not sampled": (0, 0), "sampled, without switches": (1, 0), "sampled, with switches": (1, 64)}
    runs = {way: [] for way in ways}
    for _ in range(args.runs):
        for way, (sampled, switches) in ways.items():
            runs[way] += numbers(args.program, "ping-pong", sampled, switches)
    return [row(f"round trip of two processes, {way}", "us of CPU", values) for way, values in runs.items()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(ROOT / "build/release/sample_tree"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--output")
    args = parser.parse_args()
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                  if line.startswith("model name")), platform.machine())
    load = os.getloadavg()[0]
    rows = [*measure_trees(args), *measure_switching(args)]
    load = max(load, os.getloadavg()[0])
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    result = {"schema": 1, "what": "host-sampling",
              "machine": f"{model}, {os.cpu_count()} processors, load {load:.0f} of other work and this", "gpu": "none",
              "driver": "none", "versions": {"linux": platform.release()}, "commit": commit.stdout.strip(),
              "date": datetime.date.today().isoformat(), "rows": rows, "targets": []}
    text = json.dumps(result, indent=1) + "\n"
    if args.output:
        pathlib.Path(args.output).write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
