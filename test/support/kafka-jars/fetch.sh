#!/bin/sh
# Fetches the jars of the Kafka broker that the tests start, once, and prints the folder they lie in.
# Written for every POSIX sh; no arguments; progress goes to stderr; ends with 1 and a reason where it cannot.

set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/whence
folder=$cache/kafka-4.1.1

say() {
  printf 'kafka-jars: %s\n' "$*" >&2
}

if [ ! -d "$folder" ]; then
  for tool in java mvn; do
    if ! command -v "$tool" >/dev/null 2>&1; then
      say "$tool is missing; on Debian: apt-get install openjdk-17-jre-headless maven (test/install-tools.sh does it)"
      exit 1
    fi
  done
  mkdir -p "$cache"
  new=$(mktemp -d "$cache/kafka-new.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  say 'fetching the Kafka 4.1.1 broker, about 55 MB, once'
  if ! mvn -B -q -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$new" >&2; then
    say 'Maven could not fetch it; its words stand above'
    exit 1
  fi
  # Another run may have been first; its folder is as good.
  chmod 755 "$new"
  mv -T "$new" "$folder" 2>/dev/null || [ -d "$folder" ]
  say "the jars lie in $folder"
fi
printf '%s\n' "$folder"
