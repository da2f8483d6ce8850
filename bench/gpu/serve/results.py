#!/usr/bin/env python3
"""results.py MERGED.json FILE...: one result file of several, made in several visits; of two rows of a name the later counts.
As a module: rows and targets, written after each measurement."""
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys

UNSAID = "to be said by whoever read the run"
# Name, operator, target, and what is measured, from the rows' medians.
TARGETS = (
    ("jpeg_to_label_cpu_img_s", ">=", 7000, lambda m: m("C, CPU decode: rate")),
    ("jpeg_to_label_nvjpeg_img_s", ">=", 15000, lambda m: m("C, nvJPEG: rate")),
    ("vs_before", ">=", 20, lambda m: best(m) / m("A, before: rate")),
    ("vs_after_fp16", ">=", 2, lambda m: best(m) / m("B+, after, fp16: rate")),
    ("sm_busy_percent_resident", ">=", 85, lambda m: m("C, input on the GPU: SM busy")),
    ("ready_seconds", "<=", 10, lambda m: m("C, CPU decode: ready, nothing cached")),
    ("p99_ms_half_load", "<=", 8, lambda m: m("C, CPU decode: p99 at half load")),
    # 1 MiB a minute.
    ("rss_slope_bytes_s", "<=", 17476, lambda m: m("C, CPU decode: slope of the resident memory")),
)


def best(median):
    """Of our two ways from JPEG files; the one, where only one was measured."""
    rates = []
    for name in ("C, CPU decode: rate", "C, nvJPEG: rate"):
        try:
            rates.append(median(name))
        except LookupError:
            continue
    return max(rates, default=None) or median("C, CPU decode: rate")


def row(name, unit, runs, peer):
    return {"name": name, "unit": unit, "runs": runs, "median": statistics.median(runs), "min": min(runs), "max": max(runs),
            "peer": peer}


def targets(rows):
    medians = {r["name"]: r["median"] for r in rows}
    for name, op, bound, of in TARGETS:
        try:
            measured = of(medians.__getitem__)
        except LookupError:
            continue
        met = measured >= bound if op == ">=" else measured <= bound
        yield {"name": name, "op": op, "target": bound, "measured": measured, "met": met, "why": "" if met else UNSAID}


def gpu():
    try:
        out = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True,
                             text=True, timeout=30, check=True).stdout
        name, driver = out.splitlines()[0].split(", ")
        return {"gpu": name, "driver": driver}
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return {"gpu": None, "driver": None}


class Results:
    """Goes on with what the file has, so that parts of several commands come together in it."""

    def __init__(self, path):
        self.path, self.runs, self.data = pathlib.Path(path), {}, None
        if self.path.exists():
            self.data = json.loads(self.path.read_text(encoding="utf-8"))
        else:
            self.data = {"schema": 1, "what": "serve", "machine": f"x86-64, {os.cpu_count()} virtual CPUs, shared", **gpu(),
                         "versions": {}, "commit": os.environ.get("FW_COMMIT", "0000000"),
                         "date": datetime.date.today().isoformat(), "rows": [], "targets": []}

    def add(self, name, unit, value, peer=False):
        """One more run's value of a row of this visit."""
        if value is None:
            return
        runs = self.runs.setdefault(name, [])
        runs.append(round(value, 6) if isinstance(value, float) else value)
        self.put(row(name, unit, runs, peer))

    def put_one(self, name, unit, value, peer=False):
        self.put(row(name, unit, [round(value, 6)], peer))

    def put(self, made):
        """In place of the row of the same name."""
        for i, old in enumerate(self.data["rows"]):
            if old["name"] == made["name"]:
                self.data["rows"][i] = made
                return
        self.data["rows"].append(made)

    def median(self, name):
        found = [r["median"] for r in self.data["rows"] if r["name"] == name]
        return found[0] if found else None

    def keep(self):
        self.data["targets"] = list(targets(self.data["rows"]))
        temporary = self.path.with_suffix(".part")
        temporary.write_text(json.dumps(self.data, indent=1) + "\n", encoding="utf-8")
        temporary.replace(self.path)

    def table(self):
        for r in self.data["rows"]:
            print(f"{r['name']:62s} {r['median']:12.5g} {r['unit']:8s} {r['min']:.5g} to {r['max']:.5g}")
        for t in self.data["targets"]:
            print(f"{t['name']:40s} {t['op']} {t['target']:<10g} {t['measured']:.5g} {'met' if t['met'] else 'MISSED'}")


def main():
    merged = Results(sys.argv[1])
    for name in sys.argv[2:]:
        data = json.loads(pathlib.Path(name).read_text(encoding="utf-8"))
        if not merged.data["rows"]:
            merged.data.update({key: data[key] for key in data if key not in ("rows", "targets")})
        merged.data["versions"].update(data["versions"])
        for r in data["rows"]:
            merged.put(r)
    merged.keep()
    merged.table()


if __name__ == "__main__":
    main()
