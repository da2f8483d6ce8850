#!/usr/bin/env python3
"""top_result.py BUNDLE KNOWN_FILL RESULT: the measurements of tests/gpu/top.sh; prints them and writes the result."""
import datetime
import json
import os
import pty
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

# Blocks, threads, and the truth on 132 SMs of 64 warps each: SMs with work, warp slots used of all, in percent.
FILLS = ((66, 1024, 50.0, 25.0), (132, 512, 100.0, 25.0), (132, 128, 100.0, 6.25))
PAIRS = 6
COST_S = 12
FILL_S = 13  # three readings by PM sampling, which takes a second or two to set up


def row(name, unit, runs, peer=False):
    return {"name": name, "unit": unit, "runs": runs, "median": statistics.median(runs), "min": min(runs),
            "max": max(runs), "peer": peer}


def smi(fields):
    out = subprocess.run(["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits", "--id=0"],
                         capture_output=True, text=True, check=True).stdout
    return [f.strip() for f in out.strip().split(",")]


class Machine:
    def __init__(self, bundle, known_fill):
        self.fullwarp, self.known_fill = f"{bundle}/fullwarp", known_fill
        # For our program only: the bundle's libraries are not those of python3 and nvidia-smi.
        path = os.environ.get("LD_LIBRARY_PATH", "")
        self.env = {**os.environ, "LD_LIBRARY_PATH": f"{bundle}/lib:{path}", "TERM": "xterm", "LC_ALL": "C.UTF-8"}

    def once(self, interval):
        out = subprocess.run([self.fullwarp, "top", "--once", "--interval", str(interval), "--format", "json"],
                             capture_output=True, text=True, check=True, env=self.env).stdout
        return json.loads(out)

    def start_fill(self, blocks, threads, seconds):
        fill = subprocess.Popen([self.known_fill, "fill", str(blocks), str(threads), str(seconds)],
                                stdout=subprocess.PIPE, text=True)
        assert fill.stdout.readline() == "ready\n"
        time.sleep(0.3)
        return fill

    def start_exporter(self, interval, prefix=(), counters="auto"):
        exporter = subprocess.Popen([*prefix, self.fullwarp, "top", "--prometheus", ":0", "--interval", str(interval),
                                     "--counters", counters], stderr=subprocess.PIPE, text=True, env=self.env)
        port = re.search(r"port (\d+)$", exporter.stderr.readline())[1]
        return exporter, f"http://127.0.0.1:{port}/metrics"


def value(reading, name):
    return reading["gpus"][0]["values"][name]["value"]


def check_truth(machine, rows, errors):
    """(a) and (b): three readings of each known kernel, each with nvidia-smi's figures beside it."""
    for blocks, threads, sm, warps in FILLS:
        fill = machine.start_fill(blocks, threads, FILL_S)
        readings, peers = [], []
        for _ in range(3):
            readings.append(machine.once(1))
            peers.append([float(f) for f in smi("utilization.gpu,memory.used,power.draw,clocks.sm")])
        assert fill.poll() is None, "the kernel ended before the readings"
        fill.wait()
        what = f"{blocks} x {threads}"
        for name, truth, key in (("SM busy", sm, "sm_busy_percent"), ("warp slots", warps, "warp_slots_percent")):
            got = [value(r, key) for r in readings]
            print(f"{what} {name}: truth {truth}, top {got}")
            if None in got:
                print("  unknown:", readings[got.index(None)]["gpus"][0]["values"][key])
                got = [g for g in got if g is not None]
                errors.append(100.0)
            errors.extend(abs(g - truth) for g in got)
            if got:
                rows.append(row(f"{what}: {name}, truth {truth}", "%", got))
        for at, (name, key, scale, unit) in enumerate((
                ("busy", "busy_percent", 1, "%"), ("memory used", "memory_used_bytes", 1 / 1048576, "MiB"),
                ("power", "power_watts", 1, "W"), ("SM clock", "sm_clock_mhz", 1, "MHz"))):
            got = [value(r, key) for r in readings]
            if None not in got:
                rows.append(row(f"{what}: {name}", unit, [g * scale for g in got]))
            rows.append(row(f"{what}: {name}, nvidia-smi", unit, [p[at] for p in peers], peer=True))
            print(f"{what} {name}: top {got}, nvidia-smi {[p[at] for p in peers]} {unit}")
        print(f"{what}: {readings[-1]['gpus'][0]['verdict']['text']}; processes", readings[-1]["processes"][:1])
    reading = readings[-1]["gpus"][0]["values"]
    print("all values:", json.dumps({k: v["value"] if v["value"] is not None else v["why"] for k, v in reading.items()}))


def check_intervals(machine, rows):
    fill = machine.start_fill(132, 512, FILL_S + 5)
    for interval in (0.2, 0.3, 0.5, 1, 2):
        got = [value(machine.once(interval), "warp_slots_percent") for _ in range(1)]
        print(f"132 x 512 warp slots over {interval} s: {got}")
        if None not in got:
            rows.append(row(f"132 x 512: warp slots over {interval} s, truth 25", "%", got))
    fill.wait()


def check_exporter(machine, rows):
    """(c): four clients scrape at once while the GPU works."""
    fill = machine.start_fill(132, 512, 7)
    exporter, url = machine.start_exporter(1)
    times, texts = [], []
    time.sleep(2.5)

    def scrape():
        for _ in range(25):
            begin = time.monotonic()
            with urllib.request.urlopen(url, timeout=5) as answer:
                text = answer.read().decode()
            times.append((time.monotonic() - begin) * 1e3)
            texts.append(text)
            time.sleep(0.05)

    clients = [threading.Thread(target=scrape) for _ in range(4)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    exporter.terminate()
    assert exporter.wait() == 0
    fill.wait()
    assert len(texts) == 100 and all(t.endswith("# EOF\n") for t in texts)
    warps = [float(x) for t in texts for x in re.findall(r'^fullwarp_gpu_warp_slots_ratio\{gpu="0".*\} (.*)$', t, re.M)]
    rows.append(row("scrape under load, 4 clients", "ms", [round(t, 3) for t in times]))
    print(f"exporter: {len(texts)} scrapes, median {statistics.median(times):.2f} ms, max {max(times):.2f} ms,",
          f"{len(texts[0])} bytes, warp slots {min(warps):.3f} to {max(warps):.3f}" if warps else "warp slots unknown")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start_screen(machine):
    """The live screen in a pseudo-terminal; a thread reads what it draws."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvpe(machine.fullwarp, [machine.fullwarp, "top"], machine.env)
    drawn = []

    def read():
        try:
            while data := os.read(fd, 65536):
                drawn.append(len(data))
        except OSError:
            pass

    threading.Thread(target=read, daemon=True).start()
    return pid, drawn


def check_cost(machine, rows):
    """(d), first part: CPU time under load, of the exporter and of the live screen, at their own interval."""
    fill = machine.start_fill(132, 512, COST_S + 6)
    exporter, _ = machine.start_exporter(2)
    screen, drawn = start_screen(machine)
    time.sleep(2)
    pids = {"exporter": exporter.pid, "screen": screen}
    before = {name: cpu_seconds(pid) for name, pid in pids.items()}
    time.sleep(COST_S)
    for name, pid in pids.items():
        percent = (cpu_seconds(pid) - before[name]) / COST_S * 100
        rows.append(row(f"CPU of the {name}, every 2 s, {COST_S} s", "% of a core", [percent]))
        print(f"CPU of the {name}: {percent:.2f} % of a core")
    print(f"the screen sent {sum(drawn)} bytes in {len(drawn)} pieces")
    exporter.terminate()
    exporter.wait()
    os.kill(screen, signal.SIGTERM)
    os.waitpid(screen, 0)
    fill.wait()


def check_slowdown(machine, rows, counters, settle_s):
    """(d), second part: fixed work, without and with top on a source of counters, which takes settle_s to set up, in turn;
    returns the median slow-down of the GPU's work."""
    cores = sorted(os.sched_getaffinity(0))
    pinned = ["taskset", "-c", str(cores[len(cores) // 2])]
    names = ("GPU-limited loop", "launch-limited loop")
    without, with_top = ([], []), ([], [])

    def run(times):
        out = subprocess.run([*pinned, machine.known_fill, "loop"], capture_output=True, text=True, check=True).stdout
        for series, ms in zip(times, out.split()):
            series.append(float(ms))

    def run_with():
        exporter, _ = machine.start_exporter(1, ["taskset", "-c", str(cores[-1])], counters)
        time.sleep(settle_s)
        run(with_top)
        exporter.terminate()
        exporter.wait()

    for pair in range(PAIRS): # each order as often as the other, so that a drift cancels out
        for step in ((run, run_with) if pair % 2 else (run_with, run)):
            step(without) if step is run else step()
    results = []
    for i, name in enumerate(names):
        slower = [(w / o - 1) * 100 for w, o in zip(with_top[i], without[i])]
        rows.append(row(f"{name}, without top ({counters})", "ms", without[i]))
        rows.append(row(f"{name}, with top every 1 s ({counters})", "ms", with_top[i]))
        rows.append(row(f"{name}, slow-down of each pair ({counters})", "%", slower))
        results.append(statistics.median(slower))
        print(f"{name} ({counters}): without {without[i]} ms, with {with_top[i]} ms; slow-down median {results[-1]:+.3f} %,",
              f"{min(slower):+.3f} to {max(slower):+.3f} %")
    return results[0]


def cuda_version():
    """Of the toolkit that compiled the kernels, and whose libcupti top opens."""
    said = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"V([0-9.]+)", said)[1]


def target(name, most, measured, why):
    met = measured <= most
    return {"name": name, "op": "<=", "target": most, "measured": measured, "met": met, "why": "" if met else why}


def main():
    machine, rows, errors = Machine(os.path.abspath(sys.argv[1]), sys.argv[2]), [], []
    check_truth(machine, rows, errors)
    check_intervals(machine, rows)
    check_exporter(machine, rows)
    check_cost(machine, rows)
    slowdown = max(check_slowdown(machine, rows, "gpm", 0.5), check_slowdown(machine, rows, "pm", 2.5))
    name, driver = smi("name,driver_version")
    result = {"schema": 1, "what": "top", "machine": f"x86-64, {os.cpu_count()} virtual CPUs, shared", "gpu": name,
              "driver": driver, "versions": {"cuda": cuda_version()}, "commit": os.environ.get("FW_COMMIT", "unknown"),
              "date": datetime.date.today().isoformat(), "rows": rows,
              "targets": [target("counter_error_points", 3, max(errors), "see the rows of known kernels"),
                          target("top_slowdown_percent", 0.5, slowdown, "see the pairs of runs")]}
    with open(sys.argv[3], "w", encoding="utf-8") as out:
        json.dump(result, out, indent=1)
        out.write("\n")
    for t in result["targets"]:
        print(f"{t['name']}: {t['measured']:.3f}, target {t['op']} {t['target']}: {'met' if t['met'] else 'MISSED'}")


if __name__ == "__main__":
    main()
