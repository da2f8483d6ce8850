#!/usr/bin/env python3
"""Builds and runs examples/occupancy on this GPU: time and occupancy of every variant, predicted and measured.

usage: occupancy_examples.py --fullwarp PATH --out RESULT.json [--commit HASH] [--arch sm_90]

Needs nvcc and ncu. Time comes from events in runs without a profiler; the measured occupancy
(sm__warps_active.avg.pct_of_peak_sustained_active) from one further run of each variant under ncu, clocks untouched."""
import argparse, csv, datetime, io, json, pathlib, platform, statistics, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ["block_size", "launch_bounds", "shared_buffer", "two_blocks", "latency"]
METRIC = "sm__warps_active.avg.pct_of_peak_sustained_active"


def output(*cmd):
    done = subprocess.run([str(c) for c in cmd], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, cmd))}: exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def build(name, folder, arch):
    exe = folder / name
    output("nvcc", "-O3", "-std=c++17", f"-arch={arch}", "-o", exe, ROOT / "examples/occupancy" / f"{name}.cu")
    return exe


def times(exe):
    return [json.loads(line) for line in output(exe).splitlines() if line.startswith("{")]


def measured_occupancy(exe):
    """One value a launch, in launch order; --once launches each variant once, in the order in which it is printed."""
    text = output("ncu", "--clock-control", "none", "--csv", "--metrics", METRIC, exe, "--once")
    start = text.index('"ID"')
    return [float(r["Metric Value"].replace(",", "")) for r in csv.DictReader(io.StringIO(text[start:]))
            if r.get("Metric Name") == METRIC]


def predicted(fullwarp, v, cc):
    text = output(fullwarp, "occupancy", "--regs", v["registers"], "--block", v["block"], "--smem",
                  v["static_smem"] + v["dynamic_smem"], "--cc", cc, "--format", "json")
    return json.loads(text)


def row(name, unit, runs):
    return {"name": name, "unit": unit, "runs": runs, "median": statistics.median(runs), "min": min(runs),
            "max": max(runs), "peer": False}


def smi(field):
    return output("nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader").splitlines()[0].strip()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--fullwarp", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--commit", default="unknown")
    p.add_argument("--arch", default="sm_90")
    a = p.parse_args()
    rows, worst, table = [], 0.0, []
    with tempfile.TemporaryDirectory() as d:
        for name in EXAMPLES:
            exe = build(name, pathlib.Path(d), a.arch)
            variants, measured = times(exe), measured_occupancy(exe)
            if len(variants) != len(measured):
                sys.exit(f"{name}: {len(variants)} variants but {len(measured)} launches under ncu")
            for v, m in zip(variants, measured):
                cc = f"{a.arch[3:-1]}.{a.arch[-1]}"
                p90 = predicted(a.fullwarp, v, cc)
                ours = p90["occupancy"]
                if abs(ours - v["theoretical"]) > 1e-3:
                    sys.exit(f"{v['example']} {v['variant']}: predicted {ours}, the driver says {v['theoretical']}")
                key = f"{v['example']}: {v['variant']}"
                rows.append(row(key, "ms", v["ms"]))
                rows.append(row(f"{key}, theoretical occupancy", "percent", [round(100 * ours, 2)]))
                rows.append(row(f"{key}, measured occupancy", "percent", [m]))
                worst = max(worst, (max(v["ms"]) - min(v["ms"])) / v["median_ms"])
                table.append((v, ours, m))
    result = {"schema": 1, "what": "occupancy-examples", "machine": platform.machine(),
              "gpu": smi("name"), "driver": smi("driver_version"),
              "versions": {"nvcc": output("nvcc", "--version").split("release ")[1].split(",")[0],
                           "ncu": output("ncu", "--version").split("Version ")[-1].split()[0]},
              "commit": a.commit, "date": datetime.date.today().isoformat(), "rows": rows, "targets": []}
    pathlib.Path(a.out).write_text(json.dumps(result, indent=1) + "\n")
    for v, ours, m in table:
        print(f"{v['example']:28} {v['variant']:26} block {v['block']:5} regs {v['registers']:4} local {v['local_bytes']:5} "
              f"smem {v['static_smem'] + v['dynamic_smem']:7} blocks/SM {v['blocks_per_sm']:3} theory {100 * ours:6.2f} % "
              f"measured {m:6.2f} % {v['median_ms']:9.4f} ms ({min(v['ms']):.4f}-{max(v['ms']):.4f})")
    print(f"largest spread of one variant: {100 * worst:.1f} % of its median")


if __name__ == "__main__":
    main()
