// agentproto embedded in an application: no daemon, no port, no token.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway } from '@agentproto/runtime'

const home = await mkdtemp(join(tmpdir(), 'embedded-'))
const gateway = await createGateway({ home })
const me = { type: 'owner', name: 'my-app' }

try {
  const session = await gateway.sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'hello' }, me)
  const { text, reason } = await gateway.sessions.waitTurn(session.id, 1)
  console.log(`${session.adapterSlug} said "${text}" (${reason})`)
  assert.equal(reason, 'end_turn')

  // The HTTP surface is a function from Request to Response: mount it in any server, behind any prefix.
  const answer = await gateway.app.request('/sessions', { headers: { authorization: `Bearer ${gateway.token}` } })
  const { sessions } = await answer.json()
  assert.equal(sessions[0].id, session.id)
} finally {
  await gateway.close()
  await rm(home, { recursive: true, force: true })
}
