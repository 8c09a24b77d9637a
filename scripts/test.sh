#!/usr/bin/env bash
# The second command of the README: installs what is missing, builds a release and runs every test.
set -euo pipefail
cd "$(dirname "$0")/.."

# The page is tested in a real browser, driven by Python's own library; other CPUs by qemu.
# The Python module needs pybind11, its tests a virtual environment.
scripts/install_packages.sh python3 chromium chromium-driver qemu-user pybind11-dev python3-dev python3-venv
scripts/build.sh release
ctest --preset release
grep -h '^skipped: ' build/release/Testing/Temporary/LastTest.log || true  # ctest does not say why
# The same tests with the kernels of CPUs that have AVX2 only, and of those that have neither. Here, to
# see them on every length and in little time: only the test "emulated" shows that older CPUs run them.
if grep -qw avx2 /proc/cpuinfo; then
  ATTN_DEMO_CPU=avx2 ctest --preset release -R '^(compute|nn|model|translate|train)$'
fi
ATTN_DEMO_CPU=portable ctest --preset release -R '^(compute|nn|model|translate|train)$'
