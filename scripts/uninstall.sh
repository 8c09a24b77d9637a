#!/usr/bin/env bash
# Takes back what `cmake --install build/release --prefix PREFIX` has brought: its files, and folders that are empty then.
#
#   scripts/uninstall.sh PREFIX [BUILD]     BUILD: the folder that was built in; build/release without one
set -euo pipefail
prefix=$(realpath -m "${1:?uninstall.sh PREFIX: the prefix that it was installed below}")
cd "$(dirname "$0")/.."

# What would be installed is what was.
list=$(mktemp -d)
trap 'rm -rf "$list"' EXIT
DESTDIR=$list cmake --install "${2:-build/release}" --prefix "$prefix" >/dev/null
cd "$prefix"
(cd "$list$prefix" && find . -not -type d -print0) | xargs -0 rm -f --
(cd "$list$prefix" && find . -mindepth 1 -depth -type d -print0) | while IFS= read -r -d '' folder; do
  [ ! -d "$folder" ] || rmdir --ignore-fail-on-non-empty -- "$folder"
done
