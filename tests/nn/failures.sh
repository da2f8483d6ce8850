#!/bin/sh
# failures.sh NN_RUN_MODEL: what the CPU engine cannot do is refused with words, and running out of memory is an error
# like any other. Under the address sanitizer, which reserves terabytes, the limits of memory are left out.
set -eu
run=$1
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
model=$folder/model.onnx
python3 -B "$here/make_model.py" resnet18 -o "$model" --dynamic --image 32
head -c $((3 * 32 * 32 * 4)) /dev/zero >"$folder/in"

# expect WORDS OPTION...: the run fails with status 1 and these words.
expect() {
	words=$1
	shift
	said=$("$run" "$model" "$folder/in" "$folder/out" "$@" 2>&1) && status=0 || status=$?
	case "$status $said" in
	1*"$words"*) ;;
	*)
		echo "expected status 1 and '$words', got $status: $said"
		exit 1
		;;
	esac
}

"$run" "$model" "$folder/in" "$folder/out"
expect "no engine 'tensorrt'" engine=tensorrt
expect "has no fp16" precision=fp16
expect "not loaded for batch size 5" batches=1,2 batch=5
ONEDNN_MAX_CPU_ISA=AVX2 expect "has no bf16" precision=bf16
expect "is asked for twice" batches=2,2

if ! nm "$run" | grep -q __asan_init; then
	# ResNet-18 is 45 MB of constants in the file, and as much packed. The reader takes an allocation that failed for a
	# damaged file; below that the libraries themselves do not fit.
	failed=0
	for limit in 120 140 150 160 170 180 190 200 210 1000; do
		said=$( (ulimit -v $((limit * 1024)) && "$run" "$model" "$folder/in" "$folder/out") 2>&1) && continue
		status=$?
		case "$status $said" in
		"1 out of memory"*) failed=$((failed + 1)) ;;
		1*"no ONNX model"* | 127*) ;;
		*)
			echo "with $limit MB: status $status: $said"
			exit 1
			;;
		esac
	done
	[ $failed -ge 2 ] || { echo "only $failed limits were too small: choose others"; exit 1; }
	echo "$failed limits of memory were errors"
fi
