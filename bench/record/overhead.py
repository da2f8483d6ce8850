"""Part 'overhead': what being recorded costs, beside PyTorch's profiler, Nsight Systems and the least that CUPTI's kernel
records cost. All variants of a program are alive at once and take turns, round by round in random order, so that what
the machine does meanwhile hits all of them; a pair is two rounds of the same cycle."""
import os
import pathlib
import random
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
GPU_TESTS = HERE.parent.parent / "tests/gpu/record"
sys.path.insert(0, str(GPU_TESTS))
import turns  # noqa: E402
from host import NSYS_PLACES, find_tool, row  # noqa: E402

MIN_CYCLES = 7
LAUNCHES = 60000
LOOPS = {"fp16": 60, "after": 24}  # batches a round
BUDGET_S = {"launch": 25, "fp16": 50, "after": 60}
MAX_CYCLES = {"launch": 21, "fp16": 13, "after": 13}
AFTERWARDS = 5


def variants(host, name, command, folder, with_profiler):
    """(name, command, environment) of each way to be watched; the recorder runs on cores of its own."""
    programs, recorders = host.cores[:-4] or host.cores, host.cores[-4:]
    if name == "launch":
        programs = host.cores[:2]
    pinned = host.pinned(command, programs)
    yield "plain", pinned, host.env
    if os.path.exists(host.floor):
        yield "floor", pinned, {**host.env, "CUDA_INJECTION64_PATH": host.floor}
    yield "ours", host.pinned(host.record(folder / "recording", pinned), recorders), host.env
    if with_profiler:
        yield "profiler", pinned, host.env
    nsys = find_tool("nsys", NSYS_PLACES)
    if nsys:
        yield "nsys", [nsys, "profile", "--trace=cuda", "--sample=none", "--cpuctxsw=none", "-o", str(folder / "nsys"),
                       *pinned], host.env


def one_round(name, turner, loop):
    if name != "profiler":
        return turner.go(loop, 40)
    turner.tell("profile-start", 40)
    seconds = turner.go(loop, 40)
    turner.tell("profile-stop", 60)
    return seconds


def run_cycles(host, loop, ready, seconds, failed):
    """Seconds of each variant, one of each per cycle; the first cycle only warms up."""
    times, end, rng = {name: [] for name in ready}, time.monotonic() + BUDGET_S[loop], random.Random(loop)
    for cycle in range(MAX_CYCLES[loop] + 1):
        if cycle > MIN_CYCLES and time.monotonic() > end:
            break
        order = sorted(ready)
        rng.shuffle(order)
        for name in order:
            try:
                took = one_round(name, ready[name], loop)
            except turns.TurnFailed as error:
                failed[f"{loop}, {name}"] = str(error)
                ready.pop(name).kill()
                continue
            if cycle:
                times[name].append(took)
        if cycle % 4 == 0:
            host.say(f"overhead {loop}: cycle {cycle}: " +
                     ", ".join(f"{n} {t[-1] * 1e3:.1f} ms" for n, t in sorted(times.items()) if t))
    seconds[loop] = {name: got for name, got in times.items() if len(got) >= MIN_CYCLES}


def finish(host, loops, ready, seconds, failed):
    """Ends all but the plain one, which then runs alone: what the recorder's counters cost everybody's rounds."""
    for name in [n for n in ready if n != "plain"]:
        ready[name].ask_to_quit()
    for name in [n for n in ready if n != "plain"]:
        status = ready.pop(name).quit(20)
        if status != 0 and name != "nsys":
            failed[f"{name} at its end"] = f"status {status}"
    plain = ready.get("plain")
    for loop in loops if plain else ():
        try:
            plain.go(loop, 40)
            seconds[loop]["plain, alone afterwards"] = [plain.go(loop, 40) for _ in range(AFTERWARDS)]
        except turns.TurnFailed as error:
            failed[f"{loop} afterwards"] = str(error)
    if plain:
        plain.quit(20)


def measure(host, name, command, loops, result):
    folder = host.folder(f"overhead-{name}")
    with open(host.out / "overhead.log", "a", encoding="utf-8") as log:
        specs = list(variants(host, name, command, folder, name != "launch"))
        ready, failed = turns.start_all(specs, folder, 90, log, host.register)
        result["failed"].update({f"{name}, {variant}": why for variant, why in failed.items()})
        host.say(f"overhead {name}: {sorted(ready)} are ready, not: {failed}")
        try:
            for loop in loops:
                run_cycles(host, loop, ready, result["seconds"], result["failed"])
            finish(host, loops, ready, result["seconds"], result["failed"])
        finally:
            for turner in ready.values():
                if turner.process.poll() is None:
                    turner.kill()


def run(host):
    result = {"seconds": {}, "failed": {}, "launches": LAUNCHES, "batches": LOOPS}
    measure(host, "launch", [host.known_work, "turns", "{in}", "{out}", str(LAUNCHES)], ["launch"], result)
    script = [host.python, str(GPU_TESTS / "torch_work.py"), "{in}", "{out}", "--device", host.device]
    measure(host, "torch", script + [f"{loop}:{batches}" for loop, batches in LOOPS.items()], list(LOOPS), result)
    for name, value, why in (judge_launch(result), judge_loops(result)):
        host.say(f"{name}: {value} {why}")
    return result


def slowdowns(seconds, name):
    """Percent by which each round was slower than the plain one of its cycle."""
    return [(took / plain - 1) * 100 for took, plain in zip(seconds[name], seconds["plain"])]


def judge_launch(result):
    """Our time over the floor's, median of the pairs."""
    seconds = result["seconds"].get("launch", {})
    if not {"ours", "floor"} <= seconds.keys():
        return "launch_loop_vs_floor", None, "not both were measured"
    ratio = statistics.median(a / b for a, b in zip(seconds["ours"], seconds["floor"]))
    return "launch_loop_vs_floor", ratio, ""


def judge_loops(result):
    """The worse loop's slow-down beyond the floor's, in points, median of the pairs."""
    worst = None
    for loop in LOOPS:
        seconds = result["seconds"].get(loop, {})
        if not {"ours", "floor", "plain"} <= seconds.keys():
            return "loop_slowdown_minus_floor_points", None, f"{loop} was not measured in all ways"
        pairs = zip(slowdowns(seconds, "ours"), slowdowns(seconds, "floor"))
        points = statistics.median(ours - floor for ours, floor in pairs)
        worst = points if worst is None else max(worst, points)
    return "loop_slowdown_minus_floor_points", worst, ""


TITLES = {"launch": "launch loop", "fp16": "ResNet-50 fp16, batch 16, resident input", "after": "ResNet-50 fp32, 8 workers"}
PEERS = {"profiler": "PyTorch profiler", "nsys": "nsys raw capture", "floor": "kernel records only", "ours": "recorded",
         "plain": "not recorded", "plain, alone afterwards": "not recorded, after the recorder had ended"}


def rows(result):
    for loop, seconds in result["seconds"].items():
        scale, unit = (1e6 / result["launches"], "us a launch") if loop == "launch" else \
            (1e3 / result["batches"][loop], "ms a batch")
        for name, runs in seconds.items():
            is_peer = name in ("profiler", "nsys", "floor")
            yield row(f"{TITLES[loop]}: {PEERS[name]}", unit, [r * scale for r in runs], is_peer)
        for name in seconds:
            if name in ("ours", "floor", "profiler", "nsys") and "plain" in seconds:
                yield row(f"{TITLES[loop]}: {PEERS[name]}, slow-down of each pair", "%", slowdowns(seconds, name),
                          name != "ours")
