#!/bin/sh
# dist.sh SOURCE BUILD: the tarball runs from another folder, with a foreign LD_LIBRARY_PATH, on its own copies of the
# libraries, and says what the build itself says.
set -eu
source=$1
build=$2
fail() { echo "$*" >&2; exit 1; }
for tool in patchelf objdump python3; do
	command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

tarball=$(sh "$source/scripts/make_dist.sh" "$build" "$scratch" | tail -n 1)
mkdir "$scratch/else where"
tar -C "$scratch/else where" -xzf "$tarball"
rm "$tarball"
top=$(echo "$scratch/else where"/fullwarp-*)
fullwarp=$top/bin/fullwarp

# Another zlib that is no library at all stands in the way, as a conda environment's could.
mkdir "$scratch/foreign"
for library in "$top"/lib/lib*.so.*; do
	echo "not a library" >"$scratch/foreign/$(basename "$library")"
done
clean() { env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 COLUMNS=100 "$@"; }
clean "$fullwarp" --version | grep -q '^fullwarp [0-9]' || fail "it does not run"
clean LD_LIBRARY_PATH="$scratch/foreign" "$fullwarp" --version >/dev/null || fail "it takes foreign libraries"

outside=$(clean ldd "$fullwarp" | grep '=>' | grep -vE "=> $top/(bin/\.\./)?lib/" | grep -vE '^\s*lib(c|m|dl|pthread|rt)\.so' || true)
[ -z "$outside" ] || fail "it takes libraries of this system: $outside"

if [ -x "$build/fullwarp-serve" ]; then
	clean LD_LIBRARY_PATH="$scratch/foreign" "$top/bin/fullwarp-serve" --version >/dev/null || fail "fullwarp-serve does not run"
	clean ldd "$fullwarp" | grep -E 'dnnl|protobuf' && fail "fullwarp needs libraries of fullwarp-serve"
fi

trace=$(ls "$source"/examples/*.json.gz "$source"/examples/*.json 2>/dev/null | head -n 1)
if [ "$trace" ]; then
	clean "$fullwarp" report "$trace" >"$scratch/there"
	clean "$build/fullwarp" report "$trace" >"$scratch/here"
	cmp "$scratch/there" "$scratch/here" || fail "its report differs from the build's"
fi

# From there too, record finds what it loads into programs.
if [ -f "$top/lib/fullwarp/libfullwarp_inject.so" ]; then
	clean "$fullwarp" record -o "$scratch/out" sh -c 'echo "$CUDA_INJECTION64_PATH"; echo "$PYTHONPATH"' \
		>"$scratch/found" 2>"$scratch/said" || fail "record does not run: $(cat "$scratch/said")"
	printf '%s\n' "$top/lib/fullwarp/libfullwarp_inject.so" "$top/share/fullwarp/python" | cmp - "$scratch/found" ||
		fail "record finds other parts: $(cat "$scratch/found")"
fi
