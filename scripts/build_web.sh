#!/usr/bin/env bash
# Builds the program's libraries as WebAssembly into build/web, for `attn-demo page --alone` (docs/page.md). It needs
# emscripten (Debian: apt-get install emscripten), which nothing else here does. Output only when it fails.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v emcmake >/dev/null; then
  echo "emscripten is not installed, and the page that translates alone needs it; as root: apt-get install emscripten" >&2
  exit 1
fi
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
# Debian's emscripten finds a parser of JavaScript there, and says so nowhere.
export NODE_PATH=${NODE_PATH:-/usr/share/nodejs}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { emcmake cmake -S web -B build/web -G Ninja -DCMAKE_BUILD_TYPE=None && cmake --build build/web; } >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
