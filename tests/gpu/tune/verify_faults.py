#!/usr/bin/env python3
"""verify_faults.py CACHE.jsonl: what tune says of each planted fault of faults.cu."""
import json
import sys

# FAULT: status, and words that the reason must hold.
EXPECTED = {
    "0": ("ok", ""), "1": ("crashed", "CUDA_ERROR_ILLEGAL_ADDRESS"), "2": ("hung", "no end within"),
    "3": ("wrong-output", "out[54321]: "), "4": ("wrote-outside", "out[100003]"),
    "5": ("wrong-output", "out[1000]: nothing written"), "6": ("crashed", "CUDA_ERROR_"),
    "7": ("wrote-outside", "into the input in[3]"), "8": ("compile-failed", "planted"),
    "9": ("not-launchable", "300000 bytes"), "10": ("not-launchable", "launch bounds allow 64"),
}


def main():
    rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    rows = [r for r in rows if "config" in r]
    bad = 0
    for row in sorted(rows, key=lambda r: int(r["config"]["FAULT"])):
        status, words = EXPECTED[row["config"]["FAULT"]]
        good = row["status"] == status and words in row.get("reason", "")
        bad += not good
        print(f"{'ok ' if good else 'BAD'} FAULT={row['config']['FAULT']} BLOCK={row['config']['BLOCK']}: "
              f"{row['status']}: {row.get('reason', '')}")
    if len(rows) != 2 * len(EXPECTED):
        bad += 1
        print(f"BAD {len(rows)} rows, not {2 * len(EXPECTED)}")
    print(json.dumps({"check": "planted faults", "cases": len(rows), "different": bad}))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
