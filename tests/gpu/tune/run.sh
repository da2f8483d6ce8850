#!/bin/sh
# run.sh BUNDLE OUT [PART...]: fullwarp tune on a host with a GPU and NVRTC. BUNDLE is what scripts/gpu_bundle.sh makes.
# Writes OUT/tune.json, OUT/caches.tgz and OUT/tune.log; prints a table last. Parts, with what each costs on an H200 with
# 16 cores (estimates; each part has a time limit, and what one leaves undone the table shows as missing):
#   check   10 s   the kernel that compares outputs against its definition
#   faults  60 s   a kernel with planted faults: each is found, named, and survived
#   live    90 s   fullwarp tune on every example, budget 200
#   rerun  100 s   the winners of live ten times, each time in a fresh process with fresh inputs; and the default
#   peer   150 s   Kernel Tuner, same source, space and budget (needs its wheels, numpy and CuPy), and we at the same
#   brute  180 s   every configuration of every example, into caches
#   kinds   15 s   clusters and carve-outs, as the hardware has them; --n without a specification
# Environment: EXAMPLES (names), PEERS (names), BUDGET 200, PEER_BUDGET 100, SEED 1, POINTS 0 (brute: at most so many a space;
# 0: all), LIMIT: seconds for all parts together (480).
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
bundle=$(cd "$1" && pwd)
out=$2
shift 2
parts=${*:-check faults live rerun peer brute kinds}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
EXAMPLES=${EXAMPLES:-conv2d gemm hotspot nbody pnpoly reduction transpose}
PEERS=${PEERS:-conv2d gemm pnpoly transpose}
BUDGET=${BUDGET:-200} PEER_BUDGET=${PEER_BUDGET:-100} SEED=${SEED:-1} POINTS=${POINTS:-0} LIMIT=${LIMIT:-480}
fullwarp=$bundle/fullwarp brute=$bundle/gpu_tune_brute
start=$(date +%s)
exec 3>&1 >"$out/tune.log" 2>&1

say() {
	echo "[$(($(date +%s) - start)) s] $*" >&2
	echo "[$(($(date +%s) - start)) s] $*" >&3
}

# limited SECONDS COMMAND...: not longer than that, nor than what is left of LIMIT.
limited() {
	left=$((LIMIT - $(date +%s) + start))
	seconds=$1
	shift
	if [ "$left" -lt 5 ]; then say "no time left for: $1"; return 124; fi
	if [ "$left" -lt "$seconds" ]; then seconds=$left; fi
	timeout -k 5 "$seconds" "$@"
	status=$?
	if [ $status -ne 0 ]; then say "status $status: $*"; fi
	return $status
}

since() {
	python3 -c 'import sys, time; print("{\"wall_s\": %.3f}" % (time.time() - float(sys.argv[1])))' "$1"
}

part_check() {
	limited 60 "$bundle/gpu_tune_check" >"$work/check.json"
	cat "$work/check.json"
}

part_faults() {
	limited 90 "$brute" "$here/faults.cu" --hang 1 --cache "$work/faults.jsonl" --samples 3
	python3 "$here/verify_faults.py" "$work/faults.jsonl" >"$work/faults.txt" || say "a planted fault was not found"
	cat "$work/faults.txt"
	tail -n 1 "$work/faults.txt" >"$work/faults.json"
	limited 90 "$fullwarp" tune "$here/faults.cu" --budget 30 --cache "$work/faults-tune.jsonl" --format json \
		>"$work/faults-tune.json"
}

part_kinds() {
	limited 60 "$fullwarp" tune "$here/kinds.cu" --exhaustive --cache "$work/kinds-cache.jsonl" --format json \
		>"$work/kinds.json"
	limited 60 "$fullwarp" tune "$root/examples/tune/vector_add.cu" --kernel vector_add --n 1000000 \
		--cache "$work/simple-cache.jsonl" --format json >"$work/simple.json"
	limited 60 "$fullwarp" tune "$root/examples/tune/vector_add.cu" --n 50000000 --no-cache
}

part_live() {
	for e in $EXAMPLES; do
		begin=$(date +%s.%N)
		limited 60 "$fullwarp" tune "$root/examples/tune/$e.cu" --budget "$BUDGET" --seed "$SEED" \
			--cache "$work/live-$e.jsonl" --format json >"$work/live-$e.json"
		since "$begin" >"$work/live-$e.wall"
		say "live $e: $(python3 "$here/result.py" --winner "$work/live-$e.json")"
	done
}

part_rerun() {
	for e in $EXAMPLES; do
		winner=$(python3 "$here/result.py" --winner "$work/live-$e.json")
		preset=$(python3 "$here/result.py" --default "$work/live-$e.json")
		if [ -z "$winner" ]; then say "rerun $e: no winner"; continue; fi
		limited 60 "$brute" "$root/examples/tune/$e.cu" --config "$winner" --config "$preset" --runs 10 --samples 15 \
			>"$work/rerun-$e.json"
	done
}

part_peer() {
	for e in $PEERS; do
		limited 90 python3 "$here/kernel_tuner_run.py" "$root/examples/tune/$e.cu" "$PEER_BUDGET" "$SEED" \
			"$work/peer-$e.json"
		# The same budget and strategy from the command's start to its end, every output checked, race included.
		begin=$(date +%s.%N)
		limited 90 "$fullwarp" tune "$root/examples/tune/$e.cu" --budget "$PEER_BUDGET" --strategy random \
			--seed "$SEED" --no-cache --format json >"$work/own-$e.json"
		since "$begin" >"$work/own-$e.wall"
		# What both found, and the winner of live, by one measure.
		set -- "$root/examples/tune/$e.cu"
		for config in "$(python3 "$here/result.py" --peer "$work/peer-$e.json")" \
			"$(python3 "$here/result.py" --winner "$work/own-$e.json")" \
			"$(python3 "$here/result.py" --winner "$work/live-$e.json")"; do
			[ -n "$config" ] || continue
			case " $* " in *" $config "*) continue ;; esac
			set -- "$@" --config "$config"
		done
		limited 60 "$brute" "$@" --runs 3 --samples 15 >"$work/again-$e.json"
	done
}

part_brute() {
	for e in $EXAMPLES; do
		limited 120 "$brute" "$root/examples/tune/$e.cu" --points "$POINTS" --seed "$SEED" --samples 5 \
			--cache "$work/brute-$e.jsonl" >"$work/brute-$e.json"
		say "brute $e: $(cut -c1-160 "$work/brute-$e.json")"
	done
}

nvidia-smi --query-gpu=name,driver_version,clocks.sm,temperature.gpu --format=csv
for part in $parts; do
	say "part $part"
	"part_$part"
done
tar -C "$work" -czf "$out/caches.tgz" .
python3 "$here/result.py" "$work" "$out/tune.json" >"$work/table"
cat "$work/table"
cat "$work/table" >&3
say "done"
