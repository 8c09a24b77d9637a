#!/usr/bin/env bash
# The first command of the README: installs missing packages, builds a release, translates the demo
# sentence with the map of one head, and writes the page of all heads.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh
echo 'Building, which takes a minute or a few …'
scripts/build.sh release attn-demo

demo=(build/release/app/attn-demo translate "The group went home")
printf '$ %s %s "%s"\n' "${demo[@]}"
"${demo[@]}"
"${demo[@]}" --html build/demo.html >/dev/null 2>&1

cat <<END

Next: open the page of all heads in a browser. It needs no network.
  file://$PWD/build/demo.html
END
