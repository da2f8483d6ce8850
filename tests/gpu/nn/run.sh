#!/bin/sh
# run.sh BUNDLE OUT [NETWORK...]: on a host with a GPU, PyTorch, onnx and onnxruntime: the cudnn engine's results on 1,000
# pictures of 1,000 classes against PyTorch's, ONNX Runtime's, the CPU engine's and its own at batch 1, 8 and 64. BUNDLE is
# made by scripts/gpu_bundle.sh. Seconds: resnet50 and mobilenet_v2 70 each, the others (squeezenet1_1, vgg11_bn,
# resnext50_32x4d, resnet18, densenet121, efficientnet_b0, mobilenet_v3_large, vit_b_16) 40 each; without a name, all.
# Writes OUT/check.json and logs; prints a table. FW_NN_LIMIT is the time limit in seconds (default 560).
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
timeout "${FW_NN_LIMIT:-560}" "$python" -B "$here/check.py" "$bundle/gpu_nn" "$work" "$@" || status=$?
cp "$work"/*.json "$work"/*.log "$out/" 2>/dev/null || true
exit $status
