#!/usr/bin/env python3
"""check_perfetto.py PERFETTO REPORT: decodes the trace-event JSON of `report --format perfetto` with Python's own
reader and holds it against `--format json --all` of the same trace: operations, bytes and idle time of each GPU are the
same, slices of a track nest, every arrow goes from a call to a later or equal start. Prints what it counted."""
import collections
import json
import sys

FIRST_GPU = 1000000


def ns(value):
    return round(value * 1000)


def check_nesting(slices):
    """Slices of one track by start, the longer first; each must lie inside the innermost one that is open."""
    open_ends = []
    for start, end, name in sorted(slices, key=lambda s: (s[0], -s[1])):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1], f"{name} at {start} ns crosses what it should nest in"
        open_ends.append(end)


def check_device(gpu, slices, want):
    ops = [s for s in slices if "class" in s["args"]]
    kernels = [s for s in ops if s["args"]["class"] in ("compute", "collective")]
    assert len(kernels) == want["all"]["kernels"], f"GPU {gpu}: {len(kernels)} kernels"
    assert sum(ns(s["dur"]) for s in kernels) == want["all"]["kernel_sum_ns"], f"GPU {gpu}: kernel time"
    copied = sum(s["args"].get("bytes", 0) for s in ops if s["args"]["class"].startswith("copy-"))
    assert copied == sum(c["bytes"] for c in want["all"]["memcpy"]), f"GPU {gpu}: {copied} bytes"
    idle = collections.Counter()
    for s in slices:
        if "why" in s["args"]:
            idle[s["name"]] += ns(s["dur"])
    ledger = {row["class"]: row["ns"] for row in want["ledger"]}
    for name, total in idle.items():
        assert total == ledger[name], f"GPU {gpu}: {name} {total} ns, the ledger has {ledger[name]}"
    busy = ("compute", "collective", "graph-opaque", "memset")
    expected = sum(v for k, v in ledger.items() if k not in busy and not k.startswith("copy-"))
    assert sum(idle.values()) == expected, f"GPU {gpu}: idle {sum(idle.values())} ns of {expected}"
    return len(ops)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        report = json.load(file)
    tracks, starts, ends, named = collections.defaultdict(list), {}, {}, set()
    by_gpu = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        place = (event["pid"], event["tid"])
        if event["ph"] == "X":
            assert event["dur"] >= 0
            tracks[place].append((ns(event["ts"]), ns(event["ts"]) + ns(event["dur"]), event["name"]))
            if event["pid"] >= FIRST_GPU:
                by_gpu[event["pid"]].append(event)
        elif event["ph"] in "sf":
            (starts if event["ph"] == "s" else ends)[event["id"]] = (place, ns(event["ts"]))
        elif event["name"] == "thread_name":
            named.add(place)
    assert set(tracks) <= named, f"tracks without a name: {set(tracks) - named}"
    for slices in tracks.values():
        check_nesting(slices)
    assert starts.keys() == ends.keys()
    begins = {(place, s[0]) for place, slices in tracks.items() for s in slices}
    for arrow in starts:
        assert starts[arrow] in begins and ends[arrow] in begins, f"arrow {arrow} touches no slice"
    ops = 0
    for (gpu, slices), want in zip(sorted(by_gpu.items()), report["devices"], strict=True):
        ops += check_device(gpu - FIRST_GPU, slices, want)
    print(f"{len(by_gpu)} GPUs, {ops} operations, {len(starts)} arrows, {len(tracks)} tracks: ok")
    print(trace["otherData"]["verdict"])


main()
