#!/usr/bin/env python3
"""The CPU engine beside ONNX Runtime: ResNet-50 and MobileNetV2 with made-up weights, batch 1 and 8, one and two
instances of one thread each. The two take turns, round by round. Needs a release build and a Python with
onnxruntime ($FW_ORACLE_PYTHON, else .venv).

cpu.py [--program engine_rounds] [--rounds N] [--output RESULT.json]"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("FW_ORACLE_PYTHON") or str(ROOT / ".venv/bin/python")
# Launches of a round: about half a second of one thread.
NETWORKS = {"resnet50": {1: 8, 8: 1}, "mobilenet_v2": {1: 80, 8: 10}}
TARGET = 0.95


class Side:
    """A program that runs a round for each line that it is given."""

    def __init__(self, *command):
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def round(self, launches):
        """Milliseconds of wall and of CPU time."""
        self.process.stdin.write(f"{launches}\n")
        self.process.stdin.flush()
        return [1e3 * float(word) for word in self.process.stdout.readline().split()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def row(name, unit, runs, peer=False):
    runs = [round(run, 4) for run in runs]
    return {"name": name, "unit": unit, "runs": runs, "median": round(statistics.median(runs), 4), "min": min(runs),
            "max": max(runs), "peer": peer}


def measure(args, path, batch, threads, launches, precision="fp32"):
    """Per side, the rounds' (wall, CPU) milliseconds; a round before them warms up."""
    sides = [Side(args.program, "onednn", path, batch, precision, threads),
             Side(PYTHON, pathlib.Path(__file__).with_name("ort_rounds.py"), path, batch, threads)]
    times = [[], []]
    for number in range(args.rounds + 1):
        for at in (0, 1) if number % 2 else (1, 0):
            times[at].append(sides[at].round(launches))
    for side in sides:
        side.close()
    return [t[1:] for t in times]


def cell(args, folder, network, batch, threads, precision="fp32"):
    launches = NETWORKS[network][batch]
    images = launches * batch * threads
    ours, theirs = measure(args, folder / f"{network}.onnx", batch, threads, launches, precision)
    where = f"{network}, batch {batch}, {threads} thread{'s' if threads > 1 else ''}"
    ratios = [b[1] / a[1] for a, b in zip(ours, theirs)]
    rows = [row(f"{where}, {precision}: CPU time an image", "ms", [cpu / images for _, cpu in ours]),
            row(f"{where}, {precision}: wall time an image", "ms", [wall / images for wall, _ in ours])]
    if precision == "fp32":
        rows += [row(f"{where}, ONNX Runtime: CPU time an image", "ms", [cpu / images for _, cpu in theirs], True),
                 row(f"{where}, ONNX Runtime: wall time an image", "ms", [wall / images for wall, _ in theirs], True)]
    rows.append(row(f"{where}, {precision}: ONNX Runtime's fp32 CPU time by ours, round by round", "ratio", ratios))
    print(f"{rows[-1]['name']}: {rows[-1]['median']:.3f}", file=sys.stderr)
    return rows


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def judge(rows):
    ratios = [r for r in rows if r["unit"] == "ratio" and "fp32: ONNX" in r["name"]]
    worst = min(ratios, key=lambda r: r["median"])
    met = worst["median"] >= TARGET
    why = (f"the lowest of {len(ratios)} cells: {worst['name'].split(', fp32')[0]}; by CPU time, as other work shared "
           "the cores")
    return {"name": "cpu_vs_onnxruntime", "op": ">=", "target": TARGET, "measured": worst["median"], "met": met,
            "why": why}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(ROOT / "build/release/bench/nn/engine_rounds"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output")
    args = parser.parse_args()
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                  if line.startswith("model name")), platform.machine())
    load, rows = os.getloadavg()[0], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for network in NETWORKS:
            subprocess.run([sys.executable, ROOT / "tests/nn/make_model.py", network, "--dynamic", "-o",
                            folder / f"{network}.onnx"], check=True)
            for threads in (1, 2):
                for batch in NETWORKS[network]:
                    rows += cell(args, folder, network, batch, threads)
            rows += cell(args, folder, network, 1, 1, "bf16")
    load = max(load, os.getloadavg()[0])
    commit = said("git", "-C", str(ROOT), "rev-parse", "HEAD")
    library = said("dpkg-query", "-W", "-f", "${Version}", "libdnnl2")  # as Debian numbers it
    peer = said(PYTHON, "-c", "import onnxruntime; print(onnxruntime.__version__)")
    result = {"schema": 1, "what": "nn", "gpu": "none", "driver": "none",
              "machine": f"{model}, {os.cpu_count()} processors, load up to {load:.0f} of other work and this",
              "versions": {"oneDNN": library, "onnxruntime": peer, "linux": platform.release()},
              "commit": commit, "date": datetime.date.today().isoformat(), "rows": rows,
              "targets": [judge(rows)]}
    text = json.dumps(result, indent=1) + "\n"
    if args.output:
        pathlib.Path(args.output).write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
