#!/bin/sh
# fuzz.sh TARGET SECONDS: runs tests/fuzz/fuzz_TARGET.c under libFuzzer. What it finds worth keeping goes to
# build/fuzz/found/TARGET, a crash to build/fuzz/crash-*; neither touches the corpus in tests/.
set -eu
target=$1
seconds=$2
if [ ! -f "tests/fuzz/fuzz_$target.c" ]; then
	echo "usage: make fuzz TARGET=name SECONDS=60, with the name one of:" >&2
	for source in tests/fuzz/fuzz_*.c; do
		[ -f "$source" ] && basename "$source" .c | sed 's/^fuzz_/    /' >&2
	done
	exit 2
fi
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "fuzz_$target"
mkdir -p "build/fuzz/found/$target"
exec "build/fuzz/tests/fuzz_$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 \
	-artifact_prefix=build/fuzz/ -print_final_stats=1 "build/fuzz/found/$target" "tests/fuzz/corpus/$target"
