// Where the end-to-end tests keep real agents: outside the workspace, one folder per version.
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The agents and the third-party clients, pinned. A newer version is chosen by hand, after a review of its changes. */
export const PINNED_AGENTS = {
  opencode: { package: 'opencode-ai', version: '1.18.33' },
  // The last Codex versions with an MCP server.
  codex: {
    package: '@openai/codex',
    version: '0.140.0',
    // The program behind npm's launcher: one process less.
    native: '@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex',
  },
  // Current Codex, over ACP.
  'codex-acp': { package: '@agentclientprotocol/codex-acp', version: '2.6.0' },
  gemini: { package: '@google/gemini-cli', version: '0.61.0' },
  // Not an agent: a third-party ACP client that drives agents through the gateway.
  acpx: { package: 'acpx', version: '0.19.1' },
  // Third-party MCP clients. Neither prints its version.
  conformance: { package: '@modelcontextprotocol/conformance', version: '0.1.16', mute: true },
  inspector: { package: '@modelcontextprotocol/inspector', version: '2.12.0', mute: true },
}

export const cacheFolder = process.env.AGENTPROTO_E2E_CACHE || join(homedir(), '.cache', 'agentproto-e2e')

/** The folder of a pinned agent, which may not exist. */
export function agentFolder(name) {
  return join(cacheFolder, `${name}-${PINNED_AGENTS[name].version}`)
}

/** Absolute path of an installed agent's executable; undefined when the pinned version is not installed. */
export function installedAgent(name) {
  const { package: npmPackage, version, native } = PINNED_AGENTS[name]
  const modules = join(agentFolder(name), 'node_modules')
  const binary = native === undefined ? undefined : join(modules, native)
  const executable = binary !== undefined && existsSync(binary) ? binary : join(modules, '.bin', name)
  const manifest = join(modules, npmPackage, 'package.json')
  if (!existsSync(executable) || !existsSync(manifest)) return undefined
  return JSON.parse(readFileSync(manifest, 'utf8')).version === version ? executable : undefined
}
