#!/bin/sh
# Renews what depends on the shipped models: the output of commands and numbers with a source in documents, pictures,
# the notebook, and the fixed translations of the tests. Lists what cannot be renewed automatically: claims that no
# longer hold, and numbers to measure again.
#
#   scripts/renew_docs.sh [--no-pictures]    needs build/release, for the notebook the environment of the test "python",
#                                            and for the pictures chromium, chromium-driver and build/web
#                                            (scripts/build_web.sh makes it, and needs emscripten)
#
# Two pictures are results of measurements that take hours, and stay: docs/needle.svg (scripts/needle.py) and
# docs/tatoeba-curve.svg (bench/compare_training.py).
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/build/release/app:$PATH"
if [ "${1-}" != --no-pictures ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  attn-demo translate "The group went home" --show none --svg docs/maps.svg >/dev/null
  python3 scripts/terminal_picture.py docs/terminal.svg 100 attn-demo translate "The group went home" --show cross:2
  attn-demo train configs/toy.json --out "$scratch/toy" >/dev/null
  cp "$scratch/toy/curve.svg" docs/toy-curve.svg
  scripts/build_web.sh
  python3 scripts/page_pictures.py
fi
python3 scripts/renew_translations.py
build/release/python/venv/bin/python scripts/renew_notebook.py
python3 scripts/check_docs.py --update || {
  echo "Above: what to write or measure anew; everything else is renewed." >&2
  exit 1
}
