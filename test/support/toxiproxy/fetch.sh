#!/bin/sh
# Builds toxiproxy from its Go module, once, and prints the path of the program.
# Written for every POSIX sh; no arguments; progress goes to stderr; ends with 1 and a reason where it cannot.

set -eu

version=2.12.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/whence
program=$cache/toxiproxy-$version

say() {
  printf 'toxiproxy: %s\n' "$*" >&2
}

if [ ! -x "$program" ]; then
  if ! command -v go >/dev/null 2>&1; then
    say 'go is missing; version 1.23 or newer builds it'
    exit 1
  fi
  mkdir -p "$cache"
  new=$(mktemp -d "$cache/toxiproxy-new.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  say "building toxiproxy $version, some seconds, once"
  if ! GOBIN="$new" CGO_ENABLED=0 go install "github.com/Shopify/toxiproxy/v2/cmd/server@v$version" >&2; then
    say 'go could not build it; its words stand above'
    exit 1
  fi
  mv "$new/server" "$program"
fi
printf '%s\n' "$program"
