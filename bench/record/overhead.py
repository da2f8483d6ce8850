"""Part 'overhead': what being recorded costs, beside PyTorch's profiler, Nsight Systems and the least that CUPTI's kernel
records cost. All variants of a program are alive at once and take turns, round by round in random order, so that what
the machine does meanwhile hits all of them; a pair is two rounds of the same cycle. Of the variants that are judged
there are two processes each, which take every second cycle: no process's own luck decides."""
import os
import pathlib
import random
import re
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
GPU_TESTS = HERE.parent.parent / "tests/gpu/record"
sys.path.insert(0, str(GPU_TESTS))
import turns  # noqa: E402
from host import NSYS_PLACES, find_tool, row  # noqa: E402

MIN_CYCLES = 7
LAUNCHES = 30000
LOOPS = {"fp16": 10, "after": 24}  # batches a round: short ones, since the noise of a busy host lasts long
BUDGET_S = {"launch": 22, "fp16": 38, "after": 48}
MAX_CYCLES = 300
TWINS = ("a", "b")
PEER_EVERY = {"launch": 3, "fp16": 15, "after": 3}  # cycles; the profiler takes seconds to end a round
AFTERWARDS = 5
LEAST_CAPTURE_BYTES = 1 << 20  # an H200 host's nsys wrote 56 bytes a launch; the fewest rounds launch 210,000


def variants(host, name, command, folder, with_profiler):
    """(name, command, environment) of each way to be watched; the recorder runs on cores of its own."""
    programs, recorders = host.cores[:-4] or host.cores, host.cores[-4:]
    if name == "launch":
        programs = host.cores[:4]  # the program, CUPTI's thread, ours that drains, and one for what else runs
    pinned = host.pinned(command, programs)
    for twin in TWINS:
        yield f"plain-{twin}", pinned, host.env
        if os.path.exists(host.floor):
            yield f"floor-{twin}", pinned, {**host.env, "CUDA_INJECTION64_PATH": host.floor, "FW_FLOOR_COUNT": "1"}
        yield f"ours-{twin}", host.pinned(host.record(folder / f"recording-{twin}", pinned), recorders), host.env
    if with_profiler:
        yield "profiler", pinned, host.env
    nsys = find_tool("nsys", NSYS_PLACES)
    if nsys:
        # Its daemon keeps what it captures below TMPDIR at first.
        yield "nsys", [nsys, "profile", "--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none", "--force-overwrite=true",
                       "-o", str(folder / "nsys"), *pinned], {**host.env, "TMPDIR": str(folder)}


def one_round(name, turner, loop):
    if name != "profiler":
        return turner.go(loop, 40)
    turner.tell("profile-start", 40)
    seconds = turner.go(loop, 40)
    turner.tell("profile-stop", 60)
    return seconds


def is_due(name, loop, cycle):
    """Whether a process has its turn in this cycle."""
    twin = name.rpartition("-")[2]
    return TWINS[cycle % len(TWINS)] == twin if twin in TWINS else cycle % PEER_EVERY[loop] == 1


def run_cycles(host, loop, ready, seconds, failed):
    """{variant: {cycle: seconds}}; the first cycles only warm up."""
    times, end, rng = {}, time.monotonic() + BUDGET_S[loop], random.Random(loop)
    for cycle in range(-len(TWINS), MAX_CYCLES):
        if time.monotonic() > end and all(len(t) >= MIN_CYCLES for t in times.values()):
            break
        if time.monotonic() > end + BUDGET_S[loop]:
            break
        order = [name for name in sorted(ready) if is_due(name, loop, cycle)]
        rng.shuffle(order)
        for name in order:
            try:
                took = one_round(name, ready[name], loop)
            except turns.TurnFailed as error:
                failed[f"{loop}, {name}"] = str(error)
                ready.pop(name).kill()
                continue
            if cycle >= 0:
                times.setdefault(name.partition("-")[0], {})[cycle] = took
        if cycle % 8 == 1:
            host.say(f"overhead {loop}: cycle {cycle}: " +
                     ", ".join(f"{n} {list(t.values())[-1] * 1e3:.1f} ms" for n, t in sorted(times.items()) if t))
    seconds[loop] = {name: got for name, got in times.items() if len(got) >= MIN_CYCLES}


def finish(host, loops, ready, seconds, failed):
    """Ends all but one plain process, which then runs alone: what the recorders' counters cost everybody's rounds."""
    others = [name for name in ready if name != "plain-a"]
    for name in others:
        ready[name].ask_to_quit()
    for name in others:
        status = ready.pop(name).quit(40 if name == "nsys" else 20)
        if status != 0 and name != "nsys":
            failed[f"{name} at its end"] = f"status {status}"
    plain = ready.get("plain-a")
    for loop in loops if plain else ():
        try:
            plain.go(loop, 40)
            seconds[loop]["plain, alone afterwards"] = {i: plain.go(loop, 40) for i in range(AFTERWARDS)}
        except turns.TurnFailed as error:
            failed[f"{loop} afterwards"] = str(error)
    if plain:
        plain.quit(20)


def measure(host, name, command, loops, result):
    folder, log_path = host.folder(f"overhead-{name}"), host.out / f"overhead-{name}.log"
    with open(log_path, "w", encoding="utf-8") as log:
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
    check_floor(log_path, loops, result)
    check_nsys(folder, loops, result)


def check_nsys(folder, loops, result):
    """Says why there is no Nsight Systems to compare with: one that left no capture has not watched."""
    if not find_tool("nsys", NSYS_PLACES):
        result["failed"]["nsys"] = f"neither on the PATH nor in {', '.join(NSYS_PLACES)}"
        return
    size = sum(p.stat().st_size for suffix in ("qdstrm", "nsys-rep") for p in folder.rglob(f"*.{suffix}"))
    result.setdefault("nsys_bytes", {})[loops[0]] = size
    if size < LEAST_CAPTURE_BYTES:
        result["failed"][f"nsys, {loops[0]}"] = f"left {size} bytes of a capture; see overhead-*.log"
        for loop in loops:
            result["seconds"].get(loop, {}).pop("nsys", None)


def check_floor(log_path, loops, result):
    """A floor that recorded no kernels (its library was not loaded) is no floor."""
    said = re.findall(r"^floor: (\d+) kernels", log_path.read_text(errors="replace"), re.M)
    if len(said) < len(TWINS) or "0" in said:
        result["failed"][f"floor, {loops[0]}"] = f"recorded {said} kernels"
        for loop in loops:
            result["seconds"].get(loop, {}).pop("floor", None)


def run(host):
    result = {"seconds": {}, "failed": {}, "launches": LAUNCHES, "batches": LOOPS}
    measure(host, "launch", [host.known_work, "turns", "{in}", "{out}", str(LAUNCHES)], ["launch"], result)
    script = [host.python, str(GPU_TESTS / "torch_work.py"), "{in}", "{out}", "--device", host.device]
    measure(host, "torch", script + [f"{loop}:{batches}" for loop, batches in LOOPS.items()], list(LOOPS), result)
    for name, value, why in (judge_launch(result), judge_loops(result)):
        host.say(f"{name}: {value} {why}")
    return result


def pairs(seconds, *names):
    """The rounds of those cycles in which each of them had one."""
    cycles = set.intersection(*(set(seconds[name]) for name in names))
    return [tuple(seconds[name][cycle] for name in names) for cycle in sorted(cycles, key=int)]


def slowdowns(seconds, name):
    """Percent by which each round was slower than the plain one of its cycle."""
    return [(took / plain - 1) * 100 for took, plain in pairs(seconds, name, "plain")]


def interval(values):
    """Between which values the median lies with 95 % (order statistics)."""
    values, reach = sorted(values), 0.98 * len(values) ** 0.5
    low, high = max(int(len(values) / 2 - reach), 0), min(int(len(values) / 2 + reach), len(values) - 1)
    return f"{len(values)} pairs, their median lies between {values[low]:.3g} and {values[high]:.3g} with 95 %"


def judge_launch(result):
    """Our time over the floor's, median of the pairs."""
    seconds = result["seconds"].get("launch", {})
    if not {"ours", "floor"} <= seconds.keys():
        return "launch_loop_vs_floor", None, "not both were measured"
    ratios = [a / b for a, b in pairs(seconds, "ours", "floor")]
    return "launch_loop_vs_floor", statistics.median(ratios), interval(ratios)


def judge_loops(result):
    """The worse loop's slow-down beyond the floor's, in points, median of the pairs."""
    worst, why = None, ""
    for loop in LOOPS:
        seconds = result["seconds"].get(loop, {})
        if not {"ours", "floor", "plain"} <= seconds.keys():
            return "loop_slowdown_minus_floor_points", None, f"{loop} was not measured in all ways"
        points = [(ours - floor) / plain * 100 for ours, floor, plain in pairs(seconds, "ours", "floor", "plain")]
        if worst is None or statistics.median(points) > worst:
            worst, why = statistics.median(points), f"{TITLES[loop]}: {interval(points)}"
    return "loop_slowdown_minus_floor_points", worst, why


TITLES = {"launch": "launch loop", "fp16": "ResNet-50 fp16, batch 16, resident input", "after": "ResNet-50 fp32, 8 workers"}
PEERS = {"profiler": "PyTorch profiler", "nsys": "nsys raw capture", "floor": "kernel records only", "ours": "recorded",
         "plain": "not recorded", "plain, alone afterwards": "not recorded, after the recorder had ended"}


def rows(result):
    for loop, seconds in result["seconds"].items():
        scale, unit = (1e6 / result["launches"], "us a launch") if loop == "launch" else \
            (1e3 / result["batches"][loop], "ms a batch")
        for name, runs in seconds.items():
            is_peer = name in ("profiler", "nsys", "floor")
            yield row(f"{TITLES[loop]}: {PEERS[name]}", unit, [r * scale for r in runs.values()], is_peer)
        for name in seconds:
            if name in ("ours", "floor", "profiler", "nsys") and "plain" in seconds:
                yield row(f"{TITLES[loop]}: {PEERS[name]}, slow-down of each pair", "%", slowdowns(seconds, name),
                          name != "ours")
