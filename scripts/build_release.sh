#!/usr/bin/env bash
# Builds what a release consists of: the Debian package, the Python wheel and the page that
# translates by itself, with their SHA-256 checksums in SHA256SUMS. Builds no tests.
#
#   scripts/build_release.sh [FOLDER]     default: build/release-files
set -euo pipefail
folder=$(realpath -m "${1:-build/release-files}")
cd "$(dirname "$0")/.."

mkdir -p "$folder"
scripts/build_web.sh
scripts/container.sh build "$folder"
build/package/app/attn-demo page --alone "$folder/attn-demo.html"
scripts/install_packages.sh python3-venv python3-dev
python3 -m venv build/release-venv
build/release-venv/bin/pip -q wheel --no-deps --wheel-dir "$folder" .
(cd "$folder" && sha256sum attn-demo* attn_demo* | tee SHA256SUMS)
