#!/usr/bin/env bash
# Sets up, builds and runs all tests; arguments go to `swift test`, e.g. Scripts/test.sh --filter DateFormat
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. Scripts/setup.sh
swift build --build-tests
swift test --skip-build "$@"
