"""Part 'soak': minutes at a high launch rate; the memory of program and recorder stays flat, what is dropped is counted."""
import json
import os
import subprocess
import time

import kills
from host import row

SECONDS = float(os.environ.get("FW_SOAK_SECONDS", "480"))
RATE = float(os.environ.get("FW_SOAK_RATE", "100000"))
EVERY_S = 2.0
PACK_S = 90  # the recorder packs what was written after the program has ended


def rss_bytes(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
            fields = dict(line.split(":", 1) for line in f)
        return int(fields["VmRSS"].split()[0]) * 1024, int(fields["RssAnon"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def slope(points):
    """Of a line of least squares through (seconds, bytes): bytes a second."""
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0


def steady_slope(points):
    """Without the first quarter, in which pools and caches fill."""
    later = points[len(points) // 4:]
    return slope(later) if len(later) >= 4 else None


def folder_bytes(folder):
    total = 0
    for base, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(base, name)).st_size
            except OSError:
                pass
    return total


def watch(host, recorder, progress, folder, result):
    began, said = time.monotonic(), 0.0
    pid = None
    while recorder.poll() is None and time.monotonic() < began + SECONDS + PACK_S + 30:
        time.sleep(EVERY_S)
        now = time.monotonic() - began
        if pid is None:
            pid, _ = kills.read_progress(progress)
        for name, who in (("program", pid), ("recorder", recorder.pid)):
            memory = rss_bytes(who) if who else None
            # After its time the program is gone and the recorder packs: not the state that is judged.
            if memory and 5.0 < now < SECONDS - 2:
                result["rss"][name].append((round(now, 2), memory[0]))
        if now - said > 30:
            said = now
            result["size_bytes"].append((round(now, 1), folder_bytes(folder)))
            host.say(f"soak: {now:.0f} s, RSS {[(n, p[-1][1] >> 10) for n, p in result['rss'].items() if p]} KiB,"
                     f" {result['size_bytes'][-1][1] / 1e6:.0f} MB")


def run(host):
    result = {"seconds": SECONDS, "rate": RATE, "rss": {"program": [], "recorder": []}, "size_bytes": [],
              "problems": []}
    base = host.folder("soak")
    folder, progress, out = base / "recording", base / "progress", base / "out"
    command = host.record(folder, [host.known_work, "steady", str(SECONDS), str(RATE), str(progress)])
    with open(out, "w", encoding="utf-8") as say, open(base / "log", "w", encoding="utf-8") as log:
        recorder = subprocess.Popen(host.pinned(command, host.cores[-8:]), env=host.env, stdin=subprocess.DEVNULL,
                                    stdout=say, stderr=log, start_new_session=True)
        host.register(recorder.pid)
        watch(host, recorder, progress, folder, result)
        result["status"] = recorder.poll()
    _, steps = kills.read_progress(progress)
    result["launches"] = steps[-1][1] if steps else 0
    result["said"] = out.read_text()[-200:]
    result["log"] = (base / "log").read_text()[-1500:]
    result["size_bytes"].append((SECONDS, folder_bytes(folder)))
    for name, points in result["rss"].items():
        result[f"slope_{name}"] = steady_slope(points)
    if result["status"] != 0:
        result["problems"].append(f"status {result['status']}")
    began = time.monotonic()
    status, text, _ = host.report(folder, "--format", "json", seconds=45)
    result["report_seconds"] = time.monotonic() - began
    if status == 0:
        report = json.loads(text)
        result["report"] = {"trace": report.get("trace"), "verdict": report.get("verdict")}
    host.say(f"soak: {result['launches']} launches, slopes {result['slope_program']}, {result['slope_recorder']} B/s,"
             f" {result['size_bytes'][-1][1] / 1e6:.0f} MB, {result.get('report')}")
    return result


def rows(result):
    for name, points in result["rss"].items():
        if points:
            yield row(f"soak of {result['seconds']:.0f} s, RSS of the {name}", "bytes", [p[1] for p in points])
        if result.get(f"slope_{name}") is not None:
            yield row(f"soak, slope of the RSS of the {name}", "bytes/s", [result[f"slope_{name}"]])
    yield row("soak, launches", "count", [result["launches"]])
    yield row("soak, size of the recording at its end", "bytes", [result["size_bytes"][-1][1]])
    integrity = ((result.get("report") or {}).get("trace") or {}).get("integrity")
    if integrity:
        yield row("soak, records lost as the recording says", "count", [integrity["dropped_records"]])
