#!/usr/bin/env bash
# Checks that the Debian package works on a system without anything else. Creates a bare Debian 12
# (debootstrap's minbase), installs the package there with apt, runs it from another folder as an
# unprivileged user, types into bash, zsh and fish, removes it and checks that nothing is left.
# Needs root, and build/release and the page's module (scripts/build_web.sh) must be built.
#
#   scripts/check_package.sh [SYSTEM]
#     SYSTEM: a folder with a bare Debian 12 to use; it is not changed
#
# MIRROR names the Debian mirror; default: http://deb.debian.org/debian.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh debootstrap dpkg-dev
work=build/package-check
rm -rf "$work"
mkdir -p "$work"
system=${1:-build/distributions/bare-bookworm}
if [ ! -x "$system/usr/bin/dpkg" ]; then
  debootstrap --variant=minbase bookworm "$system" "${MIRROR:-http://deb.debian.org/debian}" >"$work/debootstrap.log"
fi
cpack --config build/release/CPackConfig.cmake -B "$work/packages" >"$work/cpack.log" 2>&1
package=$(ls "$work"/packages/*.deb)

# Changes go to an overlay above the system and are discarded with it.
unshare --mount --pid --fork --kill-child bash -euo pipefail -c '
  system=$1 work=$2/layers package=$3
  mkdir -p "$work"
  mount -t tmpfs tmpfs "$work"
  mkdir "$work/upper" "$work/layer" "$work/root"
  mount -t overlay overlay -o "lowerdir=$system,upperdir=$work/upper,workdir=$work/layer" "$work/root"
  cp "$package" scripts/check_completion.sh "$work/root/tmp/"
  cp /etc/resolv.conf "$work/root/etc/resolv.conf"
  mount -t proc proc "$work/root/proc"
  mount -t devpts devpts "$work/root/dev/pts" -o newinstance,ptmxmode=0666  # for shells that are typed into
  ln -sf pts/ptmx "$work/root/dev/ptmx"
  chroot "$work/root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c "
      apt-get update -qq
      find / -xdev \\( -path /proc -o -path /tmp -o -path /var \\) -prune -o -print | sort >/tmp/before
      apt-get install -y -qq --no-install-recommends /tmp/*.deb >/dev/null
      dpkg -s attn-demo | grep -E ^Depends:
      useradd --no-create-home somebody
      cd /var/empty 2>/dev/null || cd /
      setpriv --reuid=somebody --regid=somebody --clear-groups attn-demo translate \"The group went home\" --show cross:2:2
      setpriv --reuid=somebody --regid=somebody --clear-groups attn-demo page --alone /tmp/try.html
      attn-demo --version
      apt-get install -y -qq --no-install-recommends zsh fish >/dev/null
      /tmp/check_completion.sh
      apt-get purge -y -qq zsh fish >/dev/null
      userdel somebody
      apt-get purge -y -qq attn-demo >/dev/null
      apt-get autoremove -y -qq --purge >/dev/null
      rm -f /etc/passwd- /etc/shadow- /etc/group- /etc/gshadow-
      find / -xdev \\( -path /proc -o -path /tmp -o -path /var \\) -prune -o -print | sort >/tmp/after
      echo Left behind:
      comm -13 /tmp/before /tmp/after | grep -i attn && exit 1
      echo nothing of attn-demo
      comm -13 /tmp/before /tmp/after | head
    "
' - "$(realpath "$system")" "$(realpath "$work")" "$(realpath "$package")"
