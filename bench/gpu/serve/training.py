"""Parts 'train', 'train-kernels', 'train-max-autotune': ResNet-50 in training, eager and compiled: steps, SMs busy, and the
achieved occupancy of the convolutions, which is what is said to rise."""
import csv
import glob
import json
import os
import re
import shutil
import statistics
import time

import sides

SECONDS, REPEATS = 3, 3
NCU_PLACES = ("/opt/nvidia/nsight-compute/*/ncu", "/usr/local/cuda*/bin/ncu")
OCCUPANCY, DURATION = "sm__warps_active.avg.pct_of_peak_sustained_active", "gpu__time_duration.sum"
CONVOLUTION = "conv|fprop|dgrad|wgrad|xmma|scudnn|winograd|cutlass|gemm|sm90_|sm80_"


class Trainer(sides.Child):
    """A mode in a process of its own; all compile at the same time, then take turns."""

    def __init__(self, visit, precision, mode):
        super().__init__(visit, f"training, {precision}, {mode}", f"train-{precision}-{mode}.log", command(visit, precision, mode),
                         visit.torch_env)


def command(visit, precision, mode):
    small = ["--device", "cpu", "--small", "--batch", "2"] if visit.dry else []
    return [visit.python, "-B", str(sides.HERE / "train_loop.py"), precision, mode, *small]


def note(visit, trainer, said, found):
    name = f"{trainer.name}: "
    visit.results.add(name + "step", "ms", said["seconds_per_step"] * 1e3, True)
    for key, unit in (("SM busy", "%"), ("warp slots", "%"), ("tensor pipes", "%"), ("GPU-Util", "%")):
        visit.results.add(name + key, unit, found.get(key), True)
    if found.get("SM busy") and found.get("warp slots") is not None:
        visit.results.add(name + "achieved occupancy, all kernels", "%", 100 * found["warp slots"] / found["SM busy"], True)
    visit.results.keep()
    visit.say(f"{trainer.name}: {said['seconds_per_step'] * 1e3:.2f} ms a step, {found}")


def measure(visit, wanted):
    trainers = [Trainer(visit, *each) for each in wanted]
    seconds = min(SECONDS, visit.seconds)
    try:
        for trainer in list(trainers):
            try:
                visit.results.add(f"{trainer.name}: first step", "s", trainer.answer()["first_s"], True)
                visit.say(f"{trainer.name}: ready")
            except (RuntimeError, ValueError) as error:
                visit.say(str(error))
                trainers.remove(trainer)
        for _ in range(REPEATS):
            for trainer in trainers:
                note(visit, trainer, *trainer.watched(seconds, str(seconds)))
    finally:
        for trainer in trainers:
            trainer.close()


def wanted_precisions(default):
    return os.environ.get("FW_SERVE_TRAIN", default).split(",")


def part(visit):
    measure(visit, [(p, m) for p in wanted_precisions("fp32,fp16") for m in ("eager", "default")])


def part_max_autotune(visit):
    measure(visit, [(p, "max-autotune") for p in wanted_precisions("fp32")])


def find_ncu():
    found = shutil.which("ncu") or next((p for place in NCU_PLACES for p in sorted(glob.glob(place), reverse=True)), None)
    if not found:
        raise RuntimeError("ncu was not found")
    return found


def read_kernels(text):
    """(name, microseconds, achieved occupancy) of each launch in ncu's table, of the convolutions alone."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise RuntimeError(f"no table from ncu: {text[-300:]}")
    launches = {}
    for line in csv.DictReader(lines[start:]):
        if re.search(CONVOLUTION, line["Kernel Name"], re.I):
            launches.setdefault(line["ID"], {"name": line["Kernel Name"]})[line["Metric Name"]] = line
    scale = {"nsecond": 1e-3, "ns": 1e-3, "usecond": 1, "us": 1, "msecond": 1e3, "ms": 1e3}
    for launch in launches.values():
        if OCCUPANCY in launch and DURATION in launch:
            value = {key: float(launch[key]["Metric Value"].replace(",", "")) for key in (OCCUPANCY, DURATION)}
            yield launch["name"], value[DURATION] * scale[launch[DURATION]["Metric Unit"]], value[OCCUPANCY]


def part_kernels(visit):
    """One step of each mode under ncu; 'train' has filled the compiler's cache."""
    for precision in wanted_precisions("fp32"):
        for mode in os.environ.get("FW_SERVE_TRAIN_MODES", "eager,default").split(","):
            began = time.monotonic()
            done = sides.finish([find_ncu(), "--profile-from-start", "off", "--clock-control", "none", "--csv", "--target-processes",
                                 "all", "--kernel-name", f"regex:{CONVOLUTION}", "--metrics", f"{OCCUPANCY},{DURATION}",
                                 *command(visit, precision, mode), "--profile"], 120, visit.torch_env)
            name = f"training, {precision}, {mode}: convolutions"
            (visit.logs / f"ncu-{precision}-{mode}.csv").write_text(done.stdout + done.stderr, encoding="utf-8")
            kernels = list(read_kernels(done.stdout))
            if not kernels:
                visit.say(f"{name}: none in ncu's table")
                continue
            total = sum(us for _, us, _ in kernels)
            visit.results.put_one(f"{name}, achieved occupancy by time, ncu", "%", sum(us * o for _, us, o in kernels) / total, True)
            visit.results.put_one(f"{name}, achieved occupancy, median launch, ncu", "%",
                                  statistics.median(o for _, _, o in kernels), True)
            visit.results.put_one(f"{name}, time in one step, ncu", "ms", total / 1e3, True)
            visit.results.keep()
            visit.say(f"{name}: {len(kernels)} launches, {time.monotonic() - began:.0f} s")
