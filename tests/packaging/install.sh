#!/bin/sh
# install.sh SOURCE BUILD: installs below a folder with a space in its name, and builds a C program against that.
set -eu
source=$1
build=$2
fail() { echo "$*" >&2; exit 1; }
for tool in cc pkg-config; do
	command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

DESTDIR="$scratch/a root" cmake --install "$build" --prefix /opt/fw >/dev/null
top="$scratch/a root/opt/fw"
"$top/bin/fullwarp" --version | grep -q '^fullwarp [0-9]' || fail "the installed command does not run"
for page in "$source"/docs/man/*.1; do
	[ -f "$page" ] || continue
	[ -f "$top/share/man/man1/$(basename "$page")" ] || fail "$page is not installed"
done
for header in "$source"/include/fullwarp/*.h; do
	[ -f "$top/include/fullwarp/$(basename "$header")" ] || fail "$header is not installed"
done

for module in $(cd "$source/python" && find . -name '*.py'); do
	[ -f "$top/share/fullwarp/python/$module" ] || fail "python/$module is not installed"
done

mv "$top" "$scratch/moved"
cat >"$scratch/use.c" <<'C'
#include <fullwarp/fullwarp.h>
#include <stdio.h>
int main(void)
{
	return printf("%s\n", fw_version()) < 0;
}
C
pc=$(find "$scratch/moved" -name fullwarp.pc)
[ "$pc" ] || fail "fullwarp.pc is not installed"
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs fullwarp)
cc -o "$scratch/use" "$scratch/use.c" $flags
libdir=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --variable=libdir fullwarp)
said=$(LD_LIBRARY_PATH=$libdir "$scratch/use")
wanted=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --modversion fullwarp)
[ "$said" = "$wanted" ] || fail "the library says $said, fullwarp.pc says $wanted"
exported=$(nm -D --defined-only "$libdir/libfullwarp.so" | awk '$3 !~ /^fw_/ { print $3 }')
[ -z "$exported" ] || fail "libfullwarp.so exports what is not ours: $exported"
