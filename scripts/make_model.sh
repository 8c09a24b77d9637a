#!/usr/bin/env bash
# From a file of sentence pairs to a translation model, in one command:
#
#   bash scripts/make_model.sh PAIRS OUT [--more en-de] [CONFIG] [train options]
#   bash scripts/make_model.sh deu.txt build/en-de --more en-de
#   bash scripts/make_model.sh my-pairs.tsv build/mine configs/en-de.json --set train.epochs=10
#
# PAIRS: source, tab, target, a pair a line. --more en-de: further pairs made from them and from
# data/words (names, places, numbers, longer text), for English to German. CONFIG: configs/en-de.json unless told. OUT gets data/
# (the parts, scripts/prepare_pairs.py), run/ (curve, checkpoints), model/ (16-bit, with checksums)
# and scores.json (the test part, beam 4). Stopped and called again, it goes on where it was.
set -euo pipefail

if [ "$#" -lt 2 ] || [ ! -f "$1" ]; then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
  [ "$#" -lt 2 ] || echo "$1: no such file" >&2
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
pairs=$1 out=$2
shift 2
more=()
if [ "${1:-}" = --more ]; then
  more=(--more "${2:?--more wants a pair of languages: en-de}")
  shift 2
fi
config=$root/configs/en-de.json
if [ "$#" -gt 0 ] && [ -f "$1" ]; then
  config=$1
  shift
fi

"$root/scripts/install_packages.sh" python3
"$root/scripts/build.sh" release attn-demo
attn_demo=$root/build/release/app/attn-demo

mkdir -p "$out"
out=$(cd "$out" && pwd)
if [ ! -f "$out/data/counts.json" ]; then
  echo "== parts: $out/data"
  python3 "$root/scripts/prepare_pairs.py" "$pairs" "$out/data" --keep-out "The group went home" \
    "${more[@]}"
fi

echo "== training: $out/run (Ctrl-C saves; the same command goes on)"
options=()
for part in train dev test; do
  for side in source target; do
    options+=(--set "data.$part.$side=$out/data/$part.$side")
  done
done
[ ! -d "$out/run/checkpoints" ] || options+=(--resume)
"$attn_demo" train "$config" --out "$out/run" "${options[@]}" "$@"

echo "== 16 bits: $out/model"
rm -rf "$out/model"
"$attn_demo" convert --model "$out/run/model" --dtype float16 --out "$out/model"

echo "== the test part"
"$attn_demo" evaluate --model "$out/model" --beam 4 --source "$out/data/test.source" \
  --target "$out/data/test.target" --output "$out/test.hypotheses" --json "$out/scores.json"
