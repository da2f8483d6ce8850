#!/usr/bin/env python3
"""result.py WORK tune.json: what run.sh left in WORK as a table and as a result file. result.py --winner|--default LIVE.json,
--peer PEER.json: a configuration as gpu_tune_brute takes it; nothing where there is none."""
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

PARTS = ("conv2d", "gemm", "hotspot", "nbody", "pnpoly", "reduction", "transpose")
CLAIM = 0.02  # a winner run again is within that of its claim


def read(path):
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8").strip()
        return json.loads(text) if text.startswith("{") else None
    except (OSError, ValueError):
        return None


def one_line(config):
    return ",".join(f"{name}={value}" for name, value in config.items())


def print_config(kind, path):
    got = read(path) or {}
    got = got if kind == "peer" else got.get(kind) or {}
    if got.get("config"):
        print(one_line(got["config"]))


def row(name, unit, runs, peer=False):
    return {"name": name, "unit": unit, "runs": runs, "median": statistics.median(runs), "min": min(runs),
            "max": max(runs), "peer": peer}


def target(name, op, limit, measured, why):
    met = measured >= limit if op == ">=" else measured <= limit
    return {"name": name, "op": op, "target": limit, "measured": measured, "met": met, "why": "" if met else why}


def read_cache(path):
    """Median seconds of each configuration; None: it failed."""
    times = {}
    if not path.exists():
        return times
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "config" in entry:
            samples = entry.get("samples_s")
            times[one_line(entry["config"])] = statistics.median(samples) if samples else None
    return times


class Result:
    def __init__(self, work):
        self.work, self.rows, self.targets, self.lines = pathlib.Path(work), [], [], []

    def get(self, name):
        return read(self.work / name)

    def add(self, *args, **named):
        self.rows.append(row(*args, **named))

    def say(self, text):
        self.lines.append(text)

    def checks(self):
        for name in ("check", "faults"):
            got = self.get(f"{name}.json")
            if not got:
                self.say(f"{name}: not run")
                continue
            self.add(f"{got['check']}: cases", "count", [got["cases"]])
            self.add(f"{got['check']}: different", "count", [got["different"]])
            self.say(f"{got['check']}: {got['different']} of {got['cases']} differ")
        got = self.get("faults-tune.json")
        if got and got.get("winner"):
            self.add("planted faults: the search goes on and chooses FAULT=0", "count",
                     [int(got["winner"]["config"]["FAULT"] == "0")])
            self.say(f"fullwarp tune on the planted faults chooses {one_line(got['winner']['config'])}; {got['statuses']}")

    def kinds(self):
        for name, what in (("kinds", "clusters and carve-outs"), ("simple", "vector_add, --n")):
            got = self.get(f"{name}.json")
            if not got or not got.get("winner"):
                self.say(f"{name}: not run")
                continue
            self.add(f"{what}: configurations", "count", [got["evaluated"]])
            self.add(f"{what}: right", "count", [got["statuses"].get("ok", 0)])
            self.say(f"{what}: {got['statuses']}, winner {one_line(got['winner']['config'])} {got['winner']['median_s'] * 1e6:.2f} us")

    def brute(self):
        self.say("")
        self.say("space         valid  done  failed   conf/s  wall s  compile s  GPU s   best us  default us")
        for name in PARTS:
            got = self.get(f"brute-{name}.json")
            if not got:
                self.say(f"{name:12} not run")
                continue
            self.add(f"{name}: brute force, configurations per second", "1/s", [got["rate"]])
            self.add(f"{name}: brute force, configurations", "count", [got["done"]])
            self.add(f"{name}: brute force, failed", "count", [got["done"] - got["ok"]])
            if got["best_s"] > 0:
                self.add(f"{name}: best of all", "us", [got["best_s"] * 1e6])
            self.say(f"{name:12} {got['valid']:6} {got['done']:5} {got['done'] - got['ok']:7} {got['rate']:8.1f} "
                     f"{got['wall_s']:7.1f} {got['compile_s']:10.1f} {got['gpu_s']:6.1f} {got['best_s'] * 1e6:9.1f} "
                     f"{got['default_s'] * 1e6:11.1f}")

    def live(self):
        self.say("")
        self.say("live          evaluated  wall s  default us  winner us   gain  occupancy default winner  share of best known")
        shares = []
        for name in PARTS:
            got, times = self.get(f"live-{name}.json"), read_cache(self.work / f"brute-{name}.jsonl")
            if not got or not got.get("winner"):
                self.say(f"{name:12} not run")
                continue
            winner, preset = got["winner"], got.get("default") or {}
            wall = (self.get(f"live-{name}.wall") or {}).get("wall_s", 0)
            known = [t for t in times.values() if t]
            here = times.get(one_line(winner["config"]))
            share = min(known) / here if known and here else None
            if share:
                shares.append(share)
                self.add(f"{name}: live, share of the best known", "ratio", [share])
            self.add(f"{name}: live, winner", "us", [winner["median_s"] * 1e6])
            self.add(f"{name}: live, occupancy of the winner", "ratio", [winner["occupancy"]])
            if preset.get("median_s"):
                self.add(f"{name}: live, default", "us", [preset["median_s"] * 1e6])
                self.add(f"{name}: live, occupancy of the default", "ratio", [preset["occupancy"]])
            if wall:
                self.add(f"{name}: live, wall time of the command", "s", [wall])
            slow = preset.get("median_s") or 0
            self.say(f"{name:12} {got['evaluated']:10} {wall:7.1f} {slow * 1e6:11.1f} {winner['median_s'] * 1e6:10.1f} "
                     f"{slow / winner['median_s']:6.2f} {preset.get('occupancy', 0):17.2f} {winner['occupancy']:6.2f}  "
                     f"{f'{share:.3f}' if share else 'not in the caches'}  {one_line(winner['config'])}")
        if shares:
            self.say(f"median share of the best known: {statistics.median(shares):.4f}, worst {min(shares):.4f}")

    def rerun(self):
        self.say("")
        worst = []
        for name in PARTS:
            got, live = self.get(f"rerun-{name}.json"), self.get(f"live-{name}.json")
            if not got or not got.get("runs") or not live:
                self.say(f"rerun {name}: not run")
                continue
            claim = live["winner"]["median_s"]
            runs = [r for r in got["runs"][0]["runs_s"] if r > 0]
            if not runs:
                self.say(f"rerun {name}: failed")
                continue
            off = [r / claim - 1 for r in runs]
            worst.append(max(map(abs, off)))
            self.add(f"{name}: winner run again / claim", "ratio", [r / claim for r in runs])
            if len(got["runs"]) > 1:
                defaults = [r * 1e6 for r in got["runs"][1]["runs_s"] if r > 0]
                if defaults:
                    self.add(f"{name}: default run again", "us", defaults)
            self.say(f"rerun {name:10} claim {claim * 1e6:9.2f} us, {len(runs)} fresh processes: "
                     f"{100 * min(off):+.2f} to {100 * max(off):+.2f} %, median {100 * statistics.median(off):+.2f} %"
                     f"{'' if worst[-1] <= CLAIM else '  MORE THAN 2 %'}")
        if worst:
            self.say(f"the furthest from its claim: {100 * max(worst):.2f} %")

    def peer(self):
        self.say("")
        ratios = []
        for name in PARTS:
            peer, own = self.get(f"peer-{name}.json"), self.get(f"own-{name}.json")
            wall = (self.get(f"own-{name}.wall") or {}).get("wall_s")
            if not peer or not own or not wall:
                continue
            rate = own["evaluated"] / wall
            ratios.append(rate / peer["rate"])
            self.add(f"{name}: {peer['peer']}, configurations per second", "1/s", [peer["rate"]], peer=True)
            self.add(f"{name}: fullwarp tune, configurations per second", "1/s", [rate])
            search = own["evaluated"] / own["search_s"]
            self.add(f"{name}: fullwarp tune, the search alone, configurations per second", "1/s", [search])
            self.say(f"peer {name:10} budget {peer['budget']}: {peer['peer']} {peer['rate']:.2f}/s ({peer['wall_s']:.1f} s, "
                     f"{peer['failed']} failed), fullwarp {rate:.2f}/s from start to end ({wall:.1f} s, outputs checked, "
                     f"race, confirmation): x{ratios[-1]:.1f}; its search alone {search:.1f}/s")
            found = {}
            for who, config in (("live", (self.get(f"live-{name}.json") or {}).get("winner")),
                                ("own random", own.get("winner")), ("peer", peer)):
                if config:
                    found[one_line(config["config"])] = who
            for run in (self.get(f"again-{name}.json") or {}).get("runs", []):
                times, who = [t * 1e6 for t in run["runs_s"] if t > 0], found.get(run["config"])
                if times and who:
                    self.add(f"{name}: best of {who}, measured alike", "us", times, peer=who == "peer")
                    self.say(f"     {name:10} best of {who:10} {statistics.median(times):9.2f} us  {run['config']}")
        if ratios:
            self.targets.append(target("tune_rate_vs_kernel_tuner", ">=", 2.0, min(ratios),
                                       "the smallest ratio of the spaces compared, from the command's start to its end"))
            self.say(f"configurations per second against Kernel Tuner: x{min(ratios):.1f} to x{max(ratios):.1f}")


def smi(field):
    try:
        out = subprocess.run(["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader", "--id=0"],
                             capture_output=True, text=True, check=True).stdout
        return out.strip()
    except (OSError, subprocess.CalledProcessError):
        return "none"


def main():
    if sys.argv[1].startswith("--"):
        print_config(sys.argv[1][2:], sys.argv[2])
        return
    result = Result(sys.argv[1])
    for part in (result.checks, result.kinds, result.brute, result.live, result.rerun, result.peer):
        part()
    print("\n".join(result.lines))
    pathlib.Path(sys.argv[2]).write_text(json.dumps({
        "schema": 1, "what": "tune", "machine": platform.machine(), "gpu": smi("name"), "driver": smi("driver_version"),
        "versions": {}, "commit": os.environ.get("COMMIT", "unknown"), "date": datetime.date.today().isoformat(),
        "rows": result.rows, "targets": result.targets}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
