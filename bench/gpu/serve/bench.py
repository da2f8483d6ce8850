#!/usr/bin/env python3
"""bench.py BUNDLE OUT WORK PART...: from JPEG files to labels, ours beside PyTorch; see run.sh."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "tests/nn")]
import sides  # noqa: E402
import story  # noqa: E402
import training  # noqa: E402
import watch  # noqa: E402
from results import Results  # noqa: E402

# Longest time of each part, in seconds.
LIMITS = {"plan": 450, "half": 90, "loads": 220, "steps": 240, "rss": 540, "max-autotune": 480, "story": 90, "story-loops": 150, "train": 160, "train-kernels": 150,
          "train-max-autotune": 200}
SIDES = ("A", "A8", "B", "B+", "B++", "C", "Cn", "Cb", "C0")
UNITS = {"cores": "cores", "memory": "bytes", "GPU-Util": "%", **{ours: unit for _, ours, unit in watch.COUNTERS}}
SHOWN = {"cores": "CPU", "memory": "host memory with its workers"}


class TooLong(Exception):
    pass


class Visit:
    """Where everything is, and how long a measurement takes."""

    def __init__(self, bundle, out, work):
        self.bundle, self.out, self.work = (pathlib.Path(p).resolve() for p in (bundle, out, work))
        self.fullwarp, self.serve = str(self.bundle / "bin/fullwarp"), str(self.bundle / "bin/fullwarp-serve")
        self.seconds = float(os.environ.get("FW_SERVE_SECONDS", "10"))
        self.repeats = int(os.environ.get("FW_SERVE_REPEATS", "3"))
        self.count = int(os.environ.get("FW_SERVE_IMAGES", "2000"))
        self.dry = os.environ.get("FW_SERVE_DRY") == "1"
        self.python = sys.executable
        shm = pathlib.Path("/dev/shm")
        self.images = (shm if shm.is_dir() else self.work) / f"fullwarp-jpeg-{self.count}"
        self.model = self.work / "resnet50.onnx"
        path = f"{self.bundle}/lib:{os.environ.get('LD_LIBRARY_PATH', '')}"
        self.env = {**os.environ, "LD_LIBRARY_PATH": path}
        cache = self.work / f"cache-{os.getpid()}"  # new: nothing of ours is cached before the first start
        cache.mkdir(exist_ok=True)
        self.logs = self.work / f"serve-logs-{os.getpid()}"  # they come back in one file
        self.logs.mkdir(exist_ok=True)
        self.torch_env = {**os.environ, "PYTHONUNBUFFERED": "1", "TORCHINDUCTOR_CACHE_DIR": str(self.work / "inductor")}
        # Without a GPU: only that everything runs.
        self.torch_options = ["--device", "cpu", "--small", "--batch", "4"] if self.dry else []
        self.own_options = ["--engine", "onednn", "--batch", "4"] if self.dry else ["--engine", "cudnn", "--cache", str(cache)]
        self.results = Results(self.out / "serve-h200.json")
        self.began = time.monotonic()

    def say(self, text):
        print(f"[{time.monotonic() - self.began:6.1f}] {text}", flush=True)

    def prepare(self):
        from make_model import make
        if not self.model.exists():
            options = {"width": 0.25, "image": 64} if self.dry else {}
            make("resnet50", self.model, batch="batch_size", **options)
        done = subprocess.run([self.python, "-B", str(HERE / "images.py"), str(self.images), str(self.count)],
                              capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
        if done.returncode:
            raise RuntimeError(f"images.py: {done.stderr.strip()[-300:]}")
        facts = json.loads(done.stdout)
        self.say(f"images: {facts}")
        self.results.add("JPEG files, mean size", "bytes", facts["mean_bytes"])

    def own_sides(self):
        """Those of ours that this bundle has."""
        if not os.access(self.serve, os.X_OK):
            return set()
        help_text = subprocess.run([self.serve, "bench", "--help"], capture_output=True, text=True, env=self.env).stdout
        return {variant for variant, (_, options, _) in sides.OWN.items()
                if "--seconds" in help_text and all(o.lower() in help_text.lower() for o in options)}


@contextlib.contextmanager
def limited(seconds):
    def ring(*_):
        raise TooLong(f"over {seconds} s")

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def note_start(visit, side, said):
    """What only the start shows."""
    for key, name, unit in (("ready_s", "ready" if side.is_peer else "ready, nothing cached", "s"),
                            ("first_s", "first batch" if side.is_peer else "first request", "s"),
                            ("later_s", "a later batch, alone", "s")):
        visit.results.add(f"{side.name}: {name}", unit, said.get(key), side.is_peer)
    visit.results.keep()


def note_run(visit, side, run):
    visit.results.add(f"{side.name}: rate", "img/s", run["rate"], side.is_peer)
    visit.results.add(f"{side.name}: ready, choices cached", "s", run.get("ready_cached_s"), side.is_peer)
    for key, unit in UNITS.items():
        visit.results.add(f"{side.name}: {SHOWN.get(key, key)}", unit, run.get(key), side.is_peer)
    visit.results.keep()
    visit.say(f"{side.name}: " + ", ".join(f"{k} {v:.4g}" for k, v in run.items() if v is not None))


def start(visit, variant, own):
    if variant in sides.TORCH:
        return sides.Torch(visit, variant)
    if variant in sides.RESIDENT and os.access(visit.bundle / "gpu_nn", os.X_OK):
        return sides.Resident(visit, variant)
    return sides.Own(visit, variant) if variant in own else None


def each(visit, taking, what):
    """Does something with each side; one that fails takes no further part."""
    for side in list(taking):
        try:
            what(side)
        except (RuntimeError, OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
            visit.say(f"{side.name}: left out from here on: {error}")
            taking.remove(side)
            side.close()


def in_turns(visit, wanted):
    """PyTorch's sides start all at once, since they compile for long; then all take turns."""
    own, taking = visit.own_sides(), []

    def begin(side):
        note_start(visit, side, side.wait_ready())
        visit.say(f"{side.name}: ready")

    try:
        for variant in wanted:
            side = start(visit, variant, own)
            if side:
                taking.append(side)
            else:
                visit.say(f"{variant}: left out, the bundle cannot do it")
        each(visit, taking, begin)
        for _ in range(visit.repeats):
            each(visit, taking, lambda side: note_run(visit, side, side.run(visit.seconds)))
        compare_labels(visit, taking)
    finally:
        for side in taking:
            side.close()


def compare_labels(visit, taking):
    """Our classes beside those of PyTorch's fp32 loop, of as many pictures as both saw."""
    reference = next((s for s in taking if s.name == sides.TORCH["A"]), None)
    if not reference:
        return
    wanted = reference.labels()
    for side in taking:
        if side is not reference and side.is_peer:
            note_agreement(visit, side.name, wanted, side.labels(), True)
    if not any(isinstance(s, sides.Own) for s in taking):
        return
    table = visit.work / "classes.jsonl"
    done = sides.finish([visit.serve, "classify", str(visit.model), str(visit.images), "--format", "jsonl", "--top", "1", "--quiet",
                         "-o", str(table), *visit.own_options], 60, visit.env)
    if done.returncode:
        visit.say(f"classes: {done.stderr.strip()[-200:]}")
        return
    rows = [json.loads(line) for line in table.read_text().splitlines()]
    note_agreement(visit, "C, CPU decode", wanted, {i: r["classes"][0]["id"] for i, r in enumerate(rows)}, False)


def note_agreement(visit, name, wanted, labels, is_peer):
    common = [i for i in wanted if i in labels]
    if common:
        visit.results.put_one(f"{name}: class as PyTorch's fp32 loop has it, of {len(common)} pictures", "share",
                              sum(wanted[i] == labels[i] for i in common) / len(common), is_peer)


def part_plan(visit):
    in_turns(visit, os.environ.get("FW_SERVE_SIDES", ",".join(SIDES)).split(","))


def part_half(visit):
    """Open loops at half of the rate that was measured; where it was not, of a closed loop's before it."""
    for variant in sorted(visit.own_sides() & {"C", "Cn"}):
        side = sides.Own(visit, variant)
        rate = visit.results.median(f"{side.name}: rate")
        load = ["--rate", f"{rate / 2:.0f}"] if rate else ["--load", "50"]
        result, _ = side.bench(visit.seconds / 2, *load, repeats=visit.repeats)
        for repeat in result["runs"][-1]["repeats"]:
            for quantile in ("p50", "p99", "p99.9"):
                visit.results.add(f"{side.name}: {quantile} at half load", "ms", repeat[f"{quantile}_ms"])
            visit.results.add(f"{side.name}: rate at half load", "img/s", repeat["images_s"])
            visit.results.add(f"{side.name}: refused at half load", "count", repeat["refused"])


def part_loads(visit):
    """The most, then open loops at 10, 50 and 80 % of it: what latency is at which load."""
    for variant in sorted(visit.own_sides() & {"C", "Cn"}):
        side = sides.Own(visit, variant)
        result, _ = side.bench(visit.seconds / 2, "--load", "10,50,80", repeats=visit.repeats, loads=4)
        closed, *loads = result["runs"]
        for repeat in closed["repeats"]:
            visit.results.add(f"{side.name}: rate before the loads", "img/s", repeat["images_s"])
        for run in loads:
            name = f"{side.name}: at {run['load_percent']:g} % load"
            for repeat in run["repeats"]:
                for quantile in ("p50", "p90", "p99", "p99.9", "max"):
                    visit.results.add(f"{name}: {quantile}", "ms", repeat[f"{quantile}_ms"])
                visit.results.add(f"{name}: refused", "count", repeat["refused"])
            visit.results.add(f"{name}: sent late by, p99", "ms", run["sent_late_ms"]["p99"])
            visit.results.add(f"{name}: CPU", "cores", run["cpu_cores"])
        visit.results.keep()


def part_rss(visit):
    """Eight minutes at half load; FW_SERVE_RSS_SECONDS shortens it."""
    side = sides.Own(visit, "C")
    seconds = float(os.environ.get("FW_SERVE_RSS_SECONDS", "480"))
    rate = visit.results.median(f"{side.name}: rate")
    load = ["--rate", f"{rate / 2:.0f}"] if rate else ["--load", "50"]
    result, _ = side.bench(seconds, *load, "--rss", str(visit.out / "serve-rss.csv"))
    slope = result["runs"][-1].get("rss_slope_bytes_per_minute")
    visit.results.add(f"{side.name}: slope of the resident memory", "bytes/s", None if slope is None else slope / 60)
    visit.results.add(f"{side.name}: resident memory at most", "bytes", result["runs"][-1].get("rss_max_bytes"))


def part_steps(visit):
    """The remedies of the pipeline, from none on, one at a time."""
    side = sides.Own(visit, "C")
    result, _ = side.bench(visit.seconds / 4, "--steps", repeats=visit.repeats, loads=9)
    for step in result["steps"]:
        name = f"steps: {step['step']}"
        if step["left_out"]:
            visit.say(f"{name}: left out: {step['left_out']}")
            continue
        run = step["runs"][0]
        for repeat in run["repeats"]:
            visit.results.add(f"{name}: rate", "img/s", repeat["images_s"])
        for counter, ours, unit in (*watch.COUNTERS, ("busy_percent", "GPU-Util", "%")):
            if not watch.visible_gpu():  # it looks at the first of NVML's GPUs
                visit.results.add(f"{name}: {ours}", unit, run.get("gpu", {}).get(counter, {}).get("value"))


PARTS = {"plan": part_plan, "loads": part_loads, "steps": part_steps, "half": part_half, "rss": part_rss, "max-autotune": lambda visit: in_turns(visit, ["B+max"]),
         "story": story.part, "story-loops": story.part_loops, "train": training.part, "train-kernels": training.part_kernels,
         "train-max-autotune": training.part_max_autotune}


def main():
    visit = Visit(*sys.argv[1:4])
    visit.prepare()
    for name in sys.argv[4:]:
        began = time.monotonic()
        try:
            with limited(float(os.environ.get("FW_SERVE_LIMIT", LIMITS[name]))):
                PARTS[name](visit)
        except (TooLong, RuntimeError, OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
            visit.say(f"part {name} ended early: {error!r}")
        visit.results.keep()
        shutil.make_archive(str(visit.out / "serve-logs"), "gztar", visit.logs)
        visit.say(f"part {name}: {time.monotonic() - began:.0f} s")
    visit.results.table()


if __name__ == "__main__":
    main()
