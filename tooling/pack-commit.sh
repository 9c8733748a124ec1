#!/usr/bin/env bash
# Builds and packs the command line of a commit of this repository, and prints the folder of the unpacked package.
#   tooling/pack-commit.sh 5b0a94ce /tmp/there      a commit, in a worktree that is removed again
#   tooling/pack-commit.sh . /tmp/there             this checkout as it is
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
commit=$1 out=$2
mkdir -p "$out"

if [ "$commit" = . ]; then
  source=$root
else
  if ! git -C "$root" cat-file -e "$commit^{commit}" 2>/dev/null; then
    echo "$commit is not in this clone. Run: git fetch --unshallow" >&2
    exit 1
  fi
  source=$out/source
  trap 'git -C "$root" worktree remove --force "$source" >&2' EXIT
  git -C "$root" worktree add --quiet --detach "$source" "$commit" >&2
fi

cd "$source"
manager=$(node -p "require('./package.json').packageManager")
pnpm() { npx -y "$manager" "$@" >&2; }
if [ "$commit" != . ]; then pnpm install --frozen-lockfile --prefer-offline --reporter=silent; fi
pnpm exec turbo run build --filter=@agentproto/cli... --output-logs=errors-only
# Of some commits, the cache has not all files of this package.
if [ "$commit" != . ]; then pnpm --filter @agentproto/cli build; fi
(cd packages/cli && pnpm pack --pack-destination "$out")
tar -C "$out" -xzf "$out"/agentproto-cli-*.tgz
echo "$out/package"
