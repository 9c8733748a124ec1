import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Puts programs of these names into a folder of PATH: agents of the catalogue, as far as installing, their version and
 * their login go. In a session they are the demo agent, so they need neither a model nor a network.
 */
export function putCatalogueAgents(bin: string, demoAgent: string): void {
  const talk = `exec node '${demoAgent}' "$@"`
  const program = (name: string, lines: readonly string[]) =>
    writeFileSync(join(bin, name), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 })
  program('claude-agent-acp', [
    'case "$*" in',
    '  --version) echo 0.100.0 ;;',
    `  '--cli auth status') test -n "\${ANTHROPIC_API_KEY:-}" ;;`,
    `  *) ${talk} ;;`,
    'esac',
  ])
  program('codex-acp', [
    'case "$*" in',
    `  --version) echo '@agentclientprotocol/codex-acp 2.6.0' ;;`,
    `  *) ${talk} ;;`,
    'esac',
  ])
}
