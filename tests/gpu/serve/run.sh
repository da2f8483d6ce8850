#!/bin/sh
# run.sh BUNDLE OUT: on a host with a GPU, cuDNN, and a Python with Pillow and numpy: the pipeline's classes and probabilities
# on the GPU against the CPU's, for every combination of its switches, then the command. BUNDLE is made by
# scripts/gpu_bundle.sh. About a minute. Writes OUT/pipeline.json, logs, the tables of what was measured and chosen.
# FW_PIPELINE_ENGINE=onednn tries the script without a GPU.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bundle=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
engine=${FW_PIPELINE_ENGINE:-cudnn}
work=${FW_PIPELINE_WORK:-$(mktemp -d)}
has_pillow='import numpy, PIL'
for python in python3 /opt/torch/.venv/bin/python3 /usr/bin/python3; do
	"$python" -c "$has_pillow" 2>/dev/null && break
done
models="$here/../../nn/make_model.py"
"$python" -B "$here/make_images.py" "$work/images" "${FW_PIPELINE_IMAGES:-200}"
"$python" -B "$models" resnet18 --width 0.25 --classes 100 --dynamic -o "$work/small.onnx" >/dev/null
"$python" -B "$models" resnet50 --dynamic -o "$work/resnet50.onnx" >/dev/null
status=0
if [ "$engine" = cudnn ]; then
	echo "== the kernels alone"
	timeout 100 "$bundle/gpu_preprocess" >"$out/preprocess.log" 2>&1 || { status=1; echo "FAILED"; }
	cat "$out/preprocess.log"
	echo "== nvJPEG"
	timeout 100 "$bundle/gpu_nvjpeg" >"$out/nvjpeg.log" 2>&1 || [ $? = 77 ] || { status=1; echo "FAILED"; }
	cat "$out/nvjpeg.log"
fi
echo "== every combination of switches, a small network"
timeout 200 "$bundle/gpu_pipeline" "$engine" "$work/small.onnx" "$work/images" all >"$out/pipeline.json" 2>"$out/pipeline.log" ||
	{ status=1; echo "FAILED"; }
tail -n 60 "$out/pipeline.log"
echo "== ResNet-50, the presets"
timeout 200 "$bundle/gpu_pipeline" "$engine" "$work/resnet50.onnx" "$work/images" presets >"$out/resnet50.json" \
	2>"$out/resnet50.log" || { status=1; echo "FAILED"; }
cat "$out/resnet50.log"
echo "== the command"
"$bundle/bin/fullwarp-serve" classify "$work/resnet50.onnx" "$work/images" --engine "$engine" --explain-tuning --autotune 1 --cache "$out/cache" \
	--format csv -o "$out/classes.csv" 2>"$out/classify.log" || {
	[ "$engine" = onednn ] && "$bundle/bin/fullwarp-serve" classify "$work/resnet50.onnx" "$work/images" --engine onednn \
		--explain-tuning -o "$out/classes.csv" 2>"$out/classify.log" || { status=1; echo "FAILED"; }
}
cat "$out/classify.log"
exit $status
