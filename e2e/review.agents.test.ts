import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { startOpenCodeGateway } from './support/opencode.js'
import { mergeTwoWorktrees, reviewThreeTurns, shopRepository, THREE_TURNS } from './support/reviewed-work.js'

test(
  '13 OpenCode adds, changes, deletes and renames: each change is listed, and rewinds restore every byte',
  needs('opencode', 'git'),
  async () => {
    const { client } = await startOpenCodeGateway()
    const folder = shopRepository()
    const { id } = await client.sessions.start({ adapter: 'opencode', cwd: folder, permissionMode: 'approve-all' })
    const listed = await reviewThreeTurns(
      { client, id, folder },
      {
        add: 'WRITE notes.md',
        deleteAndRename: 'RUN rm old.txt && mkdir lib && mv src/main.ts lib/main.ts',
        change: 'READ notes.md then EDIT notes.md',
      },
    )
    expect(listed).toEqual(THREE_TURNS)
  },
)

test(
  '13.4 two OpenCodes work at once in two worktrees of one repository, and both are merged',
  needs('opencode', 'git'),
  async () => {
    const { client } = await startOpenCodeGateway()
    const merged = await mergeTwoWorktrees(client, { adapter: 'opencode', write: (name) => `WRITE ${name}` })
    expect(merged).toEqual(['one.txt', 'two.txt'])
  },
)
