#!/usr/bin/env bash
# The steps of the Dockerfile, which also run in a bare Debian 13 (scripts/check_distributions.sh
# --container). Needs root.
#
#   scripts/container.sh build FOLDER     compiles the program and writes its Debian package there
#   scripts/container.sh install PACKAGE  installs it with what it needs at run time
set -euo pipefail

case ${1:-} in
  build)
    folder=$(realpath -m "${2:?the folder of the package}")
    cd "$(dirname "$0")/.."
    scripts/install_packages.sh dpkg-dev file
    cmake --preset release -B build/package -DATTN_BUILD_TESTS=OFF -DATTN_BUILD_PYTHON=OFF
    cmake --build build/package
    cpack --config build/package/CPackConfig.cmake -B build/package/deb
    mkdir -p "$folder"
    mv build/package/deb/attn-demo_*.deb "$folder"
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
