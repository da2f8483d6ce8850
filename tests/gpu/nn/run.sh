#!/bin/sh
# run.sh BUNDLE OUT [NETWORK...]: on a host with a GPU, PyTorch, onnx and onnxruntime: the cudnn engine's results against
# ONNX Runtime's and PyTorch's. BUNDLE is made by scripts/gpu_bundle.sh. Seconds: resnet50 60, mobilenet_v2 40, the others
# (squeezenet1_1, vgg11_bn, resnext50_32x4d, resnet18, and those of densenet121, efficientnet_b0, mobilenet_v3_large and
# vit_b_16 that make_model.py knows) 15 each; without a name, all. Writes OUT/check.json, models and logs; prints a table.
# FW_NN_LIMIT is the time limit in seconds (default 300).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bundle=$(cd "$1" && pwd)
out=$2
shift 2
mkdir -p "$out"
work=${FW_NN_WORK:-$(mktemp -d)}
python=$(command -v python3 || true)
finds_torch='import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)'
if [ -z "$python" ] || ! "$python" -c "$finds_torch"; then
	python=/opt/torch/.venv/bin/python3
fi
status=0
timeout "${FW_NN_LIMIT:-300}" "$python" -B "$here/check.py" "$bundle/gpu_nn" "$work" "$@" || status=$?
cp "$work"/*.json "$work"/*.log "$out/" 2>/dev/null || true
exit $status
