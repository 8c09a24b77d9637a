#!/usr/bin/env bash
# The first command of the README: installs what is missing, builds a release, translates the demo
# sentence and shows its attention maps.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh
scripts/build.sh release attn-demo

demo=(build/release/app/attn-demo translate "The group went home" --target "Die Gruppe ging nach Hause")
printf '$ %s "%s" %s "%s"\n' "${demo[0]} ${demo[1]}" "${demo[2]}" "${demo[3]}" "${demo[4]}"
"${demo[@]}"
