#!/usr/bin/env bash
# Sets up, builds and runs all tests, and a small part of the torture; arguments go to `swift test`, and then only what they
# name is run, e.g. Scripts/test.sh --filter DateFormat
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Some tests want a PostgreSQL server.
dragoman_server=yes
. Scripts/setup.sh
swift build --build-tests

# The tests' files go into a folder that goes with them.
TMPDIR="$(mktemp -d)"
export TMPDIR
# Others than this user look into this one.
second="$(mktemp -d /tmp/dragoman-postgresql-XXXXXX)"
trap 'rm -rf "$TMPDIR" "$second"' EXIT
[ $# -gt 0 ] || dragoman_setup_second_server "$second"
# No server, no green: setup.sh has installed one where it can.
if command -v apt-get >/dev/null || command -v brew >/dev/null; then export DRAGOMAN_SERVER_TESTS=1; fi
# Failures are told once more at the end, below thousands of lines of tests that pass.
log="$TMPDIR/tests.log"
if ! swift test --skip-build "$@" 2>&1 | tee "$log"; then
  printf '\nWhat failed:\n'
  grep -a -E '✘|↳|^error:|Fatal error' "$log" || tail -n 40 "$log"
  exit 1
fi
if [ $# -eq 0 ] && command -v python3 >/dev/null; then
  python3 Scripts/torture/run.py --tool "$(swift build --show-bin-path)/dragoman" --small
fi
