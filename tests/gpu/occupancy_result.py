#!/usr/bin/env python3
"""occupancy_result.py OWN.json LIBRARIES.json: makes the result file of tests/gpu/run.sh from what gpu_occupancy printed."""
import datetime, json, os, platform, subprocess, sys


def smi(field):
    return subprocess.run(["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader"], capture_output=True,
                          text=True, check=True).stdout.splitlines()[0].strip()


def row(name, unit, value):
    return {"name": name, "unit": unit, "runs": [value], "median": value, "min": value, "max": value, "peer": False}


def main():
    own, libraries = (json.load(open(f)) for f in sys.argv[1:3])
    rows = []
    for what, r in (("own kernels, every 1 KB", own), ("PyTorch's and cuBLASLt's kernels, every 8 KB", libraries)):
        for key in ("kernels", "attributes", "vectors", "refused", "not_loaded", "differences"):
            rows.append(row(f"{what}: {key}", "count", r[key]))
    for key in ("cc", "sms", "smem_optin", "smem_per_sm", "smem_reserved", "threads_per_sm", "blocks_per_sm",
                "registers_per_sm", "registers_per_block"):
        rows.append(row(f"device attribute {key}", "value", own[key]))
    differences = own["differences"] + libraries["differences"]
    met = differences == 0 and libraries["kernels"] >= 2000
    json.dump({"schema": 1, "what": "occupancy", "machine": platform.machine(), "gpu": smi("name"),
               "driver": smi("driver_version"), "versions": {}, "commit": os.environ.get("FW_COMMIT", "unknown"),
               "date": datetime.date.today().isoformat(), "rows": rows,
               "targets": [{"name": "occupancy_differences", "op": "<=", "target": 0, "measured": differences,
                            "met": met, "why": "" if met else "see the rows"}]}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
