import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '@agentproto/contracts'
import { openAudit, openTokens } from '@agentproto/server'
import { createWorkspaces } from '@agentproto/workspaces'
import { expect, test } from 'vitest'
import { temporaryFolder } from './fixtures/temporary-folder.js'

const onProblem = (problem: string): never => expect.unreachable(problem)

test('the example of the README', async () => {
  const home = await temporaryFolder()
  const registered = createWorkspaces({ home, defaultCwd: home })
  const tokens = openTokens({ home, workspaces: registered })
  const { token } = await tokens.create({ name: 'ci', scope: 'operate' })

  const path = join(home, 'logs', 'audit.jsonl')
  const audit = openAudit({ path, clock: systemClock, redact: (json) => json, onProblem })
  const workspaces = audit.wrap('workspaces', registered)
  await workspaces.add({ path: home, slug: 'here' }, { type: 'owner', name: 'me' })
  await audit.close()
  const actions = [...readFileSync(path, 'utf8').matchAll(/"action":"([^"]+)"/g)].map(([, action]) => action)
  expect([token.startsWith('agp_t_'), actions]).toEqual([true, ['token-create', 'workspace-add']])
})
