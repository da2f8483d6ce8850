#!/bin/sh
# faults.sh GPU_TUNE_BRUTE: measures faults.cu and compares what came of each fault with what was planted.
set -eu
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" "$here/faults.cu" --hang "${HANG:-0.2}" --workers 2 --samples 2 --cache "$work/faults.jsonl"
python3 -B "$here/verify_faults.py" "$work/faults.jsonl"
