#!/bin/sh
# Renews the contents of documents that depend on the shipped model: output of commands, numbers with a source, and
# pictures. Lists what cannot be renewed automatically: claims that no longer hold, and numbers to measure again.
#
#   scripts/renew_docs.sh [--no-pictures]    needs build/release, and chromium for docs/typing.png
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/build/release/app:$PATH"
if [ "${1-}" != --no-pictures ]; then
  attn-demo translate "The group went home" --show none --svg docs/maps.svg >/dev/null
  python3 scripts/terminal_picture.py docs/terminal.svg 100 attn-demo translate "The group went home" --show cross:2
  python3 scripts/typing_picture.py docs/typing.png
fi
python3 scripts/check_docs.py --update || {
  echo "Above: what to write or measure anew; everything else is renewed." >&2
  exit 1
}
