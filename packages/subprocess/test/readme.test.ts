import { spawnAgentProcess } from '@agentproto/subprocess'
import { expect, test } from 'vitest'

test('the example of the README', async () => {
  const said: string[] = []
  const env = { PATH: '/usr/bin:/bin', AGENTPROTO_SESSION_ID: 'readme' }
  const agent = await spawnAgentProcess(
    { command: '/bin/cat', args: [], cwd: '/', env, marker: 'readme' },
    { graces: { stdinGraceMs: 1_500, termGraceMs: 5_000 }, onLines: (lines) => void said.push(...lines) },
  )
  void agent.write('hello')
  await agent.terminate()
  await agent.closed
  expect(said).toEqual(['hello'])
})
