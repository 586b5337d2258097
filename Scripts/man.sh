#!/bin/sh
# Writes the manual pages into man/ by the built tool; a test holds them to it.
set -eu
cd "$(dirname "$0")/.."
swift build --product dragoman
mkdir -p man
rm -f man/*.1
"$(swift build --show-bin-path)/dragoman" man man
