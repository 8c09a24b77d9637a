#!/usr/bin/env bash
# Tests the program for Debian's arm64 on an x86-64 machine with AVX2. Cross-compiles it, runs its
# tests in qemu-user, and compares its output byte by byte with that of this machine's program.
#
#   scripts/test_arm64.sh            all tests except those driven by Python
#   scripts/test_arm64.sh --short    the output and the kernel tests, in minutes
#
# Debian's arm64 packages are unpacked below build/arm64-packages, so this system does not change:
# some of them conflict with its own (libsentencepiece-dev). apt selects them as for a bare system.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh g++-aarch64-linux-gnu qemu-user python3

folder=$PWD/build/arm64-packages
root=$folder/root
# The libraries that install_packages.sh names, without the tools.
mapfile -t packages < <(scripts/install_packages.sh --list | grep -e '-dev$' -e '^fonts-')
if [ "$(cat "$folder/complete" 2>/dev/null)" != "${packages[*]}" ]; then
  rm -rf "$folder"
  mkdir -p "$root" "$folder/state/lists/partial" "$folder/cache/archives/partial"
  : >"$folder/status"
  options=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=
    -o Debug::NoLocking=1 -o "Dir::State=$folder/state" -o "Dir::State::status=$folder/status"
    -o "Dir::Cache=$folder/cache")
  apt-get "${options[@]}" update
  apt-get "${options[@]}" install -y --no-install-recommends --download-only "${packages[@]}"
  ln -sfn usr/lib "$root/lib"
  for package in "$folder"/cache/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
  # Remove arm64 programs, which would hide this machine's, and folders with absolute links, which
  # lead to its files.
  rm -rf "$root"/{bin,sbin,usr/bin,usr/sbin} "$folder/cache" "$folder/state"
  while read -r link; do ln -sfn "$root$(readlink "$link")" "$link"; done < <(find "$root" -type l -lname '/*')
  echo "${packages[*]}" >"$folder/complete"
fi

short=${1:-}
targets=()
[ "$short" != --short ] || targets=(attn-demo test_compute)
scripts/build.sh arm64 "${targets[@]}"
scripts/build.sh release attn-demo

# On the oldest of Debian's arm64 CPUs and on one with int8 dot products, the output must equal that
# of this machine: records of the demo sentence, and a model after three updates.
write_all() { # FOLDER PROGRAM…
  rm -rf "$1"
  mkdir -p "$1"
  for precision in float32 int8; do
    "${@:2}" translate "The group went home" --precision "$precision" --json "$1/$precision.json" --show none
  done
  "${@:2}" train configs/toy.json --set train.updates=3 --set train.validate_every=3 --threads 2 --out "$1/run"
}
write_all "$folder/here" build/release/app/attn-demo >/dev/null
for cpu in cortex-a53 cortex-a76; do
  write_all "$folder/there" qemu-aarch64 -cpu "$cpu" -L "$root" build/arm64/app/attn-demo >/dev/null
  for file in float32.json int8.json run/model/model.safetensors; do
    cmp "$folder/here/$file" "$folder/there/$file"
  done
  echo "$cpu: the records of the demo sentence and a trained model, byte by byte as here"
done
