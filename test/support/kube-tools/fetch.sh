#!/bin/sh
# Builds kube-apiserver, kubectl and helm from their Go modules, once, and prints the folder they lie in.
# Written for every POSIX sh; no arguments; progress goes to stderr; ends with 1 and a reason where it cannot.

set -eu

kube=1.32.4
helm=3.17.3
# Debian's etcd is packaged for these machines, so it is not built here.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/whence
folder=$cache/kube-$kube-helm-$helm
PROGRESS_S=15

say() {
  printf 'kube-tools: %s\n' "$*" >&2
}

# Says how far the build is, for as long as the file that collects the names of built packages is there.
show_progress() {
  while sleep "$PROGRESS_S" && [ -f "$1" ]; do
    say "$(grep -c . "$1") packages built"
  done
}

build() {
  version=k8s.io/component-base/version
  client=k8s.io/client-go/pkg/version
  flags="-s -w"
  for package in "$version" "$client"; do
    flags="$flags -X $package.gitVersion=v$kube -X $package.gitMajor=1 -X $package.gitMinor=32"
  done
  flags="$flags -X helm.sh/helm/v3/internal/version.version=v$helm"
  # The checksum database does not know these modules; go.sum, which lies beside this file, does. The compiler is the
  # one that is installed: none is fetched.
  cd "$here"
  GONOSUMDB='k8s.io/*' GOTOOLCHAIN=local GOFLAGS=-mod=readonly CGO_ENABLED=0 \
    go build -v -ldflags "$flags" -o "$1/" \
    k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kubectl helm.sh/helm/v3/cmd/helm 2>"$2"
}

main() {
  if [ ! -d "$folder" ]; then
    if ! command -v go >/dev/null 2>&1; then
      say 'go is missing; version 1.23 or newer builds kube-apiserver, kubectl and helm'
      exit 1
    fi
    mkdir -p "$cache"
    new=$(mktemp -d "$cache/kube-new.XXXXXX")
    log=$(mktemp "$cache/kube-log.XXXXXX")
    trap 'rm -rf "$new" "$log"' EXIT
    say "building kube-apiserver $kube, kubectl and helm $helm, some minutes, once"
    show_progress "$log" &
    if ! build "$new" "$log"; then
      say 'the build failed:'
      tail -n 20 "$log" >&2
      exit 1
    fi
    # Another run may have been first; its folder is as good.
    chmod 755 "$new"
    mv -T "$new" "$folder" 2>/dev/null || [ -d "$folder" ]
    say "the programs lie in $folder"
  fi
  printf '%s\n' "$folder"
}

main "$@"
