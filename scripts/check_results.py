#!/usr/bin/env python3
"""bench/results/*.json say what was measured, on what, with every run kept and every target judged."""
import json
import math
import re
import statistics
import sys

import tree

TARGETS = set("""import_mb_s import_peak_mb_10gb binary_seconds binary_ratio_cuobjdump occupancy_differences
launch_loop_vs_floor counter_error_points loop_slowdown_minus_floor_points record_truth_differences kills_survived
resnet50_fp16_bs64_img_s resnet50_fp16_bs1_ms resnet50_vs_best_torch_bs64 mobilenetv2_fp16_bs64_img_s
cpu_vs_onnxruntime jpeg_to_label_cpu_img_s jpeg_to_label_nvjpeg_img_s vs_before vs_after_fp16 ready_seconds
p99_ms_half_load sm_busy_percent_resident rss_slope_bytes_s tune_fraction_of_optimum tune_rate_vs_kernel_tuner
top_slowdown_percent""".split())

FILE_KEYS = {"schema", "what", "machine", "gpu", "driver", "versions", "commit", "date", "rows", "targets"}
ROW_KEYS = {"name", "unit", "runs", "median", "min", "max", "peer"}
TARGET_KEYS = {"name", "op", "target", "measured", "met", "why"}
OPS = {">=": lambda a, b: a >= b, "<=": lambda a, b: a <= b, "==": lambda a, b: a == b,
       ">": lambda a, b: a > b, "<": lambda a, b: a < b}
ROUNDING = 1e-3  # a stated median may be rounded to three digits


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def is_text(value):
    return isinstance(value, str) and value.strip() != ""


def check_keys(thing, keys, where, problems):
    """True if thing is an object with exactly these keys."""
    if not isinstance(thing, dict):
        problems.append(f"{where}: not an object")
        return False
    problems += [f"{where}: '{key}' is missing" for key in sorted(keys - thing.keys())]
    problems += [f"{where}: '{key}' is not a key of the schema" for key in sorted(thing.keys() - keys)]
    return keys == thing.keys()


def check_row(row, where, problems):
    if not check_keys(row, ROW_KEYS, where, problems):
        return
    if not (is_text(row["name"]) and is_text(row["unit"])):
        problems.append(f"{where}: name and unit are texts")
    if not isinstance(row["peer"], bool):
        problems.append(f"{where}: peer is true or false")
    runs = row["runs"]
    if not (isinstance(runs, list) and runs and all(map(is_number, runs))):
        problems.append(f"{where}: every run's value is kept, as a number")
        return
    for key, value in (("median", statistics.median(runs)), ("min", min(runs)), ("max", max(runs))):
        if not (is_number(row[key]) and math.isclose(row[key], value, rel_tol=ROUNDING, abs_tol=1e-12)):
            problems.append(f"{where}: {key} is {row[key]}, of the runs it is {value}")


def check_target(target, where, problems):
    if not check_keys(target, TARGET_KEYS, where, problems):
        return
    if target["name"] not in TARGETS:
        problems.append(f"{where}: '{target['name']}' is not a target's name")
    if target["op"] not in OPS:
        problems.append(f"{where}: op is one of {' '.join(OPS)}")
        return
    if not is_number(target["target"]):
        problems.append(f"{where}: target is a number")
        return
    if is_number(target["measured"]):
        met = OPS[target["op"]](target["measured"], target["target"])
    elif target["measured"] is None:
        met = False
    else:
        problems.append(f"{where}: measured is a number, or null where nothing was measured")
        return
    if target["met"] is not met:
        problems.append(f"{where}: {target['measured']} {target['op']} {target['target']} is {met}, met says {target['met']}")
    if not met and not is_text(target["why"]):
        problems.append(f"{where}: a target missed says why")


def check_header(data, name, problems):
    if data["schema"] != 1:
        problems.append(f"{name}: schema is 1")
    for key in ("what", "machine", "commit", "date"):
        if not is_text(data[key]):
            problems.append(f"{name}: {key} is a text")
            return
    for key in ("gpu", "driver"):
        if not (data[key] is None or is_text(data[key])):
            problems.append(f"{name}: {key} is a text, or null where there was none")
    if not (isinstance(data["versions"], dict) and all(is_text(v) for v in data["versions"].values())):
        problems.append(f"{name}: versions is an object of texts")
    if not re.fullmatch(r"[0-9a-f]{7,40}", data["commit"]):
        problems.append(f"{name}: commit is a git commit")
    if not re.match(r"\d{4}-\d\d-\d\d(T\d\d:\d\d|$)", data["date"]):
        problems.append(f"{name}: date is YYYY-MM-DD")
    if not name.rsplit("/", 1)[1].startswith(data["what"] + "-"):
        problems.append(f"{name}: is not named {data['what']}-<gpu or cpu>.json")


def check_file(path, name, problems):
    try:
        data = json.loads(path.read_text())
    except ValueError as error:
        problems.append(f"{name}: {error}")
        return
    if not check_keys(data, FILE_KEYS, name, problems):
        return
    check_header(data, name, problems)
    for key, check in (("rows", check_row), ("targets", check_target)):
        if not isinstance(data[key], list):
            problems.append(f"{name}: {key} is a list")
            continue
        for index, thing in enumerate(data[key]):
            check(thing, f"{name}: {key}[{index}]", problems)
    if data["rows"] == []:
        problems.append(f"{name}: has no row")


def main():
    root = tree.root_argument()
    problems = []
    files = sorted((root / "bench/results").glob("*.json"))
    for path in files:
        check_file(path, path.relative_to(root).as_posix(), problems)
    tree.finish(problems, f"{len(files)} result files")


if __name__ == "__main__":
    sys.exit(main())
