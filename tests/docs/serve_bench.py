#!/usr/bin/env python3
"""serve_bench.py ROOT: what bench/gpu/serve measures with and how it judges, without a GPU: the pictures, the targets of rows
with known figures, and the merging of two visits, as scripts/check_results.py wants it."""
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path[:0] = [str(ROOT / "bench/gpu/serve"), str(ROOT / "scripts")]
import check_results  # noqa: E402
import results  # noqa: E402

PICTURES = 6
# Median rates: 100, 1,000 and 4,000 img/s, so 40 times the first and 4 times the second.
VISITS = ({"A, before: rate": [90, 100, 130], "B+, after, fp16: rate": [1000], "C, CPU decode: rate": [3000]},
          {"C, CPU decode: rate": [3900, 4000, 4100], "C, CPU decode: p99 at half load": [7, 9, 8.5]})
WANTED = {"vs_before": (40, True), "vs_after_fp16": (4, True), "jpeg_to_label_cpu_img_s": (4000, False),
          "p99_ms_half_load": (8.5, False)}
problems = []


def look_at_pictures(folder):
    try:
        import images
    except ImportError as why:
        print(f"the pictures were not made: {why}")
        return
    made = images.make(folder / "one", PICTURES)
    again = images.make(folder / "two", PICTURES)
    if made != again or any(p.read_bytes() != (folder / "two" / p.name).read_bytes() for p in (folder / "one").iterdir()):
        problems.append("the pictures differ between two runs")
    if not images.LEAST_BYTES <= made["mean_bytes"] <= images.MOST_BYTES:
        problems.append(f"the pictures have {made['mean_bytes']:.0f} bytes in the mean")


def look_at_results(folder):
    names = []
    for number, rows in enumerate(VISITS):
        names.append(folder / f"{number}.json")
        visit = results.Results(names[-1])
        visit.data["commit"] = "0123456"
        for name, runs in rows.items():
            for run in runs:
                visit.add(name, "img/s", run)
        visit.keep()
    sys.argv[1:] = [str(folder / "serve-h200.json"), *map(str, names)]
    results.main()
    data = json.loads((folder / "serve-h200.json").read_text())
    check_results.check_file(folder / "serve-h200.json", "results/serve-h200.json", problems)
    found = {t["name"]: (t["measured"], t["met"]) for t in data["targets"]}
    if found != WANTED:
        problems.append(f"targets are {found}, not {WANTED}")


with tempfile.TemporaryDirectory() as temporary:
    look_at_pictures(pathlib.Path(temporary))
    look_at_results(pathlib.Path(temporary))
print("\n".join(problems) if problems else "ok")
sys.exit(bool(problems))
