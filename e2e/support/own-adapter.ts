import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from './temporary-folder.js'

const demoAgent = fileURLToPath(new URL('../../packages/demo-agent/bin/demo-agent.mjs', import.meta.url))

/**
 * Writes an adapter whose agent is the demo agent, to be installed from its own folder, with a setup that asks for a value and a
 * secret.
 * @returns its folder
 */
export function ownAdapter(more: object = {}, secrets?: object): string {
  const at = join(temporaryFolder('adapter'), 'own')
  mkdirSync(at)
  const base = { name: 'own', id: 'own', description: 'The demo agent behind a setup.', version: '1.0.0' }
  const aip44 = { acp_rev: '064ee1ffe194cdb14e1d45d66875ce74a14933c3', tier: 'governance-aware' }
  const manifest = {
    ...base,
    bin: 'own-agent',
    install: [{ method: 'vendored', path: './own-agent' }],
    version_check: { cmd: 'own-agent --version', parse: '(\\d+\\.\\d+\\.\\d+)', range: '*' },
    setup: [
      { id: 'shop', kind: 'prompt', prompt: 'Which shop?', persist: { env: 'OWN_SHOP' } },
      { id: 'key', kind: 'prompt', prompt: 'Its key?', persist: { env: 'OWN_KEY' } },
    ],
    sandbox: { provider: 'local' },
    protocol: 'acp',
    acp: './ACP.md',
    ...more,
  }
  const write = (name: string, content: unknown) =>
    writeFileSync(join(at, name), `---\n${JSON.stringify(content)}\n---\n`)
  write('AGENT-CLI.md', manifest)
  if (secrets !== undefined) write('SECRETS.md', secrets)
  write('ACP.md', { ...base, kind: 'client', transport: 'stdio', metadata: { aip44 } })
  writeFileSync(join(at, 'own-agent'), `#!/bin/sh\nexec '${process.execPath}' '${demoAgent}' "$@"\n`)
  return at
}
