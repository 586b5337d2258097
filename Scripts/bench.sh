#!/usr/bin/env bash
# Builds Dragoman, the yardstick and the peers, and runs the comparison of Benchmarks/run.py.
# Arguments go there: --records N, --runs N, --only NAME, --big, --growth, --contexts, --links,
# --export, --console, --server, --help.
# A peer that cannot be built or installed here stands in the table as not installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. Scripts/setup.sh
command -v python3 >/dev/null || {
  echo "The benchmarks need python3." >&2
  exit 69
}
mkdir -p .build/bench
swift build -c release --product dragoman >&2

for name in limit orders export update; do
  if [ "Benchmarks/yardstick/$name.cpp" -nt ".build/bench/$name" ]; then
    g++ -O3 -std=c++20 "Benchmarks/yardstick/$name.cpp" -o ".build/bench/$name" -lsimdjson -lsqlite3
  fi
done
if [[ " $* " == *" --server "* ]] && command -v pg_config >/dev/null; then
  g++ -O3 -std=c++20 Benchmarks/yardstick/server.cpp -o .build/bench/server \
    -I"$(pg_config --includedir)" -L"$(pg_config --libdir)" -lsimdjson -lpq
fi
if [[ " $* " == *" --contexts "* ]]; then
  swift build -c release --package-path Benchmarks/Contexts >&2
fi
swift build -c release --package-path Benchmarks/GRDBCodable >&2 ||
  echo "GRDBCodable does not build here; it is left out." >&2
if [ ! -x .build/bench-venv/bin/python ]; then
  python3 -m venv .build/bench-venv ||
    echo "There is no venv module; the Python peers are left out." >&2
fi
for package in duckdb orjson sqlite-utils 'dlt[sqlalchemy]'; do
  module=${package%%[*}
  .build/bench-venv/bin/python -c "import ${module//-/_}" 2>/dev/null ||
    .build/bench-venv/bin/python -m pip install --quiet --disable-pip-version-check "$package" ||
    echo "$package cannot be installed here; it is left out." >&2
done
exec python3 Benchmarks/run.py "$@"
