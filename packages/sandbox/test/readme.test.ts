import { systemClock } from '@agentproto/contracts'
import { createSandboxes } from '@agentproto/sandbox'
import { expect, test } from 'vitest'
import { folder, run } from './confining.ts'

test('the example of the README', async () => {
  const cwd = folder()
  const PATH = process.env['PATH'] ?? ''

  const mounts = [{ source: 'workspace', at: '/workspace', mode: 'read-write' }] as const
  const profile = { provider: 'local', config: {}, limits: {}, mounts, readOnly: false }
  const launch = {
    command: '/bin/sh',
    args: ['-c', 'echo escaped > /etc/escaped'],
    cwd,
    env: { PATH },
    marker: 'example',
  }
  const { signal } = new AbortController()
  const confined = await createSandboxes().confine(profile, { launch, clock: systemClock, signal })
  const { enforced, reason = '' } = confined.sandbox
  const escape = enforced ? await run(confined.launch) : { code: 1, stderr: reason }
  expect(escape).toMatchObject({ code: expect.toSatisfy((code) => code !== 0), stderr: expect.stringMatching(/./) })
  await confined.release()
})
