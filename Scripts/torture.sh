#!/usr/bin/env bash
# Distrusts the tool: kills, full and broken disks, hostile input, damaged stores, company, growth (minutes).
# Arguments go to Scripts/torture/run.py: --long (hours), --only NAME, --seed N, --write, --help.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. Scripts/setup.sh
command -v python3 >/dev/null || {
  echo "The harness needs python3." >&2
  exit 69
}
swift build -c release --product dragoman >&2
exec python3 Scripts/torture/run.py --tool "$(swift build -c release --show-bin-path)/dragoman" "$@"
