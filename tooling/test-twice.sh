#!/usr/bin/env bash
# Runs a test script of package.json. When at most three of its files fail, these run once more, alone: on a busy machine a
# race of one test in five thousand must not decide about a change. A test that fails again has failed, and what passed only
# the second time is printed as flaky: each is a defect to fix. A file that is stuck (stuck-files-reporter.ts) has failed.
set -euo pipefail
script=$1
FAILED_FILES=$(mktemp)
export FAILED_FILES
trap 'rm -f "$FAILED_FILES"' EXIT

pnpm() { npx -y "$(node -p "require('./package.json').packageManager")" "$@"; }

status=0
pnpm "$script" || status=$?
mapfile -t failed <"$FAILED_FILES"
if [ "$status" -eq 0 ]; then exit 0; fi
if [ "${#failed[@]}" -eq 0 ] || [ "${#failed[@]}" -gt 3 ]; then exit "$status"; fi

printf '\n=== once more, alone: %s\n' "${failed[*]}"
pnpm exec vitest run --maxWorkers 1 "${failed[@]}"
printf '\nflaky: %s\n' "${failed[*]}"
