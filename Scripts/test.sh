#!/usr/bin/env bash
# Sets up, builds and runs all tests; arguments go to `swift test`, e.g. Scripts/test.sh --filter DateFormat
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. Scripts/setup.sh
swift build --build-tests

# The tests' files go into a folder that goes with them.
TMPDIR="$(mktemp -d)"
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
swift test --skip-build "$@"
