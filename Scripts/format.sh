#!/usr/bin/env bash
# Formats the Swift sources in place; with --check says what is not in the house style, and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sources=(Package.swift Sources Tests Benchmarks/GRDBCodable/Package.swift Benchmarks/GRDBCodable/Sources
  Scripts/torture/fuzz/Package.swift Scripts/torture/fuzz/Sources)
case ${1-} in
  "") swift format format --in-place --parallel --recursive --configuration .swift-format "${sources[@]}" ;;
  --check)
    swift format lint --strict --parallel --recursive --configuration .swift-format "${sources[@]}"
    echo "The sources are in the house style."
    ;;
  *)
    echo "usage: Scripts/format.sh [--check]" >&2
    exit 64
    ;;
esac
