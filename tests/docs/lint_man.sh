#!/bin/sh
# lint_man.sh ROOT: mandoc has no warning about a man page.
command -v mandoc >/dev/null || { echo "skipped: mandoc is not installed"; exit 77; }
cd "$1/docs/man" || { echo "skipped: there is no man page"; exit 77; }
for page in *.1; do
	[ -f "$page" ] && set -- "$@" "$page"
done
shift
[ $# = 0 ] || mandoc -Tlint -Wwarning "$@"
