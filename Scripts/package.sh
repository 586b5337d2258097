#!/usr/bin/env bash
# Builds the tool for machines of the same distribution that have no Swift: a tarball with the tool, the
# libraries that it needs besides the C library, the completions and the man pages.
#
#   Scripts/package.sh            .build/package/dragoman-VERSION-linux-ARCHITECTURE.tar.gz
#   Scripts/package.sh --check    the same, and starts it where there is nothing but the C library
#
# Swift's own libraries are in the tool.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[ "$(uname -s)" = Linux ] || {
  echo "The package is made on Linux; elsewhere: swift build -c release --product dragoman" >&2
  exit 69
}
check=${1:-}
[ -z "$check" ] || [ "$check" = --check ] || {
  echo "usage: Scripts/package.sh [--check]" >&2
  exit 64
}
. Scripts/setup.sh

scratch=.build/package/build
# FoundationNetworking, which a library of the console refers to, is linked with libcurl; its name for linkers comes
# with the development package, which nothing else needs.
mkdir -p .build/package/link
libcurl=$(ldconfig -p | awk '/libcurl\.so\.4 / { print $NF; exit }')
[ -n "$libcurl" ] || {
  echo "There is no libcurl (Debian: libcurl4)." >&2
  exit 69
}
ln -sf "$libcurl" .build/package/link/libcurl.so
options=(-c release --product dragoman --static-swift-stdlib --scratch-path "$scratch"
  -Xlinker --disable-new-dtags -Xlinker -rpath -Xlinker "\$ORIGIN/../lib" -Xlinker -L"$PWD/.build/package/link" -Xlinker -s)
swift build "${options[@]}" >&2
built=$(swift build "${options[@]}" --show-bin-path)/dragoman

version=$("$built" --version)
name=dragoman-$version-linux-$(uname -m)
root=.build/package/$name
rm -rf "$root"
mkdir -p "$root"/{bin,lib,share/man/man1,share/bash-completion/completions,share/zsh/site-functions}
mkdir -p "$root/share/fish/vendor_completions.d"
cp "$built" "$root/bin/"

# The C library and its loader are the system's: they belong together.
of_the_system='/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv|util))\.so'
ldd "$built" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | grep -Ev "$of_the_system" |
  while read -r library; do cp -L "$library" "$root/lib/"; done
chmod 644 "$root"/lib/*

cp man/*.1 "$root/share/man/man1/"
"$built" completion bash >"$root/share/bash-completion/completions/dragoman"
"$built" completion zsh >"$root/share/zsh/site-functions/_dragoman"
"$built" completion fish >"$root/share/fish/vendor_completions.d/dragoman.fish"
cp LICENSE README.md CHANGELOG.md "$root/"
tar -C .build/package --owner=0 --group=0 --sort=name -czf ".build/package/$name.tar.gz" "$name"
echo ".build/package/$name.tar.gz ($(du -h ".build/package/$name.tar.gz" | cut -f 1))"
[ "$check" = --check ] || exit 0

# A root with the tarball, a feed and the C library, and nothing else.
bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
tar -C "$bare" -xzf ".build/package/$name.tar.gz"
mkdir -p "$bare"/{tmp,etc,proc}
cp -r Maps SampleData "$bare/"
{
  ldd "$built" | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }' |
    grep -E "$of_the_system"
  # The loader also stands where programs look for it.
} | while read -r library; do
  mkdir -p "$bare$(dirname "$library")"
  cp -L "$library" "$bare$library"
done
# The loader asks /proc where the tool is.
enter() {
  unshare --map-root-user --pid --fork --mount-proc --root="$bare" --wd=/tmp "/$name/bin/dragoman" "$@"
}
[ "$(enter --version)" = "$version" ]
enter import /Maps/people.map.yaml /SampleData/people.json -d /tmp/people.db --quiet
enter import /Maps/people.map.yaml /SampleData/people.xml -d /tmp/people.db --quiet
[ "$(enter fetch Person -d /tmp/people.db --count)" = 12 ]
enter import /Maps/stations.map.yaml /SampleData/stations.csv -d /tmp/people.db --quiet
[ "$(enter export /Maps/people.map.yaml -d /tmp/people.db -f ndjson | wc -l)" = 12 ]
echo "It runs where there is nothing but the C library."
