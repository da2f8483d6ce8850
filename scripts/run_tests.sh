#!/bin/sh
# run_tests.sh PRESET [CTEST-OPTION...]: builds a preset, runs its tests, names the failed and the skipped ones with
# their reason, and ends with a line 'N passed, N failed, N skipped'.
set -eu
preset=$1
shift
results=build/$preset/tests.xml
rm -f "$results"
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset"
status=0
# One more than there are cores: many tests wait for a time to pass.
ctest --preset "$preset" -j"$(($(nproc) + 1))" --output-junit "$PWD/$results" "$@" || status=$?
scripts/count_tests.py "$results" || status=1
exit $status
