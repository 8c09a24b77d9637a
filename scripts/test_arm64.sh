#!/usr/bin/env bash
# The program for Debian's arm64 on an x86-64 machine with AVX2: cross-built, its tests run by qemu-user,
# and what it writes compared with what this machine's writes, byte by byte.
#
#   scripts/test_arm64.sh            all tests but those that Python drives
#   scripts/test_arm64.sh --short    what it writes, and the tests of the kernels, in minutes
#
# Debian's arm64 packages are unpacked below build/arm64-packages, so that this system stays as it is:
# some of them cannot stand beside its own (libsentencepiece-dev). apt chooses them as for a bare system.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh g++-aarch64-linux-gnu qemu-user python3

folder=$PWD/build/arm64-packages
root=$folder/root
# The libraries that install_packages.sh names, not the tools.
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
  # Programs of arm64 would stand before this machine's, and absolute links lead to its files.
  rm -rf "$root"/{bin,sbin,usr/bin,usr/sbin} "$folder/cache" "$folder/state"
  while read -r link; do ln -sfn "$root$(readlink "$link")" "$link"; done < <(find "$root" -type l -lname '/*')
  echo "${packages[*]}" >"$folder/complete"
fi

short=${1:-}
targets=()
[ "$short" != --short ] || targets=(attn-demo test_compute)
scripts/build.sh arm64 "${targets[@]}"
scripts/build.sh release attn-demo

# What it writes on the oldest of Debian's arm64 CPUs, and on one with dot products of 8 bits, is what it
# writes here: records of the demo sentence, and a model after three updates.
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
