#!/usr/bin/env bash
# Builds the program's libraries as WebAssembly into build/web, for `attn-demo page --alone` (docs/page.md). It installs
# emscripten where that is missing, which nothing else here needs. With a file as its argument it builds the program, too, and
# writes the page there: docs/try.html, which git ignores, for the Pages of a repository. Else output only when it fails.
#
#   scripts/build_web.sh [PAGE]
set -euo pipefail
page=${1:+$(realpath -m "$1")}  # as the caller's folder has it
cd "$(dirname "$0")/.."

command -v emcmake >/dev/null || scripts/install_packages.sh emscripten
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
# Debian's emscripten finds a parser of JavaScript there, and says so nowhere.
export NODE_PATH=${NODE_PATH:-/usr/share/nodejs}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { emcmake cmake -S web -B build/web -G Ninja -DCMAKE_BUILD_TYPE=None && cmake --build build/web; } >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
if [ -n "$page" ]; then
  scripts/build.sh release attn-demo
  build/release/app/attn-demo page --alone "$page"
fi
