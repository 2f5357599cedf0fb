#!/bin/sh
# Read by the commands in this folder. Written for every POSIX sh.

# Ends with a message if `node` on PATH cannot run the programs.
need_node() {
  major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null) || major=0
  [ "$major" -ge 24 ] && return
  printf 'whence: needs Node 24 or newer on PATH\n' >&2
  exit 1
}

# Runs a program of this folder in place of this shell, so that signals reach it. $1: its file without the ending; then
# its arguments.
start() {
  folder=$(dirname -- "$1")
  # A package holds JavaScript, a checkout TypeScript.
  if [ -f "$1.js" ]; then program=$1.js; else program=$1.ts; fi
  shift
  # On Linux, Node 24 comes with the packages: below this one, or among those that it was installed with.
  PATH=$folder/../node_modules/.bin:$folder/../../.bin:$PATH
  [ -x "$folder/../node_modules/.bin/node" ] || need_node
  exec node "$program" "$@"
}
