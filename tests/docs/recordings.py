#!/usr/bin/env python3
"""recordings.py ROOT FULLWARP: each recording of examples/recordings is whole, names no file of the machine it was made
on, and its totals are those of a second reader, tests/gpu/record/fwr.py."""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "tests/gpu/record"))
import fwr  # noqa: E402

PATH = re.compile(rb"(?<![\w.])/[\w.-]{3,}/[\w.-]{3,}[ -~]*")  # shorter ones are numbers that look so
DAMAGE = ("truncated", "damaged_chunks", "missing_chunks", "bad_records", "unknown_records", "lost_names", "bad_clock_pairs",
          "dropped_records", "dropped_samples", "unended")


class Payloads(fwr.Recording):
    """Keeps what the chunks hold, beside what is made of it."""

    def __init__(self, folder):
        self.payloads = []
        super().__init__(folder)

    def chunks(self, data):
        for payload in super().chunks(data):
            self.payloads.append(payload)
            yield payload


def look_at(folder, fullwarp):
    """The problems of one recording."""
    ours = Payloads(folder)
    problems = [f"{ours.damaged} damaged places"] if ours.damaged else []
    texts = ours.payloads + [(folder / "meta.json").read_bytes()]
    problems += [f"names {found.decode()}" for text in texts for found in PATH.findall(text)]
    run = subprocess.run([fullwarp, "report", "--all", "--format", "json", folder], capture_output=True, text=True, check=True)
    report = json.loads(run.stdout)
    integrity, (device,) = report["trace"]["integrity"], report["devices"]
    problems += [f"{key} is {integrity[key]}" for key in DAMAGE if integrity[key]]
    pairs = {
        "kernels": (device["all"]["kernels"], len(ours.kernels)),
        "kernel_sum_ns": (device["all"]["kernel_sum_ns"], sum(k[6] for k in ours.kernels)),
        "kernel_busy_ns": (device["all"]["kernel_busy_ns"], fwr.union_ns(k[:2] for k in ours.kernels)),
        "copies": (sum(m["count"] for m in device["all"]["memcpy"]), len(ours.copies)),
        "bytes": (sum(m["bytes"] for m in device["all"]["memcpy"]), sum(c[3] for c in ours.copies)),
        "memsets": (device["all"]["memsets"], len(ours.memsets)),
    }
    # Each time is rounded to a ns on its way to the host's clock.
    slack = {"kernel_sum_ns": len(ours.kernels), "kernel_busy_ns": len(ours.kernels)}
    return problems + [f"{key}: the report says {a}, the second reader {b}" for key, (a, b) in pairs.items()
                       if abs(a - b) > slack.get(key, 0)]


def main():
    folders = sorted(p for p in (ROOT / "examples/recordings").iterdir() if p.is_dir())
    problems = []
    try:
        for folder in folders:
            problems += [f"{folder.name}: {problem}" for problem in look_at(folder, sys.argv[2])]
    except fwr.ZstdMissing as why:
        print(f"skipped: {why}")
        return 77
    if not folders:
        problems.append("examples/recordings is empty")
    print("\n".join(problems) if problems else f"ok: {len(folders)} recordings")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
