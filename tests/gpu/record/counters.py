"""Part 'counters': SM busy and warp slots of five long kernels, from the samples that the recorder took beside the
program, against Nsight Compute's counters of the same kernels in a run of its own."""
import csv
import io
import re
import statistics

import fwr
from host import NCU_PLACES, find_tool, row

COUNT = 4  # of each kernel, recorded
MIN_MS = 5.0  # shorter kernels (cuBLAS's helpers, memsets) are not compared
EDGE_NS = 300_000  # at both ends of a kernel: how far the clocks may be apart
NCU_METRICS = {"gpu__time_duration.sum": "ns", "sm__cycles_active.avg.pct_of_peak_sustained_elapsed": "sm_busy_percent",
               "sm__warps_active.avg.pct_of_peak_sustained_elapsed": "warp_slots_percent",
               "sm__warps_active.avg.pct_of_peak_sustained_active": "achieved_occupancy_percent"}
TO_NS = {"s": 1e9, "second": 1e9, "ms": 1e6, "msecond": 1e6, "us": 1e3, "usecond": 1e3, "ns": 1.0, "nsecond": 1.0}


def label(name, grid, block):
    """The same text for a kernel from a recording (mangled) and from ncu (not)."""
    for known in ("spin", "stream_over"):
        if known in name:
            return f"{known} {grid} x {block}"
    return "matrix product"


def product(text):
    """'(66, 1, 1)' as 66."""
    result = 1
    for number in re.findall(r"\d+", text):
        result *= int(number)
    return result


def read_ncu(text):
    """{label: {value: number}} of ncu's --csv output; the longest of kernels with the same label."""
    start = text.find('"ID"')
    if start < 0:
        return {}
    kernels = {}
    for line in csv.DictReader(io.StringIO(text[start:])):
        name = NCU_METRICS.get(line.get("Metric Name"))
        if name is None:
            continue
        value = float(line["Metric Value"].replace(",", ""))
        if name == "ns":
            value *= TO_NS.get(line["Metric Unit"], 1.0)
        entry = kernels.setdefault(line["ID"], {"label": label(line["Kernel Name"], product(line["Grid Size"]),
                                                               product(line["Block Size"]))})
        entry[name] = value
    longest = {}
    for entry in kernels.values():
        if entry.get("ns", 0) >= MIN_MS * 1e6 and entry["ns"] > longest.get(entry["label"], {"ns": 0})["ns"]:
            longest[entry["label"]] = entry
    return longest


def samples_inside(samples, start, end):
    """Time-weighted mean and number of the samples that lie wholly inside."""
    inside = [(b - a, value) for a, b, value in samples if a >= start + EDGE_NS and b <= end - EDGE_NS and b > a]
    time = sum(length for length, _ in inside)
    return (sum(length * value for length, value in inside) / time if time else None), len(inside)


def read_recording(recording):
    """{label: {value: [of each kernel]}} and the number of samples used."""
    samples = {}
    for start, end, name, value, _, _ in recording.counters:
        samples.setdefault(name, []).append((start, end, value))
    kernels, used = {}, 0
    for start, _, name, _, _, _, length, _, shape in recording.kernels:
        if length < MIN_MS * 1e6:
            continue
        entry = kernels.setdefault(label(name, shape[0] * shape[1] * shape[2], shape[3] * shape[4] * shape[5]), {})
        for value_name in ("sm_busy_percent", "warp_slots_percent", "tensor_percent", "dram_percent"):
            mean, count = samples_inside(samples.get(value_name, []), start, start + length)
            used += count
            if mean is not None:
                entry.setdefault(value_name, []).append(mean)
    for entry in kernels.values():
        pairs = zip(entry.get("warp_slots_percent", []), entry.get("sm_busy_percent", []))
        entry["achieved_occupancy_percent"] = [warps / busy * 100 for warps, busy in pairs if busy > 0]
    return kernels, used


def run(host):
    result = {"recorded": {}, "ncu": {}, "source": [], "problems": []}
    folder = host.target_for_recording("counters")
    log = host.out / "counters.log"
    status, _, _ = host.run(host.record(folder, [host.known_work, "fills", str(COUNT)]), 60, log=log)
    if status != 0:
        result["problems"].append(f"recorded run: status {status}")
    try:
        recording = fwr.Recording(folder, host.libraries)
        result["source"] = [text for _, key, text, _ in recording.infos if key in ("source", "source_why", "cannot")]
        result["recorded"], result["samples"] = read_recording(recording)
        result["sources"] = sorted({c[4] for c in recording.counters})
    except (OSError, ValueError, fwr.ZstdMissing) as error:
        result["problems"].append(f"{type(error).__name__}: {error}")
    host.say(f"counters: {result['recorded']} of {result.get('samples')} samples, {result['source']}")
    ncu = find_tool("ncu", NCU_PLACES)
    if not ncu:
        result["problems"].append("ncu is not found")
        return result
    status, out, _ = host.run([ncu, "--clock-control", "none", "--csv", "--metrics", ",".join(NCU_METRICS),
                               host.known_work, "fills", "1"], 75, log=log)
    result["ncu"] = read_ncu(out)
    host.say(f"counters, ncu: {result['ncu']}")
    return result


def errors(result):
    """{(label, value): points apart}; None where one of both is missing."""
    found = {}
    for name in sorted(set(result["ncu"]) | set(result["recorded"])):
        for value in ("sm_busy_percent", "achieved_occupancy_percent"):
            ours = result["recorded"].get(name, {}).get(value)
            theirs = result["ncu"].get(name, {}).get(value)
            found[name, value] = abs(statistics.median(ours) - theirs) if ours and theirs is not None else None
    return found


def rows(result):
    for name, values in result["recorded"].items():
        for value, runs in values.items():
            if runs:
                yield row(f"{name}: {value.removesuffix('_percent').replace('_', ' ')}", "%", runs)
    for name, values in result["ncu"].items():
        for value, number in values.items():
            if value not in ("label", "ns"):
                yield row(f"{name}: {value.removesuffix('_percent').replace('_', ' ')}, ncu", "%", [number], True)


def worst(result):
    """The largest error in points; None unless all five kernels were compared."""
    found = errors(result)
    if len(found) < 10 or None in found.values():
        return None
    return max(found.values())
