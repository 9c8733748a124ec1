import { fixtureLaunch, leftovers, RecordingSink } from '@agentproto/arm-testing'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

// The example of the README is packages/arms/mcp/test/conformance.test.ts.

test('the suite’s own search finds a process by its marker, and forgets it once it is gone', async () => {
  const { command, args, cwd, env, marker } = fixtureLaunch('plain', 'silent')
  const child = spawn(command, args, { cwd, env, stdio: ['pipe', 'ignore', 'ignore'] })
  await once(child, 'spawn')
  expect(leftovers(marker)).toEqual([expect.stringContaining('agent.mjs plain silent')])
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(leftovers(marker)).toEqual([])
})

test('the recording sink resolves what waits once its condition holds', async () => {
  const sink = new RecordingSink()
  const waiting = sink.until(() => sink.text === 'ab')
  void sink.emit([{ type: 'text-delta', text: 'a' }])
  void sink.emit([{ type: 'text-delta', text: 'b' }])
  await waiting
  expect(sink.ofType('text-delta')).toHaveLength(2)
})
