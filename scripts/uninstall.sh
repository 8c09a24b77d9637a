#!/usr/bin/env bash
# Removes what `cmake --install build/release --prefix PREFIX` installed: its files, and folders
# that are then empty.
#
#   scripts/uninstall.sh PREFIX [BUILD]
#     BUILD: the build folder; default: build/release
set -euo pipefail
prefix=$(realpath -m "${1:?uninstall.sh PREFIX: the prefix that it was installed below}")
cd "$(dirname "$0")/.."

# Another installation would install the same files, which gives the list.
list=$(mktemp -d)
trap 'rm -rf "$list"' EXIT
DESTDIR=$list cmake --install "${2:-build/release}" --prefix "$prefix" >/dev/null
cd "$prefix"
(cd "$list$prefix" && find . -not -type d -print0) | xargs -0 rm -f --
(cd "$list$prefix" && find . -mindepth 1 -depth -type d -print0) | while IFS= read -r -d '' folder; do
  [ ! -d "$folder" ] || rmdir --ignore-fail-on-non-empty -- "$folder"
done
