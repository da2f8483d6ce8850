#!/bin/sh
# make_dist.sh BUILD OUT: packs what BUILD installs into OUT/fullwarp-<version>-linux-<machine>.tar.gz, together with
# private copies of the shared libraries that it needs, so that it runs from any folder of any distribution whose
# glibc is 2.34 or newer. Prints the tarball's name last.
set -eu
build=$1
out=$2
source=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n 's/^#define FW_VERSION *"\(.*\)"/\1/p' "$source/include/fullwarp/fullwarp.h")
name=fullwarp-$version-linux-$(uname -m)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
top=$stage/$name

cmake --install "$build" --prefix "$top" --strip >/dev/null

is_program() { [ -f "$1" ] && [ ! -L "$1" ] && [ "$(head -c 4 "$1" | tail -c 3)" = ELF ]; }
needed() { objdump -p "$1" | sed -n 's/^ *NEEDED *//p'; }
resolve() { ldd "$1" | sed -n "s|^[[:space:]]*$2 => \(/[^ ]*\) .*|\1|p"; }

# Copies what a program needs below lib/, except glibc and the run-times of C and C++, which belong to the system it runs
# on: a copy of Debian's would need a newer glibc than the programs.
copy_libraries() {
	for library in $(needed "$1"); do
		case $library in
		libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | ld-linux*) continue ;;
		libgcc_s.so.* | libstdc++.so.*) continue ;;
		esac
		[ -e "$top/lib/$library" ] && continue
		path=$(resolve "$1" "$library")
		[ "$path" ] || { echo "make_dist.sh: $1 needs $library, which is not found" >&2; exit 1; }
		cp -L "$path" "$top/lib/$library"
		copy_licence "$path"
		copy_libraries "$path"
	done
}

# A library's licence goes with its copy.
copy_licence() {
	package=$(dpkg-query -S "$(realpath "$1")" "$1" 2>/dev/null | head -n 1 | sed 's/:.*//') || true
	if [ -n "$package" ] && [ -f "/usr/share/doc/$package/copyright" ]; then
		mkdir -p "$top/share/doc/fullwarp/licences"
		cp -L "/usr/share/doc/$package/copyright" "$top/share/doc/fullwarp/licences/$package"
	fi
}

for file in "$top"/bin/* "$top"/lib/*.so*; do
	is_program "$file" && copy_libraries "$file"
done

# DT_RPATH, not DT_RUNPATH: the private copies win over another zlib in LD_LIBRARY_PATH (conda sets one).
for file in "$top"/bin/* "$top"/lib/*.so*; do
	is_program "$file" || continue
	case $file in
	*/bin/*) patchelf --force-rpath --set-rpath '$ORIGIN/../lib' "$file" ;;
	*) patchelf --force-rpath --set-rpath '$ORIGIN' "$file" ;;
	esac
	set -- "$@" "$file"
done
shift 2
python3 -B "$source/scripts/check_symbols.py" "$@"

# The same commit gives the same bytes.
when=$(git -C "$source" log -1 --format=%ct 2>/dev/null) || when=0
tarball=$out/$name.tar.gz
tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$when" -cf - "$name" | gzip -9n >"$tarball.part"
mv "$tarball.part" "$tarball"
echo "$tarball"
