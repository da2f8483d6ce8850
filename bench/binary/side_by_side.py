#!/usr/bin/env python3
"""Reads the same files with fullwarp and with NVIDIA's `cuobjdump -res-usage`, one after the other: every register
count, stack and shared memory size that cuobjdump lists must be equal, and the times are put side by side.

side_by_side.py [--check] [--runs N] [--output RESULT.json] FILE...

--check compares only. The first FILE is the one that the targets are judged by.
Ours: --tool, else $FW_LIST_KERNELS, else build/release/list_kernels, else `fullwarp` in PATH (the command with JSON).
Theirs: --cuobjdump, else $FW_CUOBJDUMP, else `cuobjdump` in PATH (in a venv: pip install nvidia-cuda-cuobjdump, then
.../site-packages/nvidia/cu*/bin/cuobjdump). Without it: exit 77."""
import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESERVED = 1024  # bytes of shared memory that the driver keeps in every block from 9.0 on
UNKNOWN = -1


def find_tool(given):
    for path in (given, os.environ.get("FW_LIST_KERNELS"), ROOT / "build/release/list_kernels", shutil.which("fullwarp"),
                 ROOT / "bin/fullwarp"):
        if path and os.access(path, os.X_OK):
            return pathlib.Path(path)
    sys.exit("no list_kernels or fullwarp: build with `cmake --preset release && cmake --build build/release`")


def find_cuobjdump(given):
    path = given or os.environ.get("FW_CUOBJDUMP") or shutil.which("cuobjdump")
    if not path or not os.access(path, os.X_OK):
        print("no cuobjdump: set FW_CUOBJDUMP or PATH (PyPI: nvidia-cuda-cuobjdump)")
        sys.exit(77)
    return path


def our_command(tool, file, *flags):
    if tool.name == "fullwarp":
        return [str(tool), "occupancy", "--format", "json", file]
    return [str(tool), *flags, file]


def parse_list(text):
    for line in text.splitlines():
        c = line.split("\t")
        if c[1] == "cubin":
            yield c[2], c[0], [int(c[i]) for i in (3, 4, 5, 6, 7, 8)]


def parse_json(text):
    for k in json.loads(text)["kernels"]:
        if k.get("registers") is None:
            continue
        number = {key: UNKNOWN if k.get(key) is None else int(k[key]) for key in ("registers", "static_smem", "stack", "frame")}
        yield (str(k["sm"]).removeprefix("sm_"), k["name"],
               [int(k.get("copies", 1)), int(bool(k.get("provisional"))), number["registers"], number["static_smem"],
                number["stack"], number["frame"]])


def ours(tool, file):
    """{(sm, name): [(copies, provisional, registers, shared, stack, frame)]}"""
    text = subprocess.run(our_command(tool, file), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          encoding="utf-8", errors="surrogateescape").stdout
    kernels = collections.defaultdict(list)
    for sm, name, figures in (parse_json if tool.name == "fullwarp" else parse_list)(text):
        kernels[sm, name].append(figures)
    return kernels


def theirs(cuobjdump, file):
    """Counter of (sm, name, registers, stack, shared), and the number of device functions, which have no parameters."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogateescape") as out:
        subprocess.run([cuobjdump, "-res-usage", file], stdout=out, stderr=subprocess.DEVNULL, check=False)
        out.seek(0)
        kernels, functions, sm, name = collections.Counter(), 0, None, None
        for line in out:
            if match := re.match(r"arch = sm_(\w+)", line):
                sm = match[1]
            elif match := re.match(r" Function (.*):$", line):
                name = match[1]
            elif match := re.match(r"  REG:(\d+) STACK:(\d+|UNKNOWN) SHARED:(\d+) ", line):
                if "CONSTANT[0]" in line:
                    stack = UNKNOWN if match[2] == "UNKNOWN" else int(match[2])
                    kernels[sm, name, int(match[1]), stack, int(match[3])] += 1
                else:
                    functions += 1
        return kernels, functions


def is_equal(figures, sm, registers, stack, shared):
    _, provisional, our_registers, our_shared, our_stack, our_frame = figures
    allowed = {our_shared}
    if int(re.match(r"\d+", sm)[0]) >= 90 and not provisional:
        # Their figure has the reserve in it; where a kernel has no section for shared memory it is 0.
        allowed = {our_shared + RESERVED} | ({0} if our_shared == 0 else set())
    # Before linking there is no stack with callees: they print the frame, which our command's JSON leaves out.
    our_stack = our_frame if our_stack == UNKNOWN else our_stack
    is_stack = stack in (our_stack, UNKNOWN) or (provisional and our_stack == UNKNOWN)
    return our_registers == registers and shared in allowed and is_stack


def compare(tool, cuobjdump, file):
    """(kernels of theirs that are equal, differences as texts, ours, device functions)"""
    mine, (listed, functions) = ours(tool, file), theirs(cuobjdump, file)
    equal, differences = 0, []
    for (sm, name, registers, stack, shared), count in listed.items():
        # A bare cubin is listed without its target.
        keys = [(sm, name)] if sm else [key for key in mine if key[1] == name]
        same = sum(f[0] for key in keys for f in mine.get(key, ()) if is_equal(f, key[0], registers, stack, shared))
        if same >= count:
            equal += count
        else:
            found = [f for key in keys for f in mine.get(key, ())]
            differences.append(f"sm_{sm} {name}: {count} times REG:{registers} STACK:{stack} SHARED:{shared}, "
                               f"ours (copies, provisional, registers, shared, stack, frame): {found}")
    return equal, differences, sum(f[0] for group in mine.values() for f in group), functions


def seconds(command):
    begin = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.monotonic() - begin


def peak_anonymous_mib(command):
    """Memory that is not the mapped file, sampled while it runs."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        if match := re.search(r"RssAnon:\s*(\d+)", status):
            peak = max(peak, int(match[1]))
        time.sleep(0.001)
    process.wait()
    return peak / 1024


def row(name, unit, runs, peer=False):
    runs = [round(r, 4) for r in runs]
    return {"name": name, "unit": unit, "runs": runs, "median": statistics.median(runs), "min": min(runs),
            "max": max(runs), "peer": peer}


def measure(args, tool, cuobjdump, file):
    """Rows of one file, alternating, and (seconds, ratio)."""
    name = os.path.basename(file)
    flags = [] if tool.name == "fullwarp" else ["-P"]
    mine, cubins, peer = [], [], []
    for _ in range(args.runs):
        mine.append(seconds(our_command(tool, file)))
        if flags:
            cubins.append(seconds(our_command(tool, file, *flags)))
        peer.append(seconds([cuobjdump, "-res-usage", file]))
    rows = [row(f"{name}: fullwarp", "s", mine), row(f"{name}: cuobjdump -res-usage", "s", peer, True)]
    if cubins:
        rows.insert(1, row(f"{name}: fullwarp, PTX left unread as by cuobjdump", "s", cubins))
    memory = [peak_anonymous_mib(our_command(tool, file)) for _ in range(2)]
    rows.append(row(f"{name}: fullwarp, memory beyond the mapped file", "MiB", memory))
    return rows, statistics.median(mine), statistics.median(peer) / statistics.median(mine)


def output_of(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def machine():
    model = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{model[1] if model else os.uname().machine}, {len(os.sched_getaffinity(0))} processors"


def target(name, op, limit, measured, why):
    met = measured >= limit if op == ">=" else measured <= limit
    return {"name": name, "op": op, "target": limit, "measured": round(measured, 3), "met": met, "why": why}


def result(tool, cuobjdump, rows, headline, figures):
    gpu = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").split("\n")[0]
    gpu, _, driver = gpu.partition(", ")
    size = os.path.getsize(headline) / 1e6
    where = f"{os.path.basename(headline)}, {size:.0f} MB, on {len(os.sched_getaffinity(0))} processors; the targets " \
            "are for a library of 450 MB on 16"
    version = re.search(r"V[\d.]+", output_of(cuobjdump, "--version"))
    return {"schema": 1, "what": "binary", "machine": machine(), "gpu": gpu or "none", "driver": driver or "none",
            "versions": {"cuobjdump": version[0] if version else "unknown", "linux": os.uname().release,
                         "tool": tool.name},
            "commit": output_of("git", "-C", str(ROOT), "rev-parse", "HEAD") or "unknown",
            "date": datetime.date.today().isoformat(), "rows": rows,
            "targets": [target("binary_seconds", "<=", 0.7, figures[0], where),
                        target("binary_ratio_cuobjdump", ">=", 10, figures[1], where)]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output")
    parser.add_argument("--tool")
    parser.add_argument("--cuobjdump")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    if not args.files:
        print("no files to compare")
        return 77
    cuobjdump, tool = find_cuobjdump(args.cuobjdump), find_tool(args.tool)
    rows, figures, failed = [], None, False
    for file in args.files:
        equal, differences, count, functions = compare(tool, cuobjdump, file)
        name = os.path.basename(file)
        print(f"{name}: {equal} kernels of cuobjdump equal, {len(differences)} different; {count} cubin kernels of ours; "
              f"{functions} device functions of theirs left out")
        print("".join(f"    {d}\n" for d in differences[:10]), end="")
        failed |= bool(differences)
        if args.check:
            continue
        more, mine, ratio = measure(args, tool, cuobjdump, file)
        rows += more + [row(f"{name}: kernels in cubins, fullwarp", "kernels", [count]),
                        row(f"{name}: kernels in cubins, cuobjdump", "kernels", [equal + len(differences)], True),
                        row(f"{name}: kernels that differ", "kernels", [len(differences)])]
        figures = figures or (mine, ratio)
        print(f"    {mine:.3f} s, cuobjdump {ratio:.1f} times that")
    if args.output and rows:
        pathlib.Path(args.output).write_text(json.dumps(result(tool, cuobjdump, rows, args.files[0], figures), indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
