#!/usr/bin/env bash
# Builds what a release consists of: the Debian package, the Python wheel and the page that
# translates by itself, with their SHA-256 checksums in SHA256SUMS.
#
#   scripts/build_release.sh [FOLDER]     default: build/release-files
set -euo pipefail
folder=$(realpath -m "${1:-build/release-files}")
cd "$(dirname "$0")/.."

mkdir -p "$folder"
scripts/build_web.sh "$folder/attn-demo.html"
scripts/install_packages.sh file python3-venv python3-dev
scripts/build.sh release
cpack --config build/release/CPackConfig.cmake -B "$folder/package" >/dev/null
mv "$folder"/package/attn-demo_*.deb "$folder"
rm -r "$folder/package"
python3 -m venv build/release-venv
build/release-venv/bin/pip -q wheel --no-deps --wheel-dir "$folder" .
(cd "$folder" && sha256sum attn-demo* attn_demo* | tee SHA256SUMS)
