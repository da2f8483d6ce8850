#!/usr/bin/env python3
"""reports.py FULLWARP FOLDER: the report of every well-formed Kineto trace of the corpus, whole trace, as JSON.

Made once for the comparisons that read them with read_report(). Exit 77: the corpus is not there."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

WELL_FORMED_SYNTHETIC = ("bom", "string_ts", "cuda_sync_rows", "graph_4000_streams", "idle_stream_busy_dev", "neg_latency")


def is_well_formed(name):
    if ".json" not in name or "_et" in name or name.endswith("loops.json"):
        return False
    if name.startswith("synthetic/"):
        return pathlib.Path(name).name.split(".")[0] in WELL_FORMED_SYNTHETIC
    return True


def corpus():
    root = pathlib.Path(__file__).resolve().parents[2]
    return pathlib.Path(os.environ.get("FW_CORPUS", root.parent / "shared" / "corpus"))


def well_formed():
    """Names of the traces, below traces/."""
    names = (path.relative_to(corpus() / "traces") for path in (corpus() / "traces").glob("**/*.json*"))
    return sorted(str(name) for name in names if is_well_formed(str(name)))


def file_of(folder, name):
    return pathlib.Path(folder) / name.replace("/", "%")


def read_report(folder, name):
    """The report of a trace; None and what the program said if there is none."""
    status, _, text = file_of(folder, name).read_text(encoding="utf-8").partition("\n")
    return (json.loads(text), None) if status == "0" else (None, text.strip())


def main():
    program, folder = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    if not (corpus() / "traces").is_dir():
        print(f"skipped: no corpus at {corpus()}")
        return 77
    names = well_formed()
    for name in names:
        run = subprocess.run([program, "report", "--all", "--format", "json", corpus() / "traces" / name],
                             capture_output=True, check=False)
        text = run.stderr.decode(errors="replace") if run.returncode else run.stdout.decode("utf-8")
        file_of(folder, name).write_text(f"{run.returncode}\n{text}", encoding="utf-8")
    print(f"{len(names)} reports")
    return 0 if names else 1


if __name__ == "__main__":
    sys.exit(main())
