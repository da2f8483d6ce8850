#!/bin/sh
# launch_bounds.sh NVCC PROGRAM SOURCE: compiles SOURCE for every target that nvcc knows of ours, and has
# PROGRAM compare the register caps.
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
for cc in 75 80 86 89 90 100 110 120; do
	"$1" --list-gpu-code | grep -q "sm_$cc$" || continue
	"$1" -w -cubin -arch=sm_$cc -o "$scratch/sm_$cc.cubin" "$3" 2>"$scratch/log" || { cat "$scratch/log"; exit 1; }
done
"$2" "$scratch"/*.cubin
