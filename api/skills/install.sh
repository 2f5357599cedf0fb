#!/bin/sh
# Installs the {{brand}}-setup skill into a folder, each file checked against the manifest's SHA-256.
# Use: curl -fsSL {{base_url}}/skills/{{brand}}-setup/install.sh | sh -s -- [FOLDER]
# The braces make a download that was cut short a syntax error, of which nothing is run.
{
set -u

root={{root}}
files={{files}}

fail() {
  echo "$1; nothing was installed" >&2
  exit 1
}

# Prints the SHA-256 of a file; nothing if this machine has no program for it.
digest() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum <"$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then shasum -a 256 <"$1" | cut -d ' ' -f 1; fi
}

# Prints the digest that the manifest gives a file; nothing if it does not name the file.
expected() {
  path=
  while read -r key value; do
    case $key in
      '"path":') path=$value ;;
      '"sha256":') if [ "$path" = "\"$1\"," ]; then echo "$value" | tr -d '"'; return 0; fi ;;
    esac
  done <"$work/manifest.json"
}

# Downloads the first argument into the second one. Never follows a redirect from TLS to plain HTTP.
fetch() {
  case $root in https:*) protocols='=https' ;; *) protocols='=http,https' ;; esac
  curl -fsSL --proto "$protocols" --connect-timeout 10 --max-time 60 "$1" -o "$2" || fail "cannot read $1"
}

main() {
  folder=${1:-./skills/{{brand}}-setup}
  work=$(mktemp -d) || exit 1
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  fetch "$root/manifest.json" "$work/manifest.json"
  for file in $files; do
    mkdir -p "$work/files/$(dirname "$file")" || exit 1
    fetch "$root/$file" "$work/files/$file"
    found=$(digest "$work/files/$file")
    [ "${#found}" -eq 64 ] || fail 'neither sha256sum nor shasum gives a digest'
    [ "$found" = "$(expected "$file")" ] || fail "$file does not match its digest"
  done
  mkdir -p "$folder" && cp -R "$work/files/." "$folder/" && echo "installed into $folder"
}

main "$@"; }
