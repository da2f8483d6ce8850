#!/bin/sh
# sizes.sh: on Debian 12, prints how much the packages of each container file add to the base image, in MB, as apt's own
# figures say (Installed-Size of every package that it would install and debian:12-slim does not have). Builds nothing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What apt would install on an empty system.
closure() {
	apt-get install -s -o Dir::State::status=/dev/null --no-install-recommends "$@" 2>/dev/null |
		sed -n 's/^Inst \([^ ]*\).*/\1/p' | sort -u
}

# The packages of the last stage: words after "apt-get install" up to "&&", without options.
wanted() {
	awk '/^FROM/ { text = "" } { text = text " " $0 } END { print text }' "$1" |
		sed -n 's/.*apt-get install \([^&]*\).*/\1/p' | tr -s ' \\' '\n\n' | grep -vE '^(-.*)?$'
}

essential=$(apt-cache dumpavail | awk '/^Package:/ { name = $2 } /^Essential: yes/ { print name }')
closure apt base-files $essential >"$work/base"
for file in "$here"/*.Containerfile; do
	closure $(wanted "$file") >"$work/all"
	comm -13 "$work/base" "$work/all" >"$work/new"
	kb=$(xargs apt-cache show --no-all-versions <"$work/new" | awk '/^Installed-Size:/ { sum += $2 } END { print sum }')
	printf '%-28s %3d packages %5d MB\n' "$(basename "$file")" "$(wc -l <"$work/new")" $((kb / 1000))
done
