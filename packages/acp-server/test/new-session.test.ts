import { wantedSession } from '@agentproto/acp-server'
import { spawnAgentSchema, type SpawnAgentRequest } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { page } from '../../../tooling/markdown.ts'
import { ROOT } from '../../../tooling/packages.ts'

/** Of each member of a start a value that it may have: a new one does not compile until it is here. */
const STARTS: Readonly<Required<SpawnAgentRequest>> = {
  adapter: 'demo',
  workspaceSlug: 'shop',
  cwd: '/work',
  prompt: 'hello',
  label: 'one',
  title: 'One',
  mode: 'plan',
  options: { fast: true },
  permissionMode: 'ask',
  additionalDirectories: ['/more'],
  worktree: true,
  mcpServers: [],
  instructions: 'Be brief',
  envelope: true,
  continuation: 'transcript',
  ttlSeconds: 60,
  budget: { turns: 1 },
  loops: { stopAfter: 10 },
  requestTimeoutMs: 0,
  on: 'any',
  onHostLoss: 'move',
  delegation: {},
  idempotencyKey: 'k',
}

test('the values are those of a start', () => {
  expect(spawnAgentSchema.parse(STARTS)).toEqual(STARTS)
})

test('docs/acp.md has each member that _meta.agentproto of session/new may have, and docs/ide.md names them', () => {
  const [, table = ''] = page(ROOT, 'docs/acp.md').split('## What a new session is')
  const documented = [...(table.split('\n## ')[0] ?? '').matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  )
  const isTaken = ([name, value]: readonly [string, unknown]): boolean => {
    try {
      wantedSession({}, { cwd: '/work', additionalDirectories: [], mcpServers: [], meta: { [name]: value } })
      return true
    } catch {
      return false
    }
  }
  const taken = Object.entries(STARTS)
    .filter(isTaken)
    .map(([name]) => name)
  expect(taken.toSorted()).toEqual(documented.toSorted())
  const [, named = ''] =
    /`_meta: \{"agentproto": \{([^}]*)\}\}` of `session\/new`/.exec(page(ROOT, 'docs/ide.md')) ?? []
  expect([...named.matchAll(/"(\w+)"/g)].map(([, name]) => name)).toEqual(documented)
})
