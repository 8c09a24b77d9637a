#!/usr/bin/env bash
# Checks that the Python package works on its own. Builds its wheel, installs it with only numpy
# into an empty virtual environment, and uses it from another folder. Needs the network for pip, and
# the page's module (scripts/build_web.sh).
#
#   scripts/check_wheel.sh [FOLDER]
#     FOLDER: where wheel and environment are created; default: build/wheel-check
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(realpath -m "${1:-build/wheel-check}")
rm -rf "$work"
mkdir -p "$work"
python3 -m pip wheel --quiet --no-deps --wheel-dir "$work" .
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet "$work"/attn_demo-*.whl
cd /
"$work/venv/bin/python" - "$OLDPWD" <<'EOF'
import pathlib, sys

import attn_demo

source = pathlib.Path(sys.argv[1])
assert source not in pathlib.Path(attn_demo.__file__).parents or "venv" in attn_demo.__file__, attn_demo.__file__
model = attn_demo.load()
assert pathlib.Path(model.directory).is_relative_to(pathlib.Path(attn_demo.__file__).parent), model.directory
assert model.translate("The group went home") == "Die Gruppe ging nach Hause"
a = model.attend("The group went home", without=["cross:2:2"])
assert "attn-packed-0" in model.alone_page()
print(attn_demo.__version__, model, a.cross.shape, a.text, sep="\n")
EOF
"$work/venv/bin/pip" list --format=freeze
