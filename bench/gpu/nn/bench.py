#!/usr/bin/env python3
"""bench.py BUNDLE OUT WORK PART...: times the cudnn engine beside PyTorch on the GPU that is here; see run.sh."""
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "nn"), str(ROOT / "tests" / "gpu" / "nn")]
from child import Engine  # noqa: E402
from make_model import make  # noqa: E402

ROUNDS = int(os.environ.get("FW_NN_ROUNDS", "7"))
# Of one measurement; the launches follow from what the first round took.
SPAN_MS = 80.0
PLAN = {
    "resnet50": {"batches": [1, 8, 64, 256], "peers": {"eager": [1, 8, 64, 256], "default": [1, 64],
                                                       "reduce-overhead": [1, 64], "freezing": [1, 8, 64, 256]}},
    "mobilenet_v2": {"batches": [1, 64], "peers": {"eager": [1, 64], "default": [64], "reduce-overhead": [64],
                                                   "freezing": [1, 64]}},
}
# Of `fullwarp top`.
UNITS = {"sm_busy_percent": "%", "warp_slots_percent": "%", "tensor_percent": "%", "dram_percent": "%", "sm_clock_mhz": "MHz",
         "power_watts": "W"}
rows, notes = [], {}


class Torch(Engine):
    """A PyTorch mode in a process of its own; compiling goes on while others compile."""

    def __init__(self, network, mode, batches, log):
        self.child = subprocess.Popen([sys.executable, "-B", str(HERE / "torch_child.py"), network, mode,
                                       ",".join(map(str, batches))], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=log, text=True)


def row(name, unit, runs, peer):
    rows.append({"name": name, "unit": unit, "runs": runs, "median": statistics.median(runs), "min": min(runs),
                 "max": max(runs), "peer": peer})


def model_path(work, network):
    path = work / f"{network}.onnx"
    if not path.exists():
        make(network, path, batch="batch_size")
    return path


def start_own(bundle, work, network, batches, log, *options):
    return Engine(str(bundle / "gpu_nn"), str(model_path(work, network)), "--precision", "fp16", "--batches",
                  ",".join(map(str, batches)), *options, log=log)


def layer_groups(own, network, batch):
    """Measured time of the layers by kind and by size of the map, beside their roofline on an H200 (a model)."""
    groups = {}
    for layer in own.ask(f"layers {batch} H200")["layers"]:
        kind = layer["kind"]
        if kind == "conv":
            kind = "depthwise" if layer["groups"] > 1 and layer["groups"] == layer["k"] else \
                f"conv {layer['window']}x{layer['window']}"
        group = groups.setdefault((kind, layer["h"]), [0, 0.0, 0.0, True])
        group[0] += 1
        group[1] += layer["us"]
        group[2] += layer["roofline_us"]
        group[3] = group[3] and layer["us"] >= 0
    table = [{"kind": k, "map": h, "layers": g[0], "us": g[1] if g[3] else None, "roofline_us": g[2],
              "share": g[2] / g[1] if g[3] else None} for (k, h), g in groups.items()]
    notes[f"{network} batch {batch}: layers"] = table
    for t in table:
        if t["us"] is not None:
            print(f"{network} batch {batch:3d} {t['kind']:10s} map {t['map']:3d} x{t['layers']:2d} {t['us']:9.1f} us, roofline "
                  f"{t['roofline_us']:9.1f} us, {100 * t['share']:.0f} %", flush=True)


def part_network(bundle, out, work, network, modes=None):
    plan = PLAN[network]
    log = open(out / f"{network}.log", "w")
    peers = {m: b for m, b in plan["peers"].items() if modes is None or m in modes}
    children = {m: Torch(network, m, b, log) for m, b in peers.items()}
    model_path(work, network)
    for mode in list(children):
        try:
            children[mode].ready = children[mode].answer()
            for batch, s in children[mode].ready["first_s"].items():
                row(f"{network} fp16 batch {batch}: first call, PyTorch {mode}", "s", [s], True)
        except Exception as e:
            print(f"{network}: PyTorch {mode} left out: {e}", flush=True)
            del children[mode]
    cache = work / f"cache-{network}"
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir()
    own = start_own(bundle, work, network, plan["batches"], log, "--autotune", "6", "--cache", str(cache))
    notes[f"{network} ready, every batch size, autotuned"] = own.ready
    turns = [("ours", own, plan["batches"], False)]
    turns += [(f"PyTorch {m}", c, peers[m], True) for m, c in children.items()]
    for batch in plan["batches"]:
        layer_groups(own, network, batch)
    runs, launches = {}, {}
    for number in range(ROUNDS + 1):
        for batch in plan["batches"]:
            for name, child, batches, _ in turns:
                if batch not in batches:
                    continue
                key = (name, batch)
                ms = child.ask(f"time {batch} {launches.get(key, 10)}")["ms"]
                launches[key] = max(5, int(SPAN_MS / ms))
                if number:  # the first round only says how many launches are needed
                    runs.setdefault(key, []).append(ms)
    for name, child, batches, peer in turns:
        for batch in batches:
            ms = runs[name, batch]
            row(f"{network} fp16 batch {batch}: {name}", "ms", ms, peer)
            row(f"{network} fp16 batch {batch}: {name}, rate", "img/s", [batch * 1e3 / m for m in ms], peer)
        child.close()
    for f in cache.iterdir():
        shutil.copy(f, out / f"{network}-{f.name}")


def part_load(bundle, out, work):
    """Load to ready: cold (no cache of ours; the files are in the page cache) and with the cache. Batches 1, 8, 64."""
    log = open(out / "load.log", "w")
    cache = work / "cache-load"
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir()
    runs = {"cold": [], "cached": []}
    for kind, count in (("cold", 2), ("cached", 3)):
        for _ in range(count):
            if kind == "cold":
                for f in cache.iterdir():
                    f.unlink()
            start = time.time()
            engine = start_own(bundle, work, "resnet50", [1, 8, 64], log, "--cache", str(cache), "--autotune", "2")
            runs[kind].append(time.time() - start)
            notes[f"resnet50 {kind}"] = engine.ready
            engine.close()
    for kind in runs:
        row(f"resnet50 fp16, load to ready, {kind}, batches 1, 8 and 64", "s", runs[kind], False)


def part_variants(bundle, out, work):
    """What single decisions are worth, ResNet-50 at batch 1 and 64."""
    log = open(out / "variants.log", "w")
    for name, options in {"heuristics only": ["--autotune", "0"], "no CUDA graph": ["--no-graph"],
                          "not fused": ["--no-fuse"],
                          "input padded to 8 channels": ["--pad", "8"], "bf16": ["--precision", "bf16"]}.items():
        try:
            engine = start_own(bundle, work, "resnet50", [1, 64], log, *options)
            for batch, launches in ((1, 200), (64, 40)):
                row(f"resnet50 batch {batch}: ours, {name}", "ms",
                    [engine.ask(f"time {batch} {launches}")["ms"] for _ in range(5)], False)
            for batch, launches in ((1, 400), (8, 200), (64, 80)) if name == "bf16" else ():
                if batch != 8:
                    row(f"resnet50 bf16 batch {batch}: two instances in turn", "ms",
                        [engine.ask(f"twice {batch} {launches}")["ms"] for _ in range(5)], False)
            engine.close()
        except Exception as e:
            print(f"variant {name}: {e}", flush=True)


def part_counters(bundle, out, work):
    """What `fullwarp top` sees of the GPU from another process while ResNet-50 runs: at batch 64 and 1, by one instance and by
    two of the same network on two streams, whose launches alternate."""
    log = open(out / "counters.log", "w")
    env = {**os.environ, "LD_LIBRARY_PATH": f"{bundle}/lib:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    engine = start_own(bundle, work, "resnet50", [1, 64], log, "--autotune", "4")
    for batch, ask, how in ((64, "time", ""), (64, "twice", ", two instances"), (1, "time", ""), (1, "twice", ", two instances")):
        ms = engine.ask(f"{ask} {batch} 20")["ms"]
        engine.child.stdin.write(f"{ask} {batch} {int(7000 / ms)}\n")
        engine.child.stdin.flush()
        time.sleep(0.5)
        top = subprocess.run([str(bundle / "fullwarp"), "top", "--once", "--interval", "3", "--format", "json"],
                             capture_output=True, text=True, env=env)
        rate = batch * 1e3 / engine.answer()["ms"]
        if top.returncode:
            print(f"counters: {top.stderr}", flush=True)
            continue
        (out / f"top-batch{batch}-{ask}.json").write_text(top.stdout)
        values = json.loads(top.stdout)["gpus"][0]["values"]
        row(f"resnet50 fp16 batch {batch}, resident{how}: rate while watched", "img/s", [rate], False)
        for name in UNITS:
            if values[name]["value"] is not None:
                row(f"resnet50 fp16 batch {batch}, resident{how}: {name}", UNITS[name], [values[name]["value"]], False)
    engine.close()


def part_record(bundle, out, work):
    """A recording of a run without CUDA graphs, in which every kernel has its name, and its report."""
    env = {**os.environ, "LD_LIBRARY_PATH": f"{bundle}/lib:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    folder = work / "recording"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([str(bundle / "fullwarp"), "record", "-o", str(folder), "--", str(bundle / "gpu_nn"),
                    str(model_path(work, "resnet50")), "--batches", "64,1", "--no-graph", "--autotune", "0"],
                   input="time 64 60\ntime 1 300\n", text=True, env=env, check=True, stdout=subprocess.DEVNULL)
    report = subprocess.run([str(bundle / "fullwarp"), "report", str(folder)], capture_output=True, text=True, env=env)
    (out / "report.txt").write_text(report.stdout + report.stderr)
    print(report.stdout, flush=True)


def median(name):
    found = [r["median"] for r in rows if r["name"] == name]
    return found[0] if found else None


def targets():
    made = []

    def target(name, op, bound, measured, why):
        if measured is None:
            return
        met = measured >= bound if op == ">=" else measured <= bound
        made.append({"name": name, "op": op, "target": bound, "measured": measured, "met": met, "why": "" if met else why})

    peers = [r["median"] for r in rows if r["peer"] and r["name"].startswith("resnet50 fp16 batch 64:") and r["unit"] == "img/s"]
    rate = median("resnet50 fp16 batch 64: ours, rate")
    target("resnet50_fp16_bs64_img_s", ">=", 33000, rate, "see the notes of docs/nn-engines.md")
    target("resnet50_fp16_bs1_ms", "<=", 0.42, median("resnet50 fp16 batch 1: ours"), "see the notes of docs/nn-engines.md")
    if rate and peers:
        target("resnet50_vs_best_torch_bs64", ">=", 1.0, rate / max(peers), "see the notes of docs/nn-engines.md")
    peers = [r["median"] for r in rows if r["peer"] and r["name"].startswith("mobilenet_v2 fp16 batch 64:") and r["unit"] == "img/s"]
    rate = median("mobilenet_v2 fp16 batch 64: ours, rate")
    if peers:
        target("mobilenetv2_fp16_bs64_img_s", ">=", max(peers), rate, "see the notes of docs/nn-engines.md")
    busy = {how: median(f"resnet50 fp16 batch 64, resident{how}: sm_busy_percent") for how in ("", ", two instances")}
    if None not in busy.values():
        target("sm_busy_percent_resident", ">=", 85, max(busy.values()),
               f"batch 64; one instance {busy['']:.2f} %, two {busy[', two instances']:.2f} %")
    return made


def write(out):
    try:
        smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                             capture_output=True, text=True).stdout.strip().split(", ")
    except OSError:
        smi = ["none"]
    try:
        import torch
        versions = {"torch": torch.__version__, "cudnn": str(torch.backends.cudnn.version())}
    except ImportError:
        versions = {}
    result = {"schema": 1, "what": "nn", "machine": f"{os.cpu_count()} CPUs", "gpu": smi[0] or "none",
              "driver": smi[1] if len(smi) > 1 else "none", "versions": versions,
              "commit": os.environ.get("FW_COMMIT", "unknown"), "date": datetime.date.today().isoformat(), "rows": rows,
              "targets": targets()}
    (out / "nn.json").write_text(json.dumps(result, indent=1) + "\n")
    (out / "nn-notes.json").write_text(json.dumps(notes, indent=1) + "\n")


def main():
    bundle, out, work = (pathlib.Path(a) for a in sys.argv[1:4])
    for part in sys.argv[4:]:
        start = time.time()
        try:
            if part in PLAN:
                part_network(bundle, out, work, part)
            elif part.endswith(":max-autotune"):
                part_network(bundle, out, work, part.split(":")[0], ["max-autotune"])
            elif part.endswith(":alone"):
                part_network(bundle, out, work, part.split(":")[0], [])
            else:
                {"load": part_load, "variants": part_variants, "counters": part_counters,
                 "record": part_record}[part](bundle, out, work)
        except Exception as e:
            print(f"part {part} failed: {e!r}", flush=True)
        print(f"part {part}: {time.time() - start:.0f} s", flush=True)
        write(out)
    for r in rows:
        print(f"{r['name']:66s} {r['median']:12.4g} {r['unit']:6s} {r['min']:.4g} to {r['max']:.4g}")
    for name, value in notes.items():
        if not name.endswith("layers"):
            print(name, value)
    for t in targets():
        print(f"{t['name']:40s} {t['op']} {t['target']:<12g} {t['measured']:.5g} {'met' if t['met'] else 'MISSED'}")


main()
