import { dirname } from 'node:path'
import { openKeeper } from '@agentproto/keeper'
import { expect, test } from 'vitest'
import { keeperFolder } from './keeper-process.ts'

test('the example of the README', async () => {
  const home = dirname(keeperFolder())
  const env = { PATH: '/usr/bin:/bin', AGENTPROTO_SESSION_ID: 'readme' }
  const launch = { command: '/bin/cat', args: [], cwd: '/', env, marker: 'readme' }
  const keeper = await openKeeper({ folder: `${home}/keeper`, orphanMs: 24 * 3_600_000 })
  const agent = (await keeper.adopt('cat')) ?? (await keeper.spawn('cat', launch, ''))
  void agent.write('hello\n')
  for await (const chunk of agent.read('stdout', agent.kept.stdout.first)) {
    expect(chunk.toString()).toBe('hello\n')
    await agent.acknowledge({ stdin: 6, stdout: chunk.length, stderr: 0 }, 'said hello', false)
    break
  }
  keeper.close()

  const next = await openKeeper({ folder: `${home}/keeper`, orphanMs: 1_000 })
  const adopted = await next.adopt('cat')
  expect(adopted).toMatchObject({
    process: agent.process,
    facts: 'said hello',
    kept: { stdout: { first: 6, next: 6 } },
  })
  adopted?.endInput()
  expect(await adopted?.exit).toEqual({ exitCode: 0 })
  await adopted?.release()
  expect(await next.stop()).toBe(true)
  await next.lost
})
