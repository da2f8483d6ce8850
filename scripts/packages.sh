#!/bin/sh
# packages.sh build|serve|test|dist|fuzz|ci: installs the Debian packages that this job needs and that are missing, where it
# may (root, or sudo without a password); else prints the line to run and fails. Elsewhere than on Debian it only
# leaves the finding of libraries to CMake.
set -eu

build="gcc g++ cmake ninja-build pkg-config zlib1g-dev libzstd-dev liblz4-dev libsqlite3-dev libncurses-dev libmicrohttpd-dev"
# What fullwarp-serve needs; without it the profiler is built alone.
nn="libprotobuf-c-dev protobuf-c-compiler libdnnl-dev libjpeg62-turbo-dev libspng-dev libjansson-dev"
check="libcmocka-dev python3 python3-torch clang-format universal-ctags mandoc tmux procps $nn libonnx-testdata python3-pil curl"
case ${1:-} in
build) wanted=$build ;;
serve) wanted="$build $nn" ;;
test) wanted="$build $check" ;;
dist) wanted="$build binutils patchelf python3" ;;
fuzz) wanted="$build $check clang libclang-rt-14-dev" ;;
ci) wanted="$build $check clang libclang-rt-14-dev binutils patchelf python3-venv python3-torch git make prometheus" ;;
*) echo "usage: packages.sh build|serve|test|dist|fuzz|ci" >&2; exit 2 ;;
esac

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || exit 0

missing=
for package in $wanted; do
	# One word an architecture; "not-installed" is a word too.
	case " $(dpkg-query -W -f '${db:Status-Status} ' "$package" 2>/dev/null)" in
	*" installed "*) ;;
	*) missing="$missing $package" ;;
	esac
done
[ "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
	as_root="sudo -n"
else
	echo "Some packages are missing, and only root can install them. Run this, then try again:" >&2
	echo "    sudo $install" >&2
	exit 1
fi
echo "Installing$missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The lists may be old or absent; a failed update is only fatal if the packages cannot be installed either.
$as_root apt-get update >"$log" 2>&1 || true
if ! $as_root env DEBIAN_FRONTEND=noninteractive $install >>"$log" 2>&1 </dev/null; then
	cat "$log" >&2
	echo "Could not install the packages; the line to run is" >&2
	echo "    $install" >&2
	exit 1
fi
