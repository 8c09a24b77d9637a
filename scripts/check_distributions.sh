#!/usr/bin/env bash
# Checks that the README's two commands succeed on bare Debian systems. Creates the systems (debootstrap's minbase),
# clones this repository's HEAD into each and runs both commands there. Needs root.
#
#   scripts/check_distributions.sh [--only bookworm|trixie] [--clang] [--demo-only] [--keep] [--container]
#
#   --only SUITE   only this one; otherwise Debian 12 and 13, one after the other
#   --clang        with Clang besides GCC
#   --demo-only    only demo.sh
#   --container    the Dockerfile's steps instead: build in one Debian 13, install and serve in another
#   --keep         keeps the systems and what they compiled below build/distributions, for the next run
#
# Prints one line for each command and exits with 1 if one failed or a compiler warned. Logs:
# build/distributions/*.log.
# MIRROR names the Debian mirror; default: the one that this system's apt uses.
set -euo pipefail
cd "$(dirname "$0")/.."

suites=(bookworm trixie) compilers=(g++) commands=(demo.sh test.sh) keep= container=
while [ "$#" -gt 0 ]; do
  case $1 in
    --only) suites=("${2:?--only wants bookworm or trixie}") && shift ;;
    --clang) compilers+=(clang++) ;;
    --demo-only) commands=(demo.sh) ;;
    --keep) keep=yes ;;
    --container) container=yes ;;
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

# make_root ROOT SUITE LOG: a bare system, unless it is already there.
make_root() {
  [ ! -f "$1/made" ] || return 0
  rm -rf "$1"
  debootstrap --variant=minbase "$2" "$1" "$mirror" >"$3"
  # Installed systems have this entry, and chromedriver finds its browser by that name.
  echo '127.0.0.1 localhost' >"$1/etc/hosts"
  touch "$1/made"
}

# The Dockerfile's two stages: the package from one root is installed in another, where a user
# without rights serves the page.
check_container() {
  local build=$folder/container-build run=$folder/container-run log=$folder/container.log port=8087
  make_root "$run" trixie "$folder/container-debootstrap.log"
  [ -f "$build/made" ] || cp -a "$run" "$build"
  rm -rf "$build/src"
  git clone -q "file://$PWD" "$build/src"
  in_system "$build" bash /src/scripts/container.sh build /packages >"$log" 2>&1
  cp "$build"/packages/attn-demo_*.deb "$run/tmp/attn-demo.deb"
  cp scripts/container.sh "$run/tmp"
  in_system "$run" bash /tmp/container.sh install /tmp/attn-demo.deb >>"$log" 2>&1
  in_system "$run" setpriv --reuid=65534 --regid=65534 --clear-groups \
    attn-demo serve --host 0.0.0.0 --port "$port" --name localhost >"$folder/container-address" 2>>"$log" &
  local server=$!
  for _ in $(seq 50); do
    [ -s "$folder/container-address" ] && break
    sleep 0.2
  done
  local address
  address=$(sed 's/0\.0\.0\.0/localhost/' "$folder/container-address")
  # grep without -q, which would end before curl has written everything
  curl -fsS "$address" | grep '<title>attn-demo</title>' >/dev/null
  curl -fsS -H 'Content-Type: application/json' "${address%%\?*}translate" \
    -d '{"q": "The group went home", "source": "en", "target": "de", "api_key": "'"${address#*token=}"'"}' |
    tee -a "$log" | grep 'Die Gruppe ging nach Hause' >/dev/null
  pkill -P "$server"  # unshare, and with it what it started
  echo "container: built, installed and served"
}

if [ "$container" ]; then
  check_container
  exit
fi

failed=
for suite in "${suites[@]}"; do
  root=$folder/$suite
  make_root "$root" "$suite" "$folder/$suite-debootstrap.log"
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
