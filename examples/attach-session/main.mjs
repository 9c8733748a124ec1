// Follows a session from its first line, as `agentproto sessions --attach` does, with prompts from any client.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@agentproto/client'
import { createGateway } from '@agentproto/runtime'

const home = await mkdtemp(join(tmpdir(), 'attach-'))
const gateway = await createGateway({ home })

try {
  // In another process, read the url from daemon.json of the home, and the token from the file `token` beside it.
  const { sessions } = createClient(await gateway.listen({ port: 0 }))
  const { id } = await sessions.start({ adapter: 'demo', cwd: home, prompt: 'stream 3' })
  await sessions.waitTurn(id, 1)

  // The follower starts late and misses nothing. It ends with the session.
  const lines = []
  const following = (async () => {
    for await (const item of sessions.stream(id)) {
      if (item.type === 'line') lines.push(item.line.line)
    }
  })()
  await sessions.promptAndWait(id, { prompt: 'second turn' })
  await sessions.kill(id)
  await following

  console.log(lines.join('\n'))
  assert.equal(lines.filter((line) => line.startsWith('[user]')).length, 2)
  assert.equal(lines.filter((line) => line.startsWith('── turn-end')).length, 2)
} finally {
  await gateway.close()
  await rm(home, { recursive: true, force: true })
}
