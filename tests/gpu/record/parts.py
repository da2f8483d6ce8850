#!/usr/bin/env python3
"""parts.py BUNDLE OUT PART...: runs parts of the measurements on a GPU, each in a process of its own with a time limit,
and keeps what every part found in OUT/record.json. `run.sh` starts it."""
import argparse
import importlib
import importlib.metadata
import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent.parent / "bench/record")]
from host import Host, Results, count_gpus  # noqa: E402

# module, function, most seconds it may take
PARTS = {"smoke": ("smoke", "run", 60), "truth": ("truth", "run", 200), "counters": ("counters", "run", 150),
         "overhead": ("overhead", "run", 290), "kills": ("kills", "run", 150), "ddp": ("ddp", "run", 160),
         "breaks": ("shim", "run", 190), "examples": ("examples", "run", 400), "growth": ("examples", "run_growth", 200),
         "variants": ("variants", "run", 280), "selfprofile": ("selfprofile", "run", 60),
         "launch": ("launch", "run", 110), "soak": ("soak", "run", 640)}


def versions():
    found = {}
    for name in ("torch", "torchvision", "nvidia-cuda-cupti"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def run_one(args, part):
    """In the part's own process."""
    module, function, _ = PARTS[part]
    host = Host(args.bundle, args.out, args.gpu, args.gpus)
    path = host.work / f"{part}.json"
    try:
        result = getattr(importlib.import_module(module), function)(host)
    except Exception:  # whatever it is, the other parts go on and the reason comes back
        traceback.print_exc()
        result = {"error": traceback.format_exc()[-2000:]}
    path.write_text(json.dumps(result), encoding="utf-8")


def start(args, part, gpu, gpus, work):
    groups = work / f"{part}.groups"
    for old in (groups, work / f"{part}.json"):
        old.unlink(missing_ok=True)
    command = [sys.executable, "-B", __file__, args.bundle, args.out, part, "--one", "--gpu", str(gpu), "--gpus", str(gpus)]
    child = subprocess.Popen(command, env={**os.environ, "FW_GROUPS": str(groups)}, start_new_session=True)
    return part, child, groups, time.monotonic()


def end_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def finish(running, work, results):
    part, child, groups, began = running
    limit = PARTS[part][2]
    try:
        child.wait(max(began + limit - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired:
        print(f"{part}: stopped after {limit} s", flush=True)
        end_group(child.pid)
        child.wait()
    for line in groups.read_text().split() if groups.exists() else ():
        end_group(int(line))
    try:
        result = json.loads((work / f"{part}.json").read_text())
    except (OSError, ValueError):
        result = {"error": f"nothing came back within {limit} s"}
    took = time.monotonic() - began
    results.keep(part, {**result, "took_s": round(took, 1)})
    print(f"=== {part}: {took:.0f} s{': ' + result['error'][-300:] if 'error' in result else ''}", flush=True)


def pack_reports(work, out):
    reports = work / "reports"
    if reports.is_dir():
        with tarfile.open(out / "reports.tar.gz", "w:gz") as tar:
            tar.add(reports, "reports")


def print_table(results):
    import convert
    rows = convert.all_rows(results.data)
    print(f"{'row':90} {'median':>12} {'min':>12} {'max':>12}  unit")
    for row in rows:
        print(f"{row['name'][:90]:90} {row['median']:12.4g} {row['min']:12.4g} {row['max']:12.4g}  {row['unit']}"
              f" (n={len(row['runs'])})")
    for target in convert.all_targets(results.data):
        print(f"target {target['name']}: {target['measured']} {target['op']} {target['target']}:"
              f" {'met' if target['met'] else 'MISSED: ' + target['why']}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle")
    parser.add_argument("out")
    parser.add_argument("parts", nargs="+", choices=sorted(PARTS))
    parser.add_argument("--one", action="store_true")
    parser.add_argument("--gpu", type=int, default=0)
    parser.add_argument("--gpus", type=int, default=0)
    args = parser.parse_args()
    if args.one:
        run_one(args, args.parts[0])
        return 0
    gpus = args.gpus or count_gpus()
    host = Host(args.bundle, args.out, 0, gpus)
    facts = {**host.gpu_facts(), "gpus": gpus, "cores": len(host.all_cores), "commit": os.environ.get("FW_COMMIT", ""),
             "date": time.strftime("%Y-%m-%d"), "versions": versions()}
    results = Results(host.out / "record.json", facts)
    print(facts, flush=True)
    # With a second GPU the soak runs there, on its cores, while the other parts run on the first.
    aside = start(args, "soak", gpus - 1, gpus, host.work) if "soak" in args.parts and gpus > 1 else None
    for part in args.parts:
        if not (aside and part == "soak"):
            finish(start(args, part, 0, gpus, host.work), host.work, results)
            pack_reports(host.work, host.out)
    if aside:
        finish(aside, host.work, results)
    print_table(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
