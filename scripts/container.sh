#!/usr/bin/env bash
# The steps of the Dockerfile, which also run in a bare Debian 13 (scripts/check_distributions.sh
# --container). Needs root.
#
#   scripts/container.sh build            compiles the program and writes /packages/attn-demo.deb
#   scripts/container.sh install PACKAGE  installs it with what it needs at run time
set -euo pipefail

case ${1:-} in
  build)
    cd "$(dirname "$0")/.."
    scripts/install_packages.sh file
    cmake --preset release -DATTN_BUILD_TESTS=OFF -DATTN_BUILD_PYTHON=OFF
    cmake --build build/release
    cpack --config build/release/CPackConfig.cmake -B /packages
    mv /packages/attn-demo_*.deb /packages/attn-demo.deb
    ;;
  install)
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${2:?the package to install}"
    rm -rf /var/lib/apt/lists/*
    attn-demo --version
    ;;
  *)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
    ;;
esac
