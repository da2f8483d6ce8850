#!/bin/sh
# compile.sh NVCC TUNE_POINTS KERNEL.cu COUNT SEED: the default configuration and COUNT random ones compile for sm_90,
# and so does the source alone.
set -e
nvcc=$1 tool=$2 source=$3
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$nvcc" -std=c++17 -arch=sm_90 -cubin -o "$out" "$source"
[ "${4:-}" ] || exit 0
"$tool" "$source" "$4" "$5" | sed -n 's/.*"options": \[\([^]]*\)\].*/\1/p' | sed 's/", "/" "/g' | while read -r options; do
	echo "$options"
	# nvcc splits options at commas, NVRTC does not.
	options=$(echo "$options" | sed 's/__(\([0-9]*\), /__(\1\\\\, /')
	eval "\"$nvcc\" -std=c++17 -arch=sm_90 -cubin -o \"$out\" $options \"$source\""
done
