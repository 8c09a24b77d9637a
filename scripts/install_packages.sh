#!/usr/bin/env bash
# Installs the missing Debian packages that the build needs; prints nothing if all are installed.
# Further packages may be named as arguments; --list prints the names instead.
set -euo pipefail

packages=(g++ cmake ninja-build pkg-config ccache libeigen3-dev libcli11-dev nlohmann-json3-dev
  libspdlog-dev doctest-dev libsentencepiece-dev libicu-dev libbenchmark-dev
  librsvg2-dev libpng-dev libedit-dev libcpp-httplib-dev fonts-dejavu-core libexpat1-dev "$@")
if [ "${1:-}" = --list ]; then
  printf '%s\n' "${packages[@]}"
  exit
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
if [ "${#missing[@]}" -gt 0 ]; then
  as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  if [ "${#as_root[@]}" -gt 0 ] && ! command -v sudo >/dev/null; then
    echo "These packages are missing, and there is no sudo to install them with. Ask someone with" >&2
    echo "administrator rights to run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  echo "installing: ${missing[*]}" >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
