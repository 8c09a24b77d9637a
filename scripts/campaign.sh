#!/usr/bin/env bash
# Checks that take longer than CI: campaign.sh CHECK [ARGUMENT…]. What was found and how often each was
# run stands in docs/checking.md.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'TEXT'
usage: scripts/campaign.sh CHECK [ARGUMENT…]

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

case ${1:-} in
  faults) shift; faults "$@" ;;
  kills) shift; kills "$@" ;;
  *) usage >&2; exit 2 ;;
esac
