#!/usr/bin/env bash
# Builds the libraries as WebAssembly into build/web, for `attn-demo page --alone` (docs/page.md).
# Installs emscripten, which only this script needs, if it is missing. With PAGE, also builds the
# program and writes the page to that file, such as docs/try.html, which git ignores, for a
# repository's GitHub Pages. Otherwise prints output only on failure.
#
#   scripts/build_web.sh [PAGE]
set -euo pipefail
page=${1:+$(realpath -m "$1")}  # as the caller's folder has it
cd "$(dirname "$0")/.."

command -v emcmake >/dev/null || scripts/install_packages.sh emscripten
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
# Debian's emscripten needs a JavaScript parser from this path, which is not documented.
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
