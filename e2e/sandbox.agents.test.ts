import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogPath } from '@agentproto/adapters'
import { expect, test } from 'vitest'
import { startOpenCodeGateway } from './support/opencode.js'
import type { OpenCodeFolders } from './support/opencode.js'
import { temporaryFolder } from './support/temporary-folder.js'
import { needs } from '../tooling/needs.ts'
import { findProgram } from '../tooling/programs.mjs'

// CI installs it. Where it does not work, the session must report that.
const confines = findProgram('bwrap') !== undefined
const ESCAPE = '/etc/agentproto-opencode-escape'

/** OpenCode's adapter with a profile that lets it write to its home and its workspace, and reach its model. */
function confinedAdapters({ home, mockUrl }: OpenCodeFolders): string {
  const adapters = temporaryFolder('adapters')
  const folder = join(adapters, 'opencode')
  cpSync(join(catalogPath, 'opencode'), folder, { recursive: true })
  const file = join(folder, 'SANDBOX.md')
  const blocks = [
    'mounts:',
    '  - { source: workspace, at: /workspace, mode: read-write }',
    `  - { source: { file: '~' }, at: ${home}, mode: read-write }`,
    'network:',
    `  egress: ['${new URL(mockUrl).host}']`,
    'metadata:\n',
  ]
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^metadata:\n/m, blocks.join('\n')))
  return adapters
}

test(
  'F82 OpenCode in a sandbox uses its model and its workspace, and cannot write outside it',
  needs('opencode'),
  async () => {
    const { client, cwd } = await startOpenCodeGateway((folders) => ({ adapters: [confinedAdapters(folders)] }))
    const permissionMode = 'approve-all'
    const { id, sandbox } = await client.sessions.start({ adapter: 'opencode', cwd, permissionMode })
    expect([sandbox?.provider, sandbox?.enforced]).toEqual(['local', confines])
    const escape = confines ? ESCAPE : join(cwd, 'nothing-confines')
    const turn = await client.sessions.promptAndWait(id, { prompt: `RUN touch inside ${escape}` })
    expect(turn).toMatchObject({ reason: 'end_turn' })
    expect([existsSync(join(cwd, 'inside')), existsSync(ESCAPE)]).toEqual([true, false])
    await client.sessions.kill(id)
  },
)
