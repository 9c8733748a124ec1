#!/usr/bin/env bash
# Writes the homes of this folder: builds the command line of earlier commits, and lets each write a home.
#   e2e/homes/write-homes.sh 01:5b0a94ce 02:bf236246
# Linux and root only: in a mount namespace of its own, every path in a home begins with /srv, and none is of this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# Runs in the namespace: $1 is the unpacked package, $2 the archive that is written.
write_home() {
  hostname host
  mount -t tmpfs none /srv
  mkdir -p /srv/work /srv/user /srv/agentproto
  touch /srv/node
  mount --bind "$(readlink -f "$(command -v node)")" /srv/node
  mount --bind "$1" /srv/agentproto
  cd /srv/work
  env -i PATH=/usr/bin:/bin HOME=/srv/user AGENTPROTO_HOME=/srv/home GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost \
    GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@localhost /srv/node "$here/write-home.mjs"
  rm -f /srv/home/daemon.json
  tar -C /srv --sort=name --owner=0 --group=0 --numeric-owner -cf - home user work expected.json | gzip -n9 >"$2"
}

if [ "${1:-}" = --within ]; then
  write_home "$2" "$3"
  exit
fi
for pair in "$@"; do
  name=${pair%%:*} commit=${pair##*:}
  package=$(bash "$root/tooling/pack-commit.sh" "$commit" "$out/$name")
  unshare --mount --uts --pid --fork --mount-proc bash "$0" --within "$package" "$here/$name-$commit.tar.gz"
  echo "$name-$commit.tar.gz"
done
