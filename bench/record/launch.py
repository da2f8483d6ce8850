"""Part 'launch': the launch loop alone, in a minute: the time of a launch that is recorded over that of the floor, in pairs
of rounds of one cycle, and ways to learn when a launch was called besides its kernel's record (tests/record/floor.c).
Of each way two processes are alive, which take every second cycle; a cycle's order is random."""
import os
import random
import statistics
import time

import overhead
import turns
from host import row

LAUNCHES = 15000
BUDGET_S = 44
MAX_CYCLES = 200
MODES = ("calls", "driver-calls", "callback-tsc", "driver-callback")
# Of the library, without the recorder.
OPTIONS = {"library": "", "library, launches by the driver": "inject_without=runtime-launches"}
# Of the recorder.
RECORDERS = {"recorded": (), "recorded, no host": ("--no-host",), "recorded, no counters": ("--no-counters",),
             "recorded, neither": ("--no-host", "--no-counters")}


def variants(host, folder):
    programs, recorders = host.cores[:4], host.cores[-4:]
    pinned = host.pinned([host.known_work, "turns", "{in}", "{out}", str(LAUNCHES)], programs)
    library = str(host.bundle / "lib/fullwarp/libfullwarp_inject.so")
    for twin in overhead.TWINS:
        yield f"plain-{twin}", pinned, host.env
        for name, options in RECORDERS.items():
            recording = folder / f"{name.replace(', ', '-').replace(' ', '-')}-{twin}"
            yield f"{name}-{twin}", host.pinned(host.record(recording, pinned, *options), recorders), host.env
        floor = {**host.env, "CUDA_INJECTION64_PATH": host.floor, "FW_FLOOR_COUNT": "1"}
        yield f"floor-{twin}", pinned, floor
        for mode in MODES:
            yield f"floor, {mode}-{twin}", pinned, {**floor, "FW_FLOOR_MODE": mode}
        for name, options in OPTIONS.items():
            recording = folder / f"{len(list(folder.iterdir()))}-{twin}"
            recording.mkdir()
            yield f"{name}-{twin}", pinned, {**host.env, "CUDA_INJECTION64_PATH": library,
                                             "FULLWARP_RECORD_DIR": str(recording), "FULLWARP_RECORD_OPTIONS": options}


def take_turns(host, ready, failed):
    """{way: {cycle: seconds}}"""
    times, end, rng = {}, time.monotonic() + BUDGET_S, random.Random(1)
    for cycle in range(-len(overhead.TWINS), MAX_CYCLES):
        if time.monotonic() > end:
            break
        order = [name for name in sorted(ready) if overhead.is_due(name, "launch", cycle)]
        rng.shuffle(order)
        for name in order:
            try:
                took = ready[name].go("launch", 20)
            except turns.TurnFailed as error:
                failed[name] = str(error)
                ready.pop(name).kill()
                continue
            if cycle >= 0:
                times.setdefault(name.rpartition("-")[0], {})[cycle] = took
    host.say(f"launch: {cycle} cycles")
    return times


def ratios(times, name):
    """Of the time over the floor's in the same cycle."""
    return [took / floor for took, floor in overhead.pairs(times, name, "floor")]


def run(host):
    folder, log_path = host.folder("launch"), host.out / "launch.log"
    with open(log_path, "w", encoding="utf-8") as log:
        ready, failed = turns.start_all(list(variants(host, folder)), folder, 60, log, host.register)
        host.say(f"launch: {len(ready)} processes are ready, not: {failed}")
        try:
            times = take_turns(host, ready, failed)
        finally:
            for turner in ready.values():
                turner.ask_to_quit()
            for turner in ready.values():
                turner.quit(10)
    result = {"times": times, "failed": failed, "launches": LAUNCHES}
    for name, runs in sorted(times.items(), key=lambda item: statistics.median(item[1].values())):
        scaled = [took / LAUNCHES * 1e6 for took in runs.values()]
        host.say(f"{name:28} {statistics.median(scaled):6.3f} us a launch; " +
                 (f"{statistics.median(ratios(times, name)):.3f} of the floor ({overhead.interval(ratios(times, name))})"
                  if "floor" in times and name != "floor" else ""))
    for a, b in (("floor, calls", "floor, driver-calls"), ("library", "library, launches by the driver"),
                 ("recorded", "recorded, neither"), ("recorded, neither", "library")):
        if {a, b} <= times.keys():
            found = [x / y for x, y in overhead.pairs(times, a, b)]
            host.say(f"{a} over {b}: {statistics.median(found):.3f} ({overhead.interval(found)})")
    print("\n".join(sorted(set(log_path.read_text(errors="replace").splitlines()))[:30]), flush=True)
    return result


def rows(result):
    for name, runs in result["times"].items():
        yield row(f"launch loop, a minute: {name}", "us a launch", [t / result["launches"] * 1e6 for t in runs.values()],
                  not name.startswith("recorded"))
        if "floor" in result["times"] and name not in ("floor", "plain"):
            yield row(f"launch loop, a minute: {name}, each pair over kernel records only", "ratio",
                      ratios(result["times"], name), not name.startswith("recorded"))
