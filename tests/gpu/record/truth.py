"""Part 'truth': what a recording says of six programs, against what they did by construction or what PyTorch's profiler
says of the same program in a run of its own."""
import collections
import ctypes
import ctypes.util
import json
import re
import statistics

import fwr
import turns
from host import HERE, row

MARK = 7919  # as in torch_work.py
BUSY_PERCENT = 3.0
ROUNDS = 3
LOOPS = {"before": 6, "after": 16, "compiled": 40, "graphs": 60}
SYNC_TYPES = {1: "event", 2: "stream_wait", 3: "stream", 4: "context"}


def demangler():
    """__cxa_demangle, by which the profiler makes its names too."""
    library = ctypes.CDLL(ctypes.util.find_library("stdc++") or "libstdc++.so.6")
    library.__cxa_demangle.restype = ctypes.c_void_p
    library.__cxa_demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    known = {}

    def demangle(name):
        if name not in known:
            got = library.__cxa_demangle(name.encode(), None, None, None)
            known[name] = ctypes.string_at(got).decode() if got else name
            free(got)
        return known[name]
    return demangle


def empty_round():
    return {"kernels": collections.Counter(), "copies": {}, "memsets": [0, 0], "spans": []}


def add_copy(kept, kind, size):
    entry = kept["copies"].setdefault(kind, [0, 0])
    entry[0] += 1
    entry[1] += size


def cut_rounds(operations):
    """Operations (start, end, what, name, bytes), cut at the marks: from a copy of MARK bytes to one of MARK + 1."""
    rounds, current = [], None
    for start, end, what, name, size in sorted(operations):
        if what == "copy" and size in (MARK, MARK + 1) and name.startswith("HtoD"):
            if size > MARK and current is not None:
                rounds.append(current)
            current = empty_round() if size == MARK else None
            continue
        if current is None:
            continue
        current["spans"].append((start, end))
        if what == "kernel":
            current["kernels"][name] += 1
        elif what == "copy":
            add_copy(current, name, size)
        else:
            current["memsets"][0] += 1
            current["memsets"][1] += size
    for kept in rounds:
        kept["busy_ns"] = fwr.union_ns(kept.pop("spans"))
    return rounds


def rounds_of_recording(recording, demangle):
    operations = [(k[0], k[0] + k[6], "kernel", demangle(k[2]), 0) for k in recording.kernels]
    operations += [(c[0], c[0] + c[7], "copy", c[2], c[3]) for c in recording.copies]
    operations += [(m[0], m[0] + m[6], "memset", "", m[2]) for m in recording.memsets]
    return cut_rounds(operations)


def operations_of_trace(trace):
    """GPU operations of a Kineto trace; times to ns."""
    for event in trace["traceEvents"]:
        what = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "memset"}.get(event.get("cat"))
        if what is None or event.get("ph") != "X":
            continue
        start, length = round(event["ts"] * 1000), round(event["dur"] * 1000)
        name = event["name"].removeprefix("Memcpy ") if what == "copy" else event["name"]
        yield start, start + length, what, name, int(event.get("args", {}).get("bytes", 0))


def rounds_of_trace(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return cut_rounds(operations_of_trace(json.load(f)))


def count_differences(ours, theirs):
    """Differences of one round's counts, as texts."""
    found = []
    for name in sorted(set(ours["kernels"]) | set(theirs["kernels"])):
        a, b = ours["kernels"].get(name, 0), theirs["kernels"].get(name, 0)
        if a != b:
            found.append(f"kernel {name[:120]}: {a}, not {b}")
    for kind in sorted(set(ours["copies"]) | set(theirs["copies"])):
        a, b = ours["copies"].get(kind, [0, 0]), theirs["copies"].get(kind, [0, 0])
        if list(a) != list(b):
            found.append(f"copies {kind}: {a}, not {b}")
    if list(ours["memsets"]) != list(theirs["memsets"]):
        found.append(f"memsets: {ours['memsets']}, not {theirs['memsets']}")
    return found


def fold_memset_kernels(kept):
    """CUPTI tells a memset node of a graph as a memset or, to a tool that came after the graph was made (the profiler
    here), as the kernel that does it, without its bytes. Counted as memsets; their bytes only where both sides know."""
    kernels, folded = collections.Counter(kept["kernels"]), 0
    for name in [n for n in kernels if re.fullmatch(r"memset\d+(_\w+)?", n)]:
        folded += kernels.pop(name)
    count, size = kept["memsets"]
    return {**kept, "kernels": kernels, "memsets": [count + folded, size if not folded else None]}


def fold_pair(ours, theirs):
    ours, theirs = fold_memset_kernels(ours), fold_memset_kernels(theirs)
    if None in (ours["memsets"][1], theirs["memsets"][1]):
        ours["memsets"], theirs["memsets"] = ours["memsets"][:1], theirs["memsets"][:1]
    return ours, theirs


def compare_rounds(ours, theirs):
    """Differences of all rounds and the error of the busy time in percent (of the medians)."""
    if len(ours) < ROUNDS or len(theirs) < ROUNDS:
        return [f"{len(ours)} rounds recorded and {len(theirs)} profiled, {ROUNDS} wanted"], None
    ours, theirs = ours[-ROUNDS:], theirs[-ROUNDS:]
    found = [f"round {i}: {text}" for i, pair in enumerate(zip(ours, theirs))
             for text in count_differences(*fold_pair(*pair))]
    mine, other = (statistics.median(r["busy_ns"] for r in rounds) for rounds in (ours, theirs))
    return found, abs(mine / other - 1) * 100 if other else None


def lost_records(recording):
    """(which, how many, in which process's file): the recorder's own loses samples of the host only."""
    return [(loss[2], loss[3], loss[4]) for loss in recording.losses if loss[2].startswith("dropped")]


def constructed(recording, expected, demangle):
    """Differences of a C program's recording from what the program did."""
    names = collections.Counter(demangle(k[2]) for k in recording.kernels)
    copies = {"copies": {}}
    for c in recording.copies:
        add_copy(copies, c[2], c[3])
    ours = {"kernels": names, "copies": copies["copies"],
            "memsets": [len(recording.memsets), sum(m[2] for m in recording.memsets)]}
    found = count_differences(ours, expected)
    syncs = collections.Counter(SYNC_TYPES.get(s[2], str(s[2])) for s in recording.syncs)
    checks = [("event records", len(recording.events), expected["events"]),
              ("streams with kernels", len({k[5] for k in recording.kernels}), expected["streams"]),
              ("damaged places", recording.damaged, 0),
              ("records lost", lost_records(recording), [])]
    checks += [(f"{name} synchronisations", syncs.get(name, 0), count) for name, count in expected["syncs"].items()]
    return found + [f"{name}: {got}, not {want}" for name, got, want in checks if got != want]


def c_programs(host, result, demangle):
    for name, arguments in (("launch loop", ["launches", "20000"]), ("multi-stream", ["streams"])):
        folder = host.target_for_recording(f"truth/{arguments[0]}")
        status, out, _ = host.run(host.record(folder, [host.known_work, *arguments], "--no-counters", "--syncs"), 60)
        try:
            expected = json.loads(out.splitlines()[-1])
            recording = fwr.Recording(folder, host.libraries)
            found = constructed(recording, expected, demangle)
        except (OSError, ValueError, IndexError, KeyError, fwr.ZstdMissing) as error:
            found = [f"{type(error).__name__}: {error}"]
        if status != 0:
            found.append(f"recorded run: status {status}")
        result["differences"][name] = found
        host.say(f"truth {name}: {len(found)} differences {found[:3]}")


def torch_specs(host, folder):
    """Every loop once recorded and once for the profiler, and 'before' recorded while it profiles itself."""
    script = [host.python, str(HERE / "torch_work.py"), "{in}", "{out}", "--device", host.device]
    for loop, batches in LOOPS.items():
        command = [*script, f"{loop}:{batches}"]
        options = ["--no-counters"] + (["--graphs", "node"] if loop == "graphs" else [])
        yield f"{loop}-profiled", command, host.env
        yield f"{loop}-recorded", host.record(folder / f"rec-{loop}", command, *options), host.env
    yield "inside", host.record(folder / "rec-inside", [*script, f"before:{LOOPS['before']}"], "--no-counters"), host.env


def compare_loop(host, folder, loop, demangle, result):
    try:
        recording = fwr.Recording(folder / f"rec-{loop}", host.libraries)
        found, busy = compare_rounds(rounds_of_recording(recording, demangle), rounds_of_trace(folder / f"{loop}.json"))
        lost = lost_records(recording)
        if recording.damaged or lost:
            found.append(f"{recording.damaged} damaged places, lost: {lost}")
    except (OSError, ValueError, KeyError, TypeError, fwr.ZstdMissing) as error:
        found, busy = [f"{type(error).__name__}: {error}"], None
    result["differences"][loop] = found
    result["busy_error_percent"][loop] = busy
    host.say(f"truth {loop}: {len(found)} differences {found[:3]}, busy time off by {busy} %")


def run_loops(host, ready, folder, result):
    for name, turner in sorted(ready.items()):
        loop = name.rsplit("-", 1)[0]
        try:
            if name == "inside":
                run_inside(turner, folder)
                continue
            if name.endswith("-profiled"):
                turner.tell("profile-start", 60)
            for _ in range(ROUNDS):
                turner.go(loop, 30)
            if name.endswith("-profiled"):
                turner.tell(f"profile-stop {folder / loop}.json", 90)
            host.say(f"truth {name}: done")
        except turns.TurnFailed as error:
            result["failed"][name] = str(error)


def run_inside(turner, folder):
    """Recorded before and after, profiled by the program itself in between."""
    turner.go("before", 30)
    turner.tell("profile-start", 60)
    for _ in range(ROUNDS):
        turner.go("before", 30)
    turner.tell(f"profile-stop {folder / 'inside'}.json", 90)
    turner.go("before", 30)
    turner.go("before", 30)


def judge_inside(host, folder, demangle, result):
    """The program's own trace is the one it gets without us; ours has rounds before and after, and says why none between."""
    found = []
    try:
        theirs, alone = rounds_of_trace(folder / "inside.json"), rounds_of_trace(folder / "before.json")
        found, _ = compare_rounds(theirs, alone)
        recording = fwr.Recording(folder / "rec-inside", host.libraries)
        blind = [loss for loss in recording.losses if loss[2] == "other-profiler"]
        if not blind:
            found.append("no blind interval is marked")
        else:
            start, end = blind[0][0], max(loss[1] for loss in blind)
            before = sum(1 for k in recording.kernels if k[1] <= start)
            after = sum(1 for k in recording.kernels if k[0] >= end)
            result["inside_kernels"] = {"before": before, "after": after, "blind_ms": (end - start) / 1e6}
            found += [f"no kernels recorded {when}" for when, n in (("before", before), ("after", after)) if not n]
            rounds = rounds_of_recording(recording, demangle)
            if rounds and alone:
                found += [f"last round after it: {text}" for text in count_differences(rounds[-1], alone[-1])]
    except (OSError, ValueError, KeyError, TypeError, fwr.ZstdMissing) as error:
        found.append(f"{type(error).__name__}: {error}")
    result["differences"]["profiler inside"] = found
    host.say(f"truth profiler inside: {len(found)} differences {found[:3]} {result.get('inside_kernels')}")


def run(host):
    result = {"differences": {}, "busy_error_percent": {}, "failed": {}}
    demangle = demangler()
    c_programs(host, result, demangle)
    folder = host.folder("truth-torch")
    with open(host.out / "truth.log", "w", encoding="utf-8") as log:
        ready, failed = turns.start_all(list(torch_specs(host, folder)), folder, 120, log, host.register)
        result["failed"].update(failed)
        host.say(f"truth: {len(ready)} processes are ready, not: {failed}")
        run_loops(host, ready, folder, result)
        for turner in ready.values():
            turner.ask_to_quit()
        for name, turner in ready.items():
            status = turner.quit(40)
            if status != 0:
                result["failed"].setdefault(name, f"ended with status {status}")
    for loop in LOOPS:
        compare_loop(host, folder, loop, demangle, result)
    judge_inside(host, folder, demangle, result)
    return result


def rows(result):
    for name, found in result["differences"].items():
        yield row(f"truth, {name}: differences", "count", [len(found)])
    for name, busy in result["busy_error_percent"].items():
        if busy is not None:
            yield row(f"truth, {name}: busy time, off from the profiler's, median of {ROUNDS}", "%", [busy])


def differences(result):
    """All of them; a busy time out of bounds or not compared counts as one."""
    total = sum(len(found) for found in result["differences"].values())
    return total + sum(1 for busy in result["busy_error_percent"].values() if busy is None or busy > BUSY_PERCENT)
