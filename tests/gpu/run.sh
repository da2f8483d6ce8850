#!/bin/sh
# run.sh BUNDLE OUT [CUBIN...]: on a host with a GPU, nvcc and PyTorch: compares our occupancy of every kernel with the
# driver's. BUNDLE holds gpu_occupancy and its libraries (scripts/gpu_bundle.sh makes it). Writes OUT/occupancy-gpu.json.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
bundle=$1 out=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH="$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
for source in "$here"/examples/occupancy/*.cu; do
	nvcc -cubin -O3 -std=c++17 -arch=native -o "$work/$(basename "$source" .cu).cubin" "$source"
done
torch=$(python3 -c 'import torch, os; print(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cuda.so"))')
cublas=$(python3 -c 'import glob, sys; print(next(iter(sorted(f for p in sys.path for f in glob.glob(p + "/nvidia/**/libcublasLt.so.*", recursive=True))), ""))')
[ -n "$cublas" ] || cublas=$(ls /usr/local/cuda/lib64/libcublasLt.so.?? | head -n 1)
status=0
"$bundle/gpu_occupancy" --step 1024 "$@" "$work"/*.cubin >"$work/own.json" || status=$?
"$bundle/gpu_occupancy" --step 8192 --max-kernels 1500 "$torch" "$cublas" >"$work/libraries.json" || status=$?
python3 "$here/tests/gpu/occupancy_result.py" "$work/own.json" "$work/libraries.json" >"$out/occupancy-gpu.json"
cat "$work/own.json" "$work/libraries.json"
exit $status
