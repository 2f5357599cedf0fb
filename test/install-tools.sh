#!/bin/sh
# Installs the browsers, shells and tools that the tests drive, if this machine can do that by itself.
# What it cannot install it names; the tests that need it then say so, and fail with CI=true.
# Written for every POSIX sh; arguments name the tools to look for, without any it is all but the largest; always exits 0.

set -u

# Command to look for, then the Debian package that brings it; `asked`: only if it is named. ksh93 and not ksh, which mksh
# can stand in for.
TOOLS='
chromium chromium
firefox-esr firefox-esr
dash dash
bash bash
busybox busybox
ksh93 ksh
zsh zsh
mksh mksh
tcsh tcsh
shellcheck shellcheck
strace strace
curl curl
wget wget
wrk wrk
sudo sudo
redis-server redis-server
java openjdk-17-jre-headless
mvn maven
openssl openssl
etcd etcd-server
nginx nginx-light
caddy caddy
promtool prometheus
soffice libreoffice-calc-nogui asked
'

say() {
  printf 'install-tools: %s\n' "$*" >&2
}

# Prints the packages whose commands are missing, one a line. $1: the tools to look for; empty for all.
missing_packages() {
  printf '%s' "$TOOLS" | while read -r tool package when; do
    [ -n "$tool" ] || continue
    [ -n "$1" ] || [ -z "$when" ] || continue
    case " ${1:-$tool} " in
      *" $tool "*) ;;
      *) continue ;;
    esac
    command -v "$tool" >/dev/null 2>&1 || printf '%s\n' "$package"
  done
}

# Runs apt-get as root, without questions and with a time limit.
apt() {
  if [ "$(id -u)" -eq 0 ]; then
    DEBIAN_FRONTEND=noninteractive timeout 900 apt-get -o DPkg::Lock::Timeout=120 "$@"
  else
    sudo -n env DEBIAN_FRONTEND=noninteractive timeout 900 apt-get -o DPkg::Lock::Timeout=120 "$@"
  fi
}

may_install() {
  command -v apt-get >/dev/null 2>&1 || return 1
  [ "$(id -u)" -eq 0 ] || { command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; }
}

main() {
  packages=$(missing_packages "$*" | tr '\n' ' ')
  [ -n "$packages" ] || return 0
  if ! may_install; then
    say "please install by hand: $packages"
    return 0
  fi
  say "installing: $packages"
  apt -qq update >&2 || say 'the list of packages could not be brought up to date'
  # One by one if all at once fails: a package that this release does not have must not prevent the others.
  # shellcheck disable=SC2086 # names of packages, none with spaces
  if ! apt -qq install -y --no-install-recommends $packages >&2; then
    for package in $packages; do
      apt -qq install -y --no-install-recommends "$package" >&2 || say "could not install $package"
    done
  fi
  left=$(missing_packages "$*" | tr '\n' ' ')
  [ -z "$left" ] || say "still missing: $left"
  return 0
}

main "$@"
