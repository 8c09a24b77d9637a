#!/usr/bin/env bash
# The second command of the README: installs missing packages, builds a release and runs every test.
set -euo pipefail
cd "$(dirname "$0")/.."

# The page is tested in a real browser, driven by Python's standard library; other CPUs by qemu. The
# Python module needs pybind11, and its tests a virtual environment.
scripts/install_packages.sh python3 chromium chromium-driver qemu-user pybind11-dev python3-dev python3-venv
scripts/build.sh release
ctest --preset release
grep -h '^skipped: ' build/release/Testing/Temporary/LastTest.log || true  # ctest does not say why
# Run the same tests with the AVX2 kernels and with the portable ones. On this CPU they cover every
# length quickly; only the test "emulated" shows that older CPUs can run them.
if grep -qw avx2 /proc/cpuinfo; then
  ATTN_DEMO_CPU=avx2 ctest --preset release -R '^(compute|nn|model|translate|train)$'
fi
ATTN_DEMO_CPU=portable ctest --preset release -R '^(compute|nn|model|translate|train)$'
