import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startOpenCodeGateway } from './support/opencode.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'
import { needs } from '../tooling/needs.ts'

/** OpenCode starts slowly while other tests run. */
const PATIENCE = { timeout: 20_000 }

// A real agent through the whole product: manifest, driver, ACP, registry, log, HTTP, client.

test('OpenCode remembers: the second turn repeats the first one', needs('opencode'), async () => {
  const { client, cwd, mock } = await startOpenCodeGateway()
  const session = await client.sessions.start({ adapter: 'opencode', cwd, options: { model: 'mock/mock-2' } })
  expect(session).toMatchObject({ status: 'running', cwd, agent: { name: 'OpenCode', version: '1.18.33' } })
  const first = await client.sessions.promptAndWait(session.id, { prompt: 'my number is 4711' })
  expect(first).toMatchObject({ number: 1, reason: 'end_turn', text: 'echo: my number is 4711' })
  const second = await client.sessions.promptAndWait(session.id, { prompt: 'RECALL' })
  expect(second).toMatchObject({ number: 2, reason: 'end_turn', text: 'RECALL:my number is 4711' })
  // The option of the manifest reached the agent: only its configuration has mock-1.
  expect(mock.log.filter(({ last }) => last === 'RECALL').map(({ model }) => model)).toEqual(['mock-2'])
})

test('OpenCode asks for a permission, gets it, and writes the file', needs('opencode'), async () => {
  const { client, cwd } = await startOpenCodeGateway()
  const { id } = await client.sessions.start({ adapter: 'opencode', cwd, prompt: 'WRITE hello.txt' })
  const asked = await pendingPermission(client, id)
  expect(asked.turn).toBe(1)
  expect((await client.sessions.get(id)).turn.state).toBe('awaiting-input')
  await client.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
  expect(await client.sessions.waitTurn(id, 1)).toMatchObject({ reason: 'end_turn' })
  expect(readFileSync(join(cwd, 'hello.txt'), 'utf8')).toBe('mock wrote hello.txt\n')
})

test('OpenCode is interrupted during a turn, and the session continues', needs('opencode'), async () => {
  const { client, cwd, mock } = await startOpenCodeGateway()
  const { id } = await client.sessions.start({ adapter: 'opencode', cwd, prompt: 'SLOW 50' })
  for await (const event of client.sessions.events(id)) {
    if (event.type === 'text-delta' && event.text.includes('slow-')) break
  }
  expect(await client.sessions.interrupt(id)).toMatchObject({ wasBusy: true })
  expect(await client.sessions.waitTurn(id, 1)).toMatchObject({ reason: 'cancelled' })
  expect(await client.sessions.interrupt(id)).toMatchObject({ wasBusy: false })
  // The request to the model was cancelled, too: an answer that is not read costs nothing.
  await expect.poll(() => mock.log.some(({ last, aborted }) => last === 'SLOW 50' && aborted), PATIENCE).toBe(true)
  expect(await client.sessions.promptAndWait(id, { prompt: 'hello' })).toMatchObject({ text: 'echo: hello' })
})

test(
  'F10 OpenCode retries a failing model without an event, but its stderr has the reason',
  needs('opencode'),
  async () => {
    const { client, cwd } = await startOpenCodeGateway()
    const { id } = await client.sessions.start({ adapter: 'opencode', cwd, prompt: 'FAIL 500' })
    for await (const event of client.sessions.events(id)) {
      expect(event.type).not.toBe('turn-end')
      if (event.type === 'output' && event.text.includes('mock failure 500')) break
    }
    await client.sessions.interrupt(id)
    expect(await client.sessions.waitTurn(id, 1)).toMatchObject({ reason: 'cancelled', empty: true })
  },
)

test('F22 OpenCode, killed during a command, leaves no process', needs('opencode'), async () => {
  const { client, cwd, mark } = await startOpenCodeGateway()
  const { id } = await client.sessions.start({ adapter: 'opencode', cwd, prompt: 'RUN sleep 300' })
  const asked = await pendingPermission(client, id)
  await client.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
  const commands = () => mark.living().join('\n')
  await expect.poll(commands, PATIENCE).toContain('sleep 300')
  expect(await client.sessions.kill(id)).toEqual({ ok: true, id })
  expect(mark.living()).toEqual([])
  expect(await client.sessions.get(id)).toMatchObject({ status: 'killed', stopReason: 'user_canceled' })
})
