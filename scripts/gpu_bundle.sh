#!/bin/sh
# gpu_bundle.sh BUILD_DIR TARGET_DIR: collects what runs on a GPU host that cannot build it: the release as `make dist`
# packs it (bin/, lib/, share/), the test programs gpu_*, the library that `fullwarp record` is measured against, and the
# CUDA programs of tests/gpu/record, where nvcc is found. TARGET_DIR/fullwarp is a link to the command.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=$1 target=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$target/lib"
"$source/scripts/make_dist.sh" "$build" "$work" >"$work/log" || { cat "$work/log" >&2; exit 1; }
tar -C "$target" --strip-components=1 -xzf "$(tail -n 1 "$work/log")"
ln -sf bin/fullwarp "$target/fullwarp"
for binary in "$build"/tests/gpu/gpu_*; do
	if [ ! -f "$binary" ] || [ ! -x "$binary" ]; then continue; fi
	cp "$binary" "$target/"
	strip "$target/$(basename "$binary")"
	patchelf --force-rpath --set-rpath '$ORIGIN/lib' "$target/$(basename "$binary")"
	ldd "$binary" | awk '$3 ~ /^\// { print $3 }' | grep -vE '/(libc|libm|libdl|libpthread|librt|libgcc_s)\.so' |
		xargs -r -I{} cp -Ln {} "$target/lib/"
done
find "$build" -name libfloor_inject.so -exec cp {} "$target/lib/" \;
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ -x "$nvcc" ]; then
	"$nvcc" -O2 -std=c++17 -arch=sm_90 -cudart static -Xcompiler -static-libstdc++,-static-libgcc \
		-o "$target/known_work" "$source/tests/gpu/record/known_work.cu"
	# A program that profiles itself, linked with CUPTI and without.
	for way in -DSELF_IS_LINKED -USELF_IS_LINKED; do
		name=self_profile library=-lcupti
		[ $way = -DSELF_IS_LINKED ] || name=self_profile_dlopen library=
		"$nvcc" -O2 -arch=sm_90 -cudart static -Xcompiler -static-libstdc++,-static-libgcc $way -I "$source/tests/record" \
			-o "$target/$name" "$source/tests/record/self_profile.c" "$source/tests/gpu/record/self_profile_work.cu" \
			-Xlinker -rpath,/usr/local/cuda/lib64:/usr/local/cuda/extras/CUPTI/lib64 $library -lpthread -ldl
	done
fi
for file in bin/fullwarp lib/fullwarp/libfullwarp_inject.so share/fullwarp/python/sitecustomize.py lib/libfloor_inject.so \
	known_work self_profile self_profile_dlopen; do
	[ -e "$target/$file" ] || echo "gpu_bundle.sh: without $file" >&2
done
