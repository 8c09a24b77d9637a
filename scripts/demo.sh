#!/usr/bin/env bash
# The first command of the README: installs missing packages, builds a release, translates the demo
# sentence, shows the attention of one head and writes the page of all heads.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh
echo 'Building, which takes a minute or a few …'
scripts/build.sh release attn-demo

# cross:2:2 has the lowest alignment error rate of all heads over the 98 test sentences of data/toy
# (data/models/en-de/README.md). For this one sentence the program marks cross:2:0 as aligning best.
demo=(build/release/app/attn-demo translate "The group went home" --show cross:2:2)
printf '$ %s %s "%s" %s %s\n' "${demo[@]}"
"${demo[@]}"

build/release/app/attn-demo translate "The group went home" --html build/demo.html >/dev/null
printf '\nAll heads, as a page to click through in a browser: file://%s/build/demo.html\n' "$PWD"
printf 'Next, the tour in README.md: export PATH=%s/build/release/app:$PATH\n' "$PWD"
printf 'The same page, live, to type into: build/release/app/attn-demo serve\n'
