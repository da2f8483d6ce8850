#!/bin/sh
# gpu_bundle.sh BUILD_DIR TARGET_DIR: collects the release binaries that run on a GPU host, with their shared libraries
# (not the C library's), for a host that cannot build them.
set -eu
build=$1 target=$2
mkdir -p "$target/lib"
cp "$build/fullwarp" "$build"/tests/gpu/gpu_* "$target/"
for binary in "$target"/fullwarp "$target"/gpu_*; do
	ldd "$binary" | awk '$3 ~ /^\// { print $3 }'
done | sort -u | grep -vE '/(libc|libm|libdl|libpthread|librt|libgcc_s)\.so' | xargs -I{} cp -L {} "$target/lib/"
