"""Part 'variants': what each thing that the injected library asks CUPTI for costs a launch, and its choices of buffers
and flushes. Without the recorder: only the library is in the program. No target hangs on it; it says where to look."""
import os
import random
import statistics
import time

import fwr
import turns

LAUNCHES = 30000
BUDGET_S = 60
MIN_CYCLES, MAX_CYCLES = 5, 10
KINDS = ("runtime", "driver", "memory", "module", "overhead", "external", "event", "sync", "stream", "graph")
OPTIONS = {
    "ours": "",
    **{f"without {kind}": f"inject_without={kind}" for kind in KINDS},
    "kernels only": "inject_without=" + ",".join(KINDS),
    "kernels only, large buffers": "inject_without=" + ",".join(KINDS) +
                                   ";inject_buffer_bytes=8388608;inject_buffer_bytes_min=8388608;inject_buffers=16",
    "never flushed": "inject_flush_ms=0",
    "flushed every 10 ms": "inject_flush_ms=10",
    "flushed by force": "inject_flush_forced=1",
    "CUPTI flushes every 50 ms": "inject_flush_ms=0;inject_period_ms=50",
    "small buffers": "inject_buffer_bytes=16384",
    "large buffers": "inject_buffer_bytes=8388608;inject_buffer_bytes_min=8388608;inject_buffers=16",
}


def specs(host, folder):
    command = host.pinned([host.known_work, "turns", "{in}", "{out}", str(LAUNCHES)], host.cores[:2])
    yield "plain", command, host.env
    if os.path.exists(host.floor):
        yield "floor", command, {**host.env, "CUDA_INJECTION64_PATH": host.floor}
    library = str(host.bundle / "lib/fullwarp/libfullwarp_inject.so")
    for name, options in OPTIONS.items():
        recording = folder / name.replace(" ", "-")
        recording.mkdir()
        yield name, command, {**host.env, "CUDA_INJECTION64_PATH": library, "FULLWARP_RECORD_DIR": str(recording),
                              "FULLWARP_RECORD_OPTIONS": options}


def take_turns(ready):
    times, end, rng = {}, time.monotonic() + BUDGET_S, random.Random(1)
    for cycle in range(-1, MAX_CYCLES):
        if cycle >= MIN_CYCLES and time.monotonic() > end:
            break
        order = sorted(ready)
        rng.shuffle(order)
        for name in order:
            took = ready[name].go("launch", 40)
            if cycle >= 0:
                times.setdefault(name, []).append(took / LAUNCHES * 1e6)
    return times


def look_at(host, folder):
    """What is in a recording: how many kernels, and how many without times; what was lost or could not be."""
    recording = fwr.Recording(folder, host.libraries)
    return {"kernels": len(recording.kernels), "without times": sum(k[6] <= 0 for k in recording.kernels),
            "calls": len(recording.calls), "losses": recording.losses[:3],
            "cannot": [i[2] for i in recording.infos if i[1] == "cannot"],
            "bytes": sum(p.stat().st_size for p in recording.files)}


def run(host):
    folder = host.folder("variants")
    with open(host.out / "variants.log", "w", encoding="utf-8") as log:
        ready, failed = turns.start_all(list(specs(host, folder)), folder, 90, log, host.register)
        try:
            times = take_turns(ready)
        finally:
            for turner in ready.values():
                turner.quit(20)
    result = {"failed": failed, "us_a_launch": times, "recordings": {}}
    for name in OPTIONS:
        if name in ready:
            result["recordings"][name] = look_at(host, folder / name.replace(" ", "-"))
    for name, runs in sorted(times.items(), key=lambda x: statistics.median(x[1])):
        host.say(f"{name:28} {statistics.median(runs):6.3f} us a launch ({min(runs):.3f}-{max(runs):.3f}, "
                 f"n={len(runs)}) {result['recordings'].get(name, '')}")
    return result


def rows(_):
    return ()
