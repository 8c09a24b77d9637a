#!/usr/bin/env bash
# Checks that take longer than CI: campaign.sh CHECK [ARGUMENT…]. What was found and how often each was
# run stands in docs/checking.md.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'TEXT'
usage: scripts/campaign.sh CHECK [ARGUMENT…]

  fuzz [--runs N] [--seed N] [--seconds N] [--sanitize] [--log FOLDER] [--parsers | TARGET…]
      Clang's libFuzzer on the parsers (tests/fuzz), one after the other; 20,000,000 runs each unless
      --runs says otherwise; more runs go on with what the ones before found. --sanitize uses the build
      with AddressSanitizer, which also watches what is compared, ten times slower, instead of the one
      that traps undefined behaviour alone. --seconds ends a target early. A finding stops its target;
      the input lies in the log folder (build/fuzz-log). --parsers leaves out command_line and
      option_words, which take a build of the whole program.
  faults [ARGUMENT…]
      Every system call of every command fails once, and 300 of its allocations (tests/faults/faults.py;
      --only COMMAND, --mallocs N).
  kills [ARGUMENT…]
      1,000 times SIGKILL at random moments of init, convert, translate and train
      (tests/faults/kills.py; --kills N).
TEXT
}

faults() {
  scripts/install_packages.sh python3
  scripts/build.sh release attn-demo inject failing_malloc
  python3 tests/faults/faults.py --program build/release/app/attn-demo \
    --inject build/release/tests/inject --malloc build/release/tests/libfailing_malloc.so "$@"
}

kills() {
  scripts/install_packages.sh python3
  scripts/build.sh release attn-demo
  python3 tests/faults/kills.py --program build/release/app/attn-demo "$@"
}

# The most bytes of an input: what a small format can say, it says in few.
most_bytes() { # NAME
  case $1 in
    checksums | option_words | parallel_text | pharaoh | text | vocabulary) echo 512 ;;
    checkpoint | command_line | generation_config | json | safetensors | tokenizer_config | train_log) echo 1024 ;;
    experiment | model_config | record) echo 2048 ;;
    *) echo 5000 ;;
  esac
}

# One target: seeds from the repository, the grown corpus in the log folder. Weighing inputs by how rare
# what they reach is (-entropic) costs more than most parsers do.
fuzz_target() { # PROGRAM NAME
  local corpus=$log/corpus/$2
  mkdir -p "$corpus" "$log/findings"
  "$1" -runs="$runs" -seed="$seed" -max_total_time="$seconds" -max_len="$(most_bytes "$2")" -entropic=0 \
    -timeout=30 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$log/findings/$2-" \
    "$corpus" "tests/fuzz/seeds/$2" >"$log/$2.log" 2>&1
}

# The line of the table: runs, runs a second, edges and features seen, outcome.
fuzz_row() { # NAME OUTCOME
  local stats edges
  stats=$(sed -n 's/^stat::number_of_executed_units: *//p; s/^stat::average_exec_per_sec: *//p' "$log/$1.log" |
    paste -sd' ')
  edges=$(grep -oE 'cov: [0-9]+ ft: [0-9]+' "$log/$1.log" | tail -1)
  printf '%-20s %12s runs %8s/s  %-24s %s\n' "$1" ${stats:-? ?} "$edges" "$2"
}

fuzz() {
  local runs=20000000 seed=0 seconds=0 preset=fuzz-fast log=build/fuzz-log parsers= targets=() failed=0
  while [ "$#" -gt 0 ]; do
    case $1 in
      --runs) runs=$2; shift ;;
      --seed) seed=$2; shift ;;
      --seconds) seconds=$2; shift ;;
      --log) log=$2; shift ;;
      --sanitize) preset=fuzz ;;
      --parsers) parsers=yes ;;
      -*) usage >&2; exit 2 ;;
      *) targets+=("$1") ;;
    esac
    shift
  done
  scripts/install_packages.sh clang libomp-dev
  scripts/install_packages.sh "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
  if [ "${#targets[@]}" -eq 0 ]; then
    for source in tests/fuzz/*.cpp; do
      local name
      name=$(basename "$source" .cpp)
      case $parsers$name in yescommand_line | yesoption_words) continue ;; esac
      targets+=("$name")
    done
  fi
  scripts/build.sh "$preset" "${targets[@]/#/fuzz_}"
  for target in "${targets[@]}"; do
    if fuzz_target "build/$preset/tests/fuzz/fuzz_$target" "$target"; then
      fuzz_row "$target" "nothing found"
    else
      fuzz_row "$target" "FOUND: $log/$target.log"
      failed=1
    fi
  done
  return "$failed"
}

case ${1:-} in
  fuzz) shift; fuzz "$@" ;;
  faults) shift; faults "$@" ;;
  kills) shift; kills "$@" ;;
  *) usage >&2; exit 2 ;;
esac
