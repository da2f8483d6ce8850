#!/bin/sh
# run.sh BIN CASE_DIR: runs CASE_DIR/cmd in a scratch folder and compares what it prints (stdout, then
# stderr) and its exit code with CASE_DIR/stdout. UPDATE=1 rewrites that file. Exit 77 in cmd: skipped.
set -u
bin=$(cd "$(dirname "$1")" && pwd)
case=$(cd "$2" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/work"
(cd "$scratch/work" && CASE="$case" COLUMNS=100 LC_ALL=C.UTF-8 PATH="$bin:$PATH" sh "$case/cmd" >"$scratch/out" 2>"$scratch/err")
status=$?
[ "$status" = 77 ] && { cat "$scratch/out" "$scratch/err"; exit 77; }
{
	cat "$scratch/out"
	[ -s "$scratch/err" ] && { echo "--- stderr"; cat "$scratch/err"; }
	echo "--- exit $status"
} >"$scratch/got"
[ "${UPDATE:-}" ] && cp "$scratch/got" "$case/stdout"
diff -u "$case/stdout" "$scratch/got"
