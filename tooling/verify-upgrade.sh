#!/usr/bin/env bash
# An upgrade as users do it: the packed command line of an earlier commit and that of this checkout serve one home by turns, twice.
# Then a home in a newer format is refused. Then they do it while agents work, with an earlier commit that has a keeper.
#   tooling/verify-upgrade.sh [commit [commit with a keeper]]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
earlier=${1:-7e73f5db} keeping=${2:-d47af014}
out=$(mktemp -d)
trap 'stop_all; rm -rf "$out"' EXIT
export AGENTPROTO_HOME=$out/home AGENTPROTO_DEMO_HOME=$out/demo NO_COLOR=1
unset AGENTPROTO_URL AGENTPROTO_TOKEN

# Runs a command of one of the two: `old sessions`, `new status`.
old() { node "$out/old/package/bin/agentproto.mjs" "$@"; }
new() { node "$out/new/package/bin/agentproto.mjs" "$@"; }
stop_all() { for each in new old; do $each stop >/dev/null 2>&1 || true; done; }

fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

# Runs a command, which must succeed and print each of the given words.
expect() {
  local words=$1 said
  shift
  said=$("$@" 2>&1) || fail "$* failed:" "$said"
  for word in $words; do
    grep -qF -- "$word" <<<"$said" || fail "$* did not print $word:" "$said"
  done
}

# Packs a commit without its long output.
pack() {
  bash "$root/tooling/pack-commit.sh" "$1" "$out/$2" >"$out/log" 2>&1 || fail "packing $1 failed:" "$(cat "$out/log")"
}

# A shallow clone does not have them.
for commit in "$earlier" "$keeping"; do
  if git -C "$root" cat-file -e "$commit^{commit}" 2>/dev/null; then continue; fi
  echo "not checked: this clone does not have $commit. Run: git fetch --unshallow"
  exit
done
pack "$earlier" old
pack "$keeping" keeping
pack . new
mkdir "$out/project"
cd "$out/project"

old serve --detach --port 0 >/dev/null 2>&1
old workspace add "$out/project" --use >/dev/null 2>&1
old sessions start demo --label try >/dev/null 2>&1
token=$(old token create --name ci --scope read)
old stop 2>/dev/null
said=
for each in old new old new; do
  $each serve --detach --port 0 >/dev/null 2>&1
  expect conversation "$each" sessions resume try
  expect "echo: $each-${#said}" "$each" sessions prompt try "$each-${#said}" --wait
  said="$said $each-${#said}"
  expect "$said" "$each" sessions prompt try recall --wait
  expect project "$each" workspace list
  if [ -n "$token" ]; then expect try env AGENTPROTO_TOKEN="$token" node "$out/$each/package/bin/agentproto.mjs" sessions; fi
  # An agentproto from before home.json refuses no home: it moves a file of tokens with their last use aside.
  if [ "$each" = new ]; then token=; fi
  $each stop 2>/dev/null
done
expect "1, written by agentproto upgraded from 0" new doctor

printf '{"format":99,"writtenBy":{"version":"42.0.0"}}' >"$AGENTPROTO_HOME/home.json"
before=$(cd "$AGENTPROTO_HOME" && find . -type f -exec sha256sum {} + | sort)
for command in "serve --port 0" status sessions "workspace list"; do
  # shellcheck disable=SC2086 # the words of the command
  if said=$(new $command 2>&1); then fail "new $command accepted a newer home"; fi
  grep -qF '42.0.0, in format 99' <<<"$said" || fail "new $command did not name the newer agentproto:" "$said"
done
[ "$before" = "$(cd "$AGENTPROTO_HOME" && find . -type f -exec sha256sum {} + | sort)" ] || fail 'A refused home was changed'
echo "$earlier and this checkout served one home by turns, twice; a newer home was refused"

node "$root/tooling/verify-kept-upgrade.mjs" "$out/keeping/package" "$out/new/package"
