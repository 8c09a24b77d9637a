#!/usr/bin/env bash
# Makes a translation model from files of sentence pairs in one command:
#
#   bash recipes/en-de/make_model.sh PAIRS OUT [--broad FILE]... [--terms FILE]... [--more en-de] [--swap]
#                              [--times N] [--distilled DIR] [--from MODEL] [CONFIG] [train options]
#   bash recipes/en-de/make_model.sh deu.txt build/en-de --more en-de
#   bash recipes/en-de/make_model.sh deu.txt build/en-de --broad talk.tsv.gz --terms words.tsv.gz --more en-de
#   bash recipes/en-de/make_model.sh deu.txt build/de-en --broad talk.tsv.gz --more en-de --swap
#   bash recipes/en-de/make_model.sh my-pairs.tsv build/mine configs/en-de.json --set train.epochs=10
#
# PAIRS has one pair per line: source, tab, target. --broad adds pairs of other sources, with a third column that names
# the source; --terms adds a dictionary in the same columns. --more en-de makes further pairs from all of them and from
# recipes/en-de/words (names, nouns, numbers, text to copy, longer text), for files with English first. --swap trains
# the opposite direction. --times N and --distilled DIR are described in prepare_pairs.py. --from carries the knowledge
# of MODEL over to the new vocabulary (recipes/en-de/carry_over.py). The default CONFIG is configs/en-de.json. OUT gets
# data/ (the parts, recipes/en-de/prepare_pairs.py), run/ (curve, checkpoints), model/ (16-bit, with checksums) and
# scores.json (the test part, beam 4). If the script is stopped and run again, it continues where it was.
set -euo pipefail

if [ "$#" -lt 2 ] || [ ! -f "$1" ]; then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
  [ "$#" -lt 2 ] || echo "$1: no such file" >&2
  exit 2
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
pairs=$1 out=$2 from=
shift 2
preparing=()
while [ "$#" -gt 0 ]; do
  case $1 in
    --swap) preparing+=("$1"); shift ;;
    --broad | --terms | --more | --times | --distilled)
      preparing+=("$1" "${2:?$1 wants a value}"); shift 2 ;;
    --from) from=${2:?--from wants a model}; shift 2 ;;
    *) break ;;
  esac
done
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
  python3 "$root/recipes/en-de/prepare_pairs.py" "$pairs" "$out/data" --keep-out "The group went home" \
    "${preparing[@]}"
fi

options=()
for part in train dev test; do
  for side in source target; do
    options+=(--set "data.$part.$side=$out/data/$part.$side")
  done
done
if [ -n "$from" ]; then
  if [ ! -d "$out/start" ]; then
    echo "== what $from knows: $out/start"
    rm -rf "$out/fresh" "$out/known"
    "$attn_demo" init --config "$config" "${options[@]}" --out "$out/fresh"
    "$attn_demo" convert --model "$from" --dtype float32 --out "$out/known"
    python3 "$root/recipes/en-de/carry_over.py" "$out/known" "$out/fresh" "$out/start"
  fi
  options+=(--from "$out/start")
fi

echo "== training: $out/run (Ctrl-C saves; the same command goes on)"
[ ! -d "$out/run/checkpoints" ] || options+=(--resume)
"$attn_demo" train "$config" --out "$out/run" "${options[@]}" "$@"

echo "== 16 bits: $out/model"
rm -rf "$out/model"
"$attn_demo" convert --model "$out/run/model" --dtype float16 --out "$out/model"

echo "== the test part"
"$attn_demo" evaluate --model "$out/model" --beam 4 --source "$out/data/test.source" \
  --target "$out/data/test.target" --output "$out/test.hypotheses" --json "$out/scores.json"
