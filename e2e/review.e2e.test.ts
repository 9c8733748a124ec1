import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { startGateway } from './support/gateway.js'
import { mergeTwoWorktrees, reviewThreeTurns, shopRepository, THREE_TURNS } from './support/reviewed-work.js'

test(
  '13 the demo agent adds, changes, deletes and renames: each change is listed, and rewinds restore every byte',
  needs('git'),
  async () => {
    const { client } = await startGateway()
    const folder = shopRepository()
    const { id } = await client.sessions.start({ adapter: 'demo', cwd: folder, permissionMode: 'approve-all' })
    const listed = await reviewThreeTurns(
      { client, id, folder },
      {
        add: 'write notes.md hello',
        deleteAndRename: 'run rm old.txt && mkdir lib && mv src/main.ts lib/main.ts',
        change: 'write notes.md goodbye',
      },
    )
    expect(listed).toEqual(THREE_TURNS)
  },
)

test(
  '13.4 two demo agents work at once in two worktrees of one repository, and both are merged',
  needs('git'),
  async () => {
    const { client } = await startGateway()
    const merged = await mergeTwoWorktrees(client, { adapter: 'demo', write: (name) => `write ${name} hello` })
    expect(merged).toEqual(['one.txt', 'two.txt'])
  },
)
