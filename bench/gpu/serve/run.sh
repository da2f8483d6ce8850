#!/bin/sh
# run.sh BUNDLE OUT PART...: on a host with a GPU and PyTorch, times the way from JPEG files to labels: `fullwarp-serve bench`
# beside PyTorch's loops (torch_loops.py says which), with the same ResNet-50 and the same 2,000 pictures, in turns. BUNDLE is
# made by scripts/gpu_bundle.sh. Parts, with the seconds they take:
#   plan 350            all sides, three runs of 10 s each (shorter: ours with its remedies off, and the engine alone)
#   half 40             ours, open loop at half of the rate that 'plan' measured: p99
#   loads 160          ours, open loops at 10, 50 and 80 % of the most: latency (each of two decoders 75)
#   steps 140           ours, its remedies turned on one at a time
#   story 35            ours recorded, with its remedies off and on: findings and their bounds
#   story-loops 80      PyTorch's loops recorded
#   train 95            ResNet-50 in training, eager and compiled, fp32 and fp16
#   train-kernels 90    achieved occupancy of the convolutions, by ncu, after 'train'
#   rss 490             eight minutes at half load: memory
#   max-autotune 330    the after loop compiled with max-autotune
#   train-max-autotune 200 (FW_SERVE_TRAIN=fp16: of that precision)
# A part that runs into its limit keeps what it has. Writes OUT/serve-h200.json after each measurement, goes on with what is
# in it, and prints a table last; results.py merges the files of several visits. FW_SERVE_SECONDS and FW_SERVE_REPEATS: of a
# run, 10 and 3. FW_SERVE_SIDES: of the plan, as A,B+,C. FW_SERVE_LIMIT: seconds of a part. FW_SERVE_WORK: a folder to keep
# the model and what was compiled in. FW_SERVE_DRY=1: on the CPU, with a small network; shows only that it runs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bundle=$(cd "$1" && pwd)
out=$2
shift 2
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=${FW_SERVE_WORK:-/tmp/fullwarp-serve-bench}
mkdir -p "$work"
python=${FW_PYTHON:-$(command -v python3 || true)}
finds_torch='import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)'
if [ -z "$python" ] || ! "$python" -c "$finds_torch"; then
	python=/opt/torch/.venv/bin/python3
fi
[ $# -gt 0 ] || set -- plan half story
exec "$python" -B "$here/bench.py" "$bundle" "$out" "$work" "$@"
