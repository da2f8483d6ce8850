#!/usr/bin/env python3
"""Reads generated traces with fullwarp and with what people use, side by side, and writes
bench/results/import-cpu.json. Every reader runs in its own process; its anonymous memory is sampled from outside.
Usage: run.py SOURCE.json.gz WORKDIR [--python PYTHON] [--build build/release] [--no-10gb]
PYTHON has pysimdjson, orjson and HolisticTraceAnalysis where they can be installed; what is missing is left out by name.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
GB = 10**9

PEERS = {
    "Python json": "import json,sys; json.load(open(sys.argv[1],'rb'))",
    "orjson, parse only": "import orjson,sys; orjson.loads(open(sys.argv[1],'rb').read())",
    "pysimdjson, parse only": "import simdjson,sys; simdjson.Parser().parse(open(sys.argv[1],'rb').read())",
    "HolisticTraceAnalysis load": "import sys; from hta.common.trace_parser import parse_trace_dataframe as p; "
                                 "from hta.configs.parser_config import ParserConfig as C; "
                                 "p(sys.argv[1], C.get_default_cfg())",
}


class Sampler(threading.Thread):
    """The largest anonymous memory that a process had, looked at every 5 ms."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path, self.peak_kb, self.done = f"/proc/{pid}/status", 0, False

    def run(self):
        while not self.done:
            try:
                text = open(self.path).read()
            except OSError:
                return
            for line in text.splitlines():
                if line.startswith("RssAnon:"):
                    self.peak_kb = max(self.peak_kb, int(line.split()[1]))
            time.sleep(0.005)


def measure(command):
    """Seconds of wall time, seconds of processor time, peak of anonymous MB, what it printed; None if it failed."""
    began, before = time.monotonic(), os.times()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    sampler = Sampler(child.pid)
    sampler.start()
    out, err = child.communicate()
    seconds, after = time.monotonic() - began, os.times()
    sampler.done = True
    sampler.join()
    if child.returncode:
        print(f"failed: {' '.join(map(str, command))[:200]}: {err.decode(errors='replace')[-300:]}", file=sys.stderr)
        return None
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, cpu, sampler.peak_kb * 1024 / 1e6, out.decode()


class Results:
    def __init__(self):
        self.rows, self.left_out = [], {}

    def add(self, name, unit, runs, peer=False):
        runs = [round(r, 3) for r in runs]
        self.rows.append({"name": name, "unit": unit, "runs": runs, "median": statistics.median(runs),
                          "min": min(runs), "max": max(runs), "peer": peer})
        print(f"{name}: {statistics.median(runs):.1f} {unit}", flush=True)
        return statistics.median(runs)

    def time(self, name, label, command, size, times, peer=False):
        """MB/s by processor time, MB/s by wall time and peak of memory of a command."""
        runs = [r for r in (measure(command) for _ in range(times)) if r]
        if not runs:
            self.left_out[name] = "failed"
            return None
        self.add(f"{name}, {label}: by wall time", "MB/s", [size / 1e6 / r[0] for r in runs], peer)
        peak = self.add(f"{name}, {label}: peak anonymous memory", "MB", [r[2] for r in runs], peer)
        return self.add(f"{name}, {label}: by processor time", "MB/s", [size / 1e6 / r[1] for r in runs], peer), peak


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0].strip()
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "not found"


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def versions(python):
    found = {"python": platform.python_version(), "compiler": first_line(["cc", "--version"])}
    for package in ("orjson", "pysimdjson", "HolisticTraceAnalysis"):
        code = f"from importlib.metadata import version; print(version('{package}'))"
        found[package] = first_line([python, "-c", code])
    return found


def make(source, folder, size):
    path = folder / f"trace-{size / GB:g}gb.json"
    subprocess.run([sys.executable, HERE / "make_trace.py", source, str(size), path], check=True)
    return path


def run_size(results, args, path, label, times, peer_times):
    size = path.stat().st_size
    speed = results.time("fullwarp, reading", label, [ROOT / args.build / "read_trace", path], size, times)
    for name, code in PEERS.items() if peer_times else ():
        results.time(name, label, [args.python, "-c", code, path], size, peer_times, peer=True)
    return speed


def run_gzip(results, args, path, label, times):
    packed = path.with_suffix(".json.gz")
    subprocess.run(f"gzip -1 -c '{path}' > '{packed}'", shell=True, check=True)
    reader = [ROOT / args.build / "read_trace", packed]
    results.time("fullwarp, reading .gz (unpacked bytes, both threads)", label, reader, path.stat().st_size, times)
    packed.unlink()


def run_10gb(results, args, source, folder):
    path = make(source, folder, 10 * GB)
    size = path.stat().st_size
    run_size(results, args, path, "10 GB", 2, 0)
    limited = [ROOT / args.build / "read_trace", "--max-memory", str(256 << 20), path]
    results.time("fullwarp, reading, columns over 256 MiB spilled", "10 GB", limited, size, 1)
    report = [ROOT / args.build / "fullwarp", "report", "--max-memory", "512M", path]
    whole = results.time("fullwarp report --max-memory 512M", "10 GB", report, size, 1)
    path.unlink()
    return whole[1] if whole else None


def judge(name, op, target, measured, why):
    met = measured is not None and (measured >= target if op == ">=" else measured <= target)
    return {"name": name, "op": op, "target": target, "measured": measured, "met": met, "why": why}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--out", default=ROOT / "bench/results/import-cpu.json", type=pathlib.Path)
    parser.add_argument("--no-10gb", action="store_true")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    results = Results()
    speed, peak = None, None
    for size, label, times, peer_times in ((GB // 10, "0.1 GB", 5, 3), (GB, "1 GB", 5, 1)):
        path = make(args.source, args.folder, size)
        measured = run_size(results, args, path, label, times, peer_times)
        speed = measured[0] if measured else None
        run_gzip(results, args, path, label, times)
        path.unlink()
    if not args.no_10gb:
        peak = run_10gb(results, args, args.source, args.folder)
    targets = [judge("import_mb_s", ">=", 500, speed,
                     "1 GB of plain JSON in the page cache; median by processor time of the one thread, start and "
                     "end of the process included, since other work ran on the machine")]
    if not args.no_10gb:
        targets.append(judge("import_peak_mb_10gb", "<=", 2147.5, peak,
                             "anonymous memory of 'fullwarp report --max-memory 512M' on the 10 GB trace, sampled every 5 ms"))
    document = {"schema": 1, "what": "import", "machine":
                f"{processor()}, {os.cpu_count()} cores", "gpu": "none", "driver": "none",
                "versions": versions(args.python), "commit": first_line(["git", "-C", str(ROOT), "rev-parse", "HEAD"]),
                "date": datetime.date.today().isoformat(), "rows": results.rows, "targets": targets}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(document, indent=1) + "\n")
    if results.left_out:
        print("left out:", results.left_out, file=sys.stderr)


main()
