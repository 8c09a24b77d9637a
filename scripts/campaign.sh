#!/usr/bin/env bash
# Checks that take longer than CI: campaign.sh CHECK [ARGUMENT…]. docs/checking.md lists the
# findings and the number of runs.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'TEXT'
usage: scripts/campaign.sh CHECK [ARGUMENT…]

  fuzz [--runs N] [--seed N] [--sanitize] [--log FOLDER] [--parsers | TARGET…]
      Clang's libFuzzer on the parsers (tests/fuzz), one after the other, until each has had N runs
      (20,000,000), in processes of at most 2,000,000. The log folder (build/fuzz-log) counts them and
      keeps what they found: the same command goes on where it was stopped. --sanitize uses the build
      of the sanitizers, which also watches what is compared, ten times slower, instead of the one
      that traps undefined behaviour alone; give it a log folder of its own. A finding stops its
      target; the input lies in the log folder. --parsers leaves out command_line and option_words,
      which take a build of the whole program.
  faults [ARGUMENT…]
      Every system call of every command fails once, and 300 of its allocations (tests/faults/faults.py;
      --only COMMAND, --mallocs N).
  kills [ARGUMENT…]
      1,000 times SIGKILL at random moments of init, convert, translate and train
      (tests/faults/kills.py; --kills N).
  sanitizers [TEST…]
      The tests under AddressSanitizer and UndefinedBehaviorSanitizer, all or these.
  threads [TEST…]
      Those of what runs on several threads (compute, nn, translate, train) under ThreadSanitizer,
      all or these.
  tidy
      clang-tidy with .clang-tidy over lib and app, many files as one, as they are built.
TEXT
}

tidy() {
  scripts/install_packages.sh clang clang-tidy
  # Most of the time is spent on the headers of Eigen and JSON, so a unity build parses them only
  # once.
  cmake --preset release -B build/tidy -DCMAKE_CXX_COMPILER=clang++ -DATTN_BUILD_TESTS=OFF \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
  cmake --build build/tidy --target lib/page_sources.cpp lib/openapi_json.cpp >/dev/null
  run-clang-tidy -quiet -p build/tidy "$PWD/.*(lib|app)/.*" 2>/dev/null | grep -v '^clang-tidy' |
    tee build/tidy/found
  ! grep -qE '(warning|error):' build/tidy/found
}

install_clang() { # with its sanitizers
  scripts/install_packages.sh clang
  scripts/install_packages.sh "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
}

sanitizers() { # TEST…
  local targets=() chosen=(-E 'page$')  # not pages in a browser: there it is Chromium that works
  for name in "$@"; do
    case $name in
      serve) targets+=(attn-demo) ;;
      serve-parts) targets+=(test_serve) ;;
      python) targets+=(_core attn-demo) ;;
      command_line | option_words) targets+=("short_$name") ;;
      *) targets+=("test_$name") ;;
    esac
  done
  [ "$#" -eq 0 ] || chosen=(-R "^($(IFS='|' && echo "$*"))$")
  install_clang
  scripts/build.sh asan-ubsan "${targets[@]}"
  # Libraries keep memory until the process exits, so only leaks of our own code count.
  ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=suppressions="$PWD/tests/leaks.txt" \
    UBSAN_OPTIONS=print_stacktrace=1 ctest --preset asan-ubsan "${chosen[@]}"
}

threads() { # TEST…
  [ "$#" -gt 0 ] || set -- compute nn translate train
  scripts/build.sh tsan "${@/#/test_}"
  # GCC 12's sanitizer expects less address randomization than today's kernels use.
  local fixed_addresses=(setarch -R)
  "${fixed_addresses[@]}" true 2>/dev/null || fixed_addresses=()
  "${fixed_addresses[@]}" ctest --preset tsan -R "^($(IFS='|' && echo "$*"))$"
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

# The maximum size of an input; small formats need only few bytes.
most_bytes() { # NAME
  case $1 in
    checksums | merges | option_words | parallel_text | pharaoh | question | text | vocabulary) echo 512 ;;
    checkpoint | command_line | generation_config | json | piece_model | safetensors | test_set | tokenizer_config | train_log) echo 1024 ;;
    markup) echo 256 ;;
    experiment | model_config | record | tokenizer_json | torch_file) echo 2048 ;;
    *) echo 5000 ;;
  esac
}

# Runs one fuzzing process of a target, with seeds from the repository and the grown corpus in the
# log folder. -entropic=0, because weighting inputs by the rarity of their coverage costs more than
# most parsers do. Appends a line to NAME.runs with the number of runs and the CPU seconds.
fuzz_process() { # PROGRAM NAME RUNS SEED
  local corpus=$log/corpus/$2 used code=0 TIMEFORMAT='%U' LC_ALL=C
  mkdir -p "$corpus" "$log/findings"
  used=$({ time "$1" -runs="$3" -seed="$4" -max_len="$(most_bytes "$2")" -entropic=0 -timeout=30 \
    -rss_limit_mb=2048 -print_final_stats=1 -print_funcs=0 -artifact_prefix="$log/findings/$2-" \
    "$corpus" "tests/fuzz/seeds/$2" >"$log/$2.log" 2>&1; } 2>&1) || code=$?
  sed -n "s/^stat::number_of_executed_units: *\\(.*\\)/\\1 $used/p" "$log/$2.log" >>"$log/$2.runs"
  return "$code"
}

# Prints the sum of a column of NAME.runs: 1 is runs, 2 is seconds.
fuzz_sum() { # NAME COLUMN
  awk -v column="$2" '{ sum += $column } END { printf "%.0f\n", sum }' "$log/$1.runs" 2>/dev/null || echo 0
}

fuzz_target() { # PROGRAM NAME
  local each=2000000 done=0 turn=0 left
  while done=$(fuzz_sum "$2" 1) && left=$((runs - done)) && [ "$left" -gt 0 ]; do
    turn=$((turn + 1))
    fuzz_process "$1" "$2" "$((left < each ? left : each))" "$((seed == 0 ? 0 : seed + turn))" || return 1
  done
}

# Prints a table row: runs, runs per second of one core, edges and features reached, outcome.
fuzz_row() { # NAME OUTCOME
  local edges
  edges=$(grep -oE "cov: [0-9]+ ft: [0-9]+" "$log/$1.log" 2>/dev/null | tail -1 || true)
  printf '%-20s %12s runs %8s/s  %-24s %s\n' "$1" "$(fuzz_sum "$1" 1)" \
    "$(awk '{ runs += $1; seconds += $2 } END { printf "%.0f", runs / (seconds > 0.001 ? seconds : 0.001) }' \
      "$log/$1.runs")" "$edges" "$2"
}

fuzz() {
  local runs=20000000 seed=0 preset=fuzz log=build/fuzz-log parsers= targets=() failed=0
  while [ "$#" -gt 0 ]; do
    case $1 in
      --runs) runs=$2; shift ;;
      --seed) seed=$2; shift ;;
      --log) log=$2; shift ;;
      --sanitize) preset=asan-ubsan ;;
      --parsers) parsers=yes ;;
      -*) usage >&2; exit 2 ;;
      *) targets+=("$1") ;;
    esac
    shift
  done
  install_clang
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
  sanitizers) shift; sanitizers "$@" ;;
  threads) shift; threads "$@" ;;
  tidy) tidy ;;
  *) usage >&2; exit 2 ;;
esac
