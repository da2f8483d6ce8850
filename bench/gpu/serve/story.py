"""Parts 'story' and 'story-loops': what `fullwarp record` and `report` say of the service as it is and with its remedies off,
and of PyTorch's loops over the same files: the first findings with their bounds, to be held against what each step gained."""
import json
import shutil
import time

import sides
import watch

SECONDS = 5
LOOPS = ("A", "A8", "B", "B+")


def recorded(visit, name, key, command, text=None):
    """Records a program; its report goes to OUT, its first findings into the rows."""
    folder = visit.work / f"story-{key}"
    shutil.rmtree(folder, ignore_errors=True)
    began = time.monotonic()
    done = sides.finish([visit.fullwarp, "record", "-o", str(folder), "--", *command], 120, {**visit.torch_env, **visit.env}, text)
    report = sides.finish([visit.fullwarp, "report", str(folder)], 60, visit.env)
    (visit.logs / f"story-{key}.txt").write_text(report.stdout + report.stderr, encoding="utf-8")
    visit.say(f"{name}: recorded, status {done.returncode}, {time.monotonic() - began:.0f} s: {report.stdout.strip()[:150]}")
    if done.returncode:
        visit.say(done.stderr.strip()[-300:])
    found = sides.finish([visit.fullwarp, "report", str(folder), "--format", "json"], 60, visit.env)
    if found.returncode:
        visit.say(f"{name}: no report: {found.stderr.strip()[-300:]}")
    else:
        note(visit, name, json.loads(found.stdout))
    return done.stdout


def note(visit, name, report):
    if not report["devices"]:
        visit.say(f"{name}: no GPU in the recording")
        return
    device = report["devices"][0]
    window = device["window"]["duration_ns"]
    busy = sum(c["ns"] for c in device["ledger"] if c["class"] in ("compute", "collective", "graph-opaque"))
    visit.results.put_one(f"{name}, recorded: GPU busy with kernels", "%", 100 * busy / window)
    for key, ours, unit in watch.COUNTERS if device.get("counters") else ():
        value = device["counters"]["window"].get(key, {}).get("value")
        if value is not None:
            visit.results.put_one(f"{name}, recorded: {ours}", unit, value)
    for finding in report["findings"][:3]:
        if finding["at_most_ns"] is not None:
            visit.results.put_one(f"{name}, recorded: {finding['id']}, gain at most", "%", 100 * finding["at_most_ns"] / window)
    visit.results.keep()


def part(visit):
    own = visit.own_sides()
    seconds = min(SECONDS, visit.seconds)
    for variant in ("Cb", "C"):
        if variant not in own:
            visit.say(f"{sides.OWN[variant][0]}: left out, the bundle's fullwarp-serve cannot do it")
            continue
        name, options, _ = sides.OWN[variant]
        said = recorded(visit, name, variant, [visit.serve, "bench", str(visit.model), str(visit.images), "--format", "json", "--quiet",
                                               "--warmup", "1", "--seconds", str(seconds), "--repeats", "1", *visit.own_options, *options])
        try:
            visit.results.put_one(f"{name}, recorded: rate", "img/s", json.loads(said)["runs"][0]["images_s"])
        except (ValueError, LookupError):
            visit.say(f"{name}: no result: {said[-200:]}")
        visit.results.keep()


def part_loops(visit):
    for variant in LOOPS:
        command = [visit.python, "-B", str(sides.HERE / "torch_loops.py"), variant, str(visit.images), str(visit.model),
                   *visit.torch_options]
        said = recorded(visit, sides.TORCH[variant], variant.replace("+", "half"), command, f"run {min(SECONDS, visit.seconds)}\n")
        run = [json.loads(line) for line in said.splitlines() if '"images"' in line]
        if run:
            visit.results.put_one(f"{sides.TORCH[variant]}, recorded: rate", "img/s", run[0]["images"] / run[0]["seconds"], True)
