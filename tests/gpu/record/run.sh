#!/bin/sh
# run.sh BUNDLE OUT PART...: on a host with a GPU and PyTorch, measures what `fullwarp record` says and costs. BUNDLE is
# made by scripts/gpu_bundle.sh. Parts, with the seconds they take: smoke 30, truth 120, counters 60, overhead 140, kills 60,
# ddp 70 (two GPUs), breaks 60, examples 250, growth 110, soak 500 (beside the others where there is a second GPU),
# variants 150 (what each kind of record costs), selfprofile 15 (programs that profile themselves), launch 60
# (the launch loop of overhead alone, and ways to make it cheaper). Writes OUT/record.json, logs and OUT/reports.tar.gz, and prints a table last.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bundle=$(cd "$1" && pwd)
out=$2
shift 2
python=$(command -v python3 || true)
finds_torch='import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)'
if [ -z "$python" ] || ! "$python" -c "$finds_torch"; then
	python=/opt/torch/.venv/bin/python3
fi
export FW_PYTHON="${FW_PYTHON:-$python}"
mkdir -p "$out"
if [ ! -x "$bundle/known_work" ]; then
	"${NVCC:-/usr/local/cuda/bin/nvcc}" -O2 -std=c++17 -arch=native -o "$bundle/known_work" "$here/known_work.cu"
fi
exec "$FW_PYTHON" -B "$here/parts.py" "$bundle" "$out" "$@"
