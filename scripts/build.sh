#!/usr/bin/env bash
# Configures and builds one preset quietly: build.sh PRESET [TARGET…]. Prints output only on
# failure.
set -euo pipefail
cd "$(dirname "$0")/.."

# Lets ccache reuse objects from other checkouts: paths are hashed relative to the project.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

preset=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
targets=()
[ "$#" -eq 0 ] || targets=(--target "$@")
if ! { cmake --preset "$preset" && cmake --build --preset "$preset" "${targets[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
grep -E 'warning:' "$log" >&2 || true
