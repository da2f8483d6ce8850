#!/bin/sh
# top.sh BUNDLE OUT: on a host with a GPU and nvcc: what `fullwarp top` shows against kernels of known fill and against
# nvidia-smi, its exporter scraped under load, and what it costs. BUNDLE is made by scripts/gpu_bundle.sh. Writes
# OUT/top-h200.json; takes about three minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bundle=$(cd "$1" && pwd) out=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -O3 -arch=native -o "$work/known_fill" "$here/known_fill.cu"
python3 -B "$here/top_result.py" "$bundle" "$work/known_fill" "$out/top-h200.json"
