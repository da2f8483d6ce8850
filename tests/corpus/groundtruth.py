#!/usr/bin/env python3
"""groundtruth.py REPORTS: what the report says of whole traces equals the tables of the corpus.

The tables (groundtruth.tsv, groundtruth_all.tsv) were computed by two scripts that share nothing with this program;
the corpus' README.md defines their columns; groundtruth_synth.tsv says it in words. Every Kineto file that is well formed
is compared, device by device. Exit 77: the corpus is not there."""
import csv
import decimal
import re
import sys

from reports import corpus, is_well_formed, read_report

TABLES = ("groundtruth.tsv", "groundtruth_all.tsv")
# The tables were summed in doubles from absolute times, which resolve 0.25 us; older files are whole microseconds.
TOLERANCE_NS = 1000
TIMES = {"kernel_busy_ns": "kernel_busy_us", "kernel_sum_ns": "kernel_sum_us", "gpu_busy_ns": "gpu_busy_us",
         "span_ns": "span_us", "longest_gap_ns": "longest_gap_us", "sync_ns": "sync_unique_us"}
COUNTS = {"kernels": "n_kernel", "memsets": "n_memset", "streams": "n_streams", "syncs": "n_sync_unique"}


def to_ns(microseconds):
    return int((decimal.Decimal(microseconds) * 1000).to_integral_value())


def read_copies(text):
    """'HtoD (Pageable -> Device) 16:244403360;...' to {kind: (count, bytes)}; 0 bytes on ROCm: unknown."""
    found = re.findall(r"([^;,]*?) (\d+):(\d+)(?:[;,]\s*|$)", text)
    return {kind.strip(): (int(count), int(size)) for kind, count, size in found}


def compare(row, device):
    """The differences between a row of the table and a device of the report, as lines."""
    whole = device["all"]
    for ours, theirs in COUNTS.items():
        if whole[ours] != int(row[theirs]):
            yield f"{ours}: {whole[ours]}, the table has {row[theirs]}"
    for ours, theirs in TIMES.items():
        if abs(whole[ours] - to_ns(row[theirs])) > TOLERANCE_NS:
            yield f"{ours}: {whole[ours]}, the table has {to_ns(row[theirs])}"
    ours = {c["kind"]: (c["count"], c["bytes"] or 0) for c in whole["memcpy"]}
    theirs = read_copies(row["memcpy_by_kind(count:bytes)"])
    if ours != theirs or sum(count for count, _ in theirs.values()) != int(row["n_memcpy"]):
        yield f"copies: {ours}, the table has {theirs}"


def compare_words(text, device):
    """The same for a line of words: 'kernels=10 busy_us=400 span_us=940 gap_us=60'."""
    names = {"kernels": "kernels", "busy": "kernel_busy_ns", "span": "span_ns", "gap": "longest_gap_ns",
             "kernel_sum": "kernel_sum_ns"}
    found = re.findall(r"\b(kernels|busy|span|gap|kernel_sum)(?:_us)?[= ](\d+(?:\.\d+)?)", text)
    for name, value in found:
        ours = device["all"][names[name]]
        if ours != (int(value) if name == "kernels" else to_ns(value)):
            yield f"{names[name]}: {ours}, the table has {value}"
    if len(found) < 2:
        yield f"the table's words are not understood: {text}"


def compare_synthetic(folder):
    """The problems, and the reports by name, of the well-formed files of groundtruth_synth.tsv."""
    problems, reports = [], {}
    with open(corpus() / "groundtruth_synth.tsv", newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            name = row["file"]
            if not is_well_formed(name):
                continue
            reports[name], problem = read_report(folder, name)
            found = [problem] if problem else compare_words(row["expected"], reports[name]["devices"][0])
            problems += [f"{name}: {line}" for line in found]
    return problems, reports


def main():
    folder = sys.argv[1]
    if not (corpus() / TABLES[0]).is_file():
        print(f"skipped: no corpus at {corpus()}")
        return 77
    rows = {}
    for table in TABLES:
        with open(corpus() / table, newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                if is_well_formed(row["file"]):
                    rows[row["file"], row["device"]] = row
    problems, reports = compare_synthetic(folder)
    for (name, device_id), row in rows.items():
        if name not in reports:
            reports[name], problem = read_report(folder, name)
            if problem:
                problems.append(f"{name}: {problem}")
        devices = {str(d["id"]): d for d in (reports[name] or {}).get("devices", [])}
        if reports[name] and device_id not in devices:
            problems.append(f"{name}: device {device_id} is not in the report")
        elif reports[name]:
            problems += [f"{name} device {device_id}: {line}"
                         for line in compare(row, devices[device_id])]
    print("\n".join(problems + [f"{len(rows)} rows compared, {len(reports)} files in all, {len(problems)} differences"]))
    return 1 if problems or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
