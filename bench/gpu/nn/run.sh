#!/bin/sh
# run.sh BUNDLE OUT PART...: on a host with a GPU and PyTorch, times the cudnn engine beside PyTorch's modes, fp16, input on
# the GPU, in turns, median of 7 rounds after one more. BUNDLE is made by scripts/gpu_bundle.sh. Parts, with the seconds they
# take: resnet50 120, mobilenet_v2 80, load 30, variants 30, counters 45 (SM busy, tensor, memory, by `fullwarp top`, of one
# instance and of two), record 20 (`fullwarp record` and its report), NETWORK:alone 20 (without PyTorch),
# NETWORK:max-autotune 1,100 (PyTorch's compiling). Writes OUT/nn.json and logs, prints a table last. FW_NN_LIMIT: time limit
# in seconds of all (default 420); FW_NN_ROUNDS: rounds; FW_NN_WORK: a folder to keep the models in.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bundle=$(cd "$1" && pwd)
out=$2
shift 2
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=${FW_NN_WORK:-$(mktemp -d)}
mkdir -p "$work"
python=$(command -v python3 || true)
finds_torch='import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)'
if [ -z "$python" ] || ! "$python" -c "$finds_torch"; then
	python=/opt/torch/.venv/bin/python3
fi
[ $# -gt 0 ] || set -- resnet50 mobilenet_v2 load variants counters record
exec timeout "${FW_NN_LIMIT:-420}" "$python" -B "$here/bench.py" "$bundle" "$out" "$work" "$@"
