#!/usr/bin/env bash
# Do the README's two commands pass where nothing is installed? Makes bare Debian systems (debootstrap's
# minbase), clones this repository's HEAD into each and runs both commands there. Needs root.
#
#   scripts/check_distributions.sh [--only bookworm|trixie] [--clang] [--demo-only] [--keep]
#
#   --only SUITE   this one only; otherwise Debian 12 and 13, one after the other
#   --clang        with Clang beside GCC
#   --demo-only    demo.sh only
#   --keep         the systems stay below build/distributions, with what they compiled; the next run goes on there
#
# Prints one line a command and exits 1 if one failed or a compiler warned. Logs: build/distributions/*.log.
# MIRROR names the Debian mirror; otherwise it is the one this system's apt uses.
set -euo pipefail
cd "$(dirname "$0")/.."

suites=(bookworm trixie) compilers=(g++) commands=(demo.sh test.sh) keep=
while [ "$#" -gt 0 ]; do
  case $1 in
    --only) suites=("${2:?--only wants bookworm or trixie}") && shift ;;
    --clang) compilers+=(clang++) ;;
    --demo-only) commands=(demo.sh) ;;
    --keep) keep=yes ;;
    *) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2 && exit 2 ;;
  esac
  shift
done
if [ "$(id -u)" -ne 0 ]; then
  echo "$0: debootstrap and chroot need root" >&2
  exit 2
fi
scripts/install_packages.sh debootstrap

# The first Debian mirror that apt uses, from either format of source file.
mirror=${MIRROR:-$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
  grep -E '^(URIs:|deb )' | grep -oE 'https?://[^ ]*/debian/?( |$)' | head -n 1 || true)}
mirror=${mirror:-http://deb.debian.org/debian}
folder=$PWD/build/distributions
mkdir -p "$folder"

# in_system ROOT COMMAND…: runs COMMAND; its mounts and processes end with it.
in_system() {
  local root=$1
  shift
  unshare --mount --pid --fork --kill-child bash -c '
    set -e
    root=$1
    shift
    mount -t proc proc "$root/proc"
    mount -t devpts devpts "$root/dev/pts"
    mkdir -p "$root/dev/shm"
    mount -t tmpfs tmpfs "$root/dev/shm"
    exec nice chroot "$root" env -i HOME=/root LANG=C.UTF-8 TERM=dumb \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' - "$root" "$@"
}

failed=
for suite in "${suites[@]}"; do
  root=$folder/$suite
  if [ ! -f "$root/made" ]; then
    rm -rf "$root"
    debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$folder/$suite-debootstrap.log"
    # Installed systems have this entry, and chromedriver finds its browser by that name.
    echo '127.0.0.1 localhost' >"$root/etc/hosts"
    touch "$root/made"
  fi
  for compiler in "${compilers[@]}"; do
    home=/root/attn-demo-${compiler%++}
    if [ -d "$root$home" ]; then
      git -C "$root$home" fetch -q origin HEAD
      git -C "$root$home" reset -q --hard FETCH_HEAD
    else
      git clone -q "file://$PWD" "$root$home"
    fi
    [ "$compiler" = g++ ] || in_system "$root" "$home/scripts/install_packages.sh" clang 2>/dev/null
    for command in "${commands[@]}"; do
      log=$folder/$suite-$compiler-$command.log
      start=$SECONDS result=passed
      in_system "$root" CXX="$compiler" bash "$home/scripts/$command" >"$log" 2>&1 || result="FAILED ($?)"
      warnings=$(grep -c 'warning:' "$log" || true)
      [ "$result" = passed ] && [ "$warnings" = 0 ] || failed=yes
      printf '%-9s %-8s %-7s %-8s %-11s %3d warnings %5.1f minutes\n' "$suite" "$compiler" \
        "$(in_system "$root" "$compiler" -dumpfullversion -dumpversion 2>/dev/null || echo -)" "$command" \
        "$result" "$warnings" "$(((SECONDS - start) / 6))e-1"
    done
  done
  [ "$keep" ] || rm -rf "$root"
done
if [ "$failed" ]; then
  echo "logs: $folder/*.log" >&2
  exit 1
fi
