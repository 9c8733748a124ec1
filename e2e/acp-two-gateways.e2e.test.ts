import type { Client, SessionEvent } from '@agentproto/client'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startDaemon } from './support/daemon.js'
import { allEvents, keepingHome, ofType, startKeeping, type Succession, textIn } from './support/kept-agents.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'
import { addRemoteAdapter, setSecret } from './support/remote-adapter.js'

// Two gateways in a row: the agent of the first is `/acp/demo` of the second.

const PATIENCE = { timeout: 60_000 }

const chunks = (count: number): string => Array.from({ length: count }, (_, at) => `chunk ${at + 1}\n`).join('')

/** A gateway whose adapter `build` is the demo agent of another one. */
async function inARow(other: Succession, more: object = {}): Promise<Succession> {
  const { token } = await other.first.client.tokens.create({ name: 'front', scope: 'operate' })
  const prepare = async (home: string): Promise<void> => {
    // A named token starts agents in the folders of workspaces.
    await other.first.client.workspaces.add({ path: home, slug: 'front' })
    addRemoteAdapter(home, { slug: 'build', url: other.first.url, token })
  }
  return startKeeping('front', { prepare, ...more })
}

const textSoFar = async (client: Client, id: string): Promise<string> => textIn(await allEvents(client, id))

const says = async (client: Client, id: string, text: string): Promise<void> =>
  expect.poll(() => textSoFar(client, id), PATIENCE).toContain(text)

const noticesIn = (events: readonly SessionEvent[]): string =>
  ofType(events, 'notice')
    .map(({ text }) => text)
    .join('\n')

test('an agent of another gateway: two turns, a permission, an interrupt; and a kill ends it', async () => {
  const back = await startKeeping('back')
  const front = await inARow(back)
  const { client } = front.first
  const { id } = await client.sessions.start({ adapter: 'build', cwd: front.home })
  expect(await client.sessions.promptAndWait(id, { prompt: 'hello' })).toMatchObject({ text: 'echo: hello' })
  expect(await client.sessions.promptAndWait(id, { prompt: 'recall' })).toMatchObject({ text: '1: hello' })
  const { turn } = await client.sessions.prompt(id, { prompt: 'ask a.txt yes' })
  const asked = await pendingPermission(client, id)
  await client.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
  expect(await client.sessions.waitTurn(id, turn)).toMatchObject({ reason: 'end_turn' })
  expect(readFileSync(join(front.home, 'a.txt'), 'utf8')).toBe('yes\n')
  await client.sessions.prompt(id, { prompt: 'stream 1; hang' })
  await says(client, id, 'chunk 1')
  await client.sessions.interrupt(id)
  expect(await client.sessions.waitTurn(id, 4)).toMatchObject({ reason: 'cancelled' })
  const [there] = (await back.first.client.sessions.list()).sessions
  expect(there).toMatchObject({ status: 'running', cwd: front.home })
  await client.sessions.kill(id)
  expect(await client.sessions.get(id)).toMatchObject({ status: 'killed' })
})

test('the other gateway is killed with -9 in mid-turn and comes back: the turn goes on, nothing is missing, nothing comes twice', async () => {
  const back = await startKeeping('back')
  const front = await inARow(back)
  const { client } = front.first
  const { id } = await client.sessions.start({ adapter: 'build', cwd: front.home })
  await client.sessions.prompt(id, { prompt: 'stream 400 10; ask a.txt late' })
  await says(client, id, 'chunk 20\n')
  await back.first.crash()
  const again = await back.next()
  const asked = await pendingPermission(client, id)
  expect(await textSoFar(client, id)).toBe(chunks(400))
  await client.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
  expect(await client.sessions.waitTurn(id, 1)).toMatchObject({ reason: 'end_turn' })
  const events = await allEvents(client, id)
  expect(ofType(events, 'agent-prompt')).toHaveLength(1)
  expect(ofType(events, 'tool-call').map(({ toolCallId }) => toolCallId)).toHaveLength(
    ofType(await allEvents(again.client, (await again.client.sessions.list()).sessions[0]?.id ?? ''), 'tool-call')
      .length,
  )
  expect(noticesIn(events)).not.toBe('')
  expect(await client.sessions.promptAndWait(id, { prompt: 'hello' })).toMatchObject({ text: 'echo: hello' })
})

test('the other gateway is killed with -9 and its agents with it: the turn says what happened, and the session goes on', async () => {
  const back = await startKeeping('back', { config: { keeper: false } })
  const front = await inARow(back)
  const { client } = front.first
  const { id } = await client.sessions.start({ adapter: 'build', cwd: front.home })
  await client.sessions.promptAndWait(id, { prompt: 'remember heron' })
  await client.sessions.prompt(id, { prompt: 'stream 1; hang' })
  await says(client, id, 'chunk 1')
  await back.first.crash()
  await back.next()
  expect(await client.sessions.waitTurn(id, 2)).toMatchObject({ reason: 'error' })
  const events = await allEvents(client, id)
  // What the other gateway says of the turn, and what became of the connection to it.
  expect(ofType(events, 'error').map(({ message }) => message)).toEqual([
    'The gateway ended while the session was active',
  ])
  expect(noticesIn(events)).toMatch(/was lost .*\n.* is back/)
  const { text } = await client.sessions.promptAndWait(id, { prompt: 'recall' })
  expect(text).toContain('remember heron')
})

test('this gateway is killed with -9 in mid-turn and comes back: the next prompt goes on with the conversation', async () => {
  const back = await startKeeping('back')
  const front = await inARow(back)
  const { id } = await front.first.client.sessions.start({ adapter: 'build', cwd: front.home })
  await front.first.client.sessions.promptAndWait(id, { prompt: 'remember heron' })
  await front.first.client.sessions.prompt(id, { prompt: 'stream 50 10' })
  await says(front.first.client, id, 'chunk 5\n')
  await front.first.crash()
  const { client } = await front.next()
  const [there] = (await back.first.client.sessions.list()).sessions
  // The turn belongs to the session of the other gateway, and ends there.
  expect(await back.first.client.sessions.waitTurn(there?.id ?? '', 2)).toMatchObject({ reason: 'end_turn' })
  const { text } = await client.sessions.promptAndWait(id, { prompt: 'recall' })
  expect(text).toContain('remember heron')
  expect((await back.first.client.sessions.list()).sessions).toHaveLength(1)
})

test('the token of this gateway is revoked in mid-turn: the turn says so, and a new token is enough to go on', async () => {
  const back = await startKeeping('back')
  const front = await inARow(back)
  const { client } = front.first
  const { id } = await client.sessions.start({ adapter: 'build', cwd: front.home })
  await client.sessions.promptAndWait(id, { prompt: 'remember heron' })
  await client.sessions.prompt(id, { prompt: 'stream 1; hang' })
  await says(client, id, 'chunk 1')
  await back.first.client.tokens.revoke('front')
  expect(await client.sessions.waitTurn(id, 2)).toMatchObject({ reason: 'error' })
  const errors = ofType(await allEvents(client, id), 'error').map(({ message }) => message)
  expect(errors.join('\n')).toMatch(/refuses the credentials/)
  const { token } = await back.first.client.tokens.create({ name: 'again', scope: 'operate' })
  setSecret(front.home, 'build', token)
  const [there] = (await back.first.client.sessions.list()).sessions
  await back.first.client.sessions.interrupt(there?.id ?? '')
  const { text } = await client.sessions.promptAndWait(id, { prompt: 'recall' })
  expect(text).toContain('remember heron')
  // The value of the secret is nowhere in what this gateway stored of the session.
  expect(JSON.stringify(await allEvents(client, id))).not.toContain(token)
})

test('three gateways in a row: a prompt, a permission and an interrupt come through', async () => {
  const last = await startKeeping('last')
  const middle = await inARow(last)
  const { token } = await middle.first.client.tokens.create({ name: 'first', scope: 'operate' })
  const home = keepingHome('first')
  for (const { first } of [last, middle]) await first.client.workspaces.add({ path: home, slug: 'first' })
  addRemoteAdapter(home, { slug: 'far', url: middle.first.url, path: '/acp/build', token })
  const { client } = await startDaemon({ home })
  const { id } = await client.sessions.start({ adapter: 'far', cwd: home })
  expect(await client.sessions.promptAndWait(id, { prompt: 'hello' })).toMatchObject({ text: 'echo: hello' })
  await client.sessions.prompt(id, { prompt: 'ask a.txt far' })
  const asked = await pendingPermission(client, id)
  expect(existsSync(join(home, 'a.txt'))).toBe(false)
  await client.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
  expect(await client.sessions.waitTurn(id, 2)).toMatchObject({ reason: 'end_turn' })
  expect(readFileSync(join(home, 'a.txt'), 'utf8')).toBe('far\n')
  await client.sessions.prompt(id, { prompt: 'stream 1; hang' })
  await says(client, id, 'chunk 1')
  await client.sessions.interrupt(id)
  expect(await client.sessions.waitTurn(id, 3)).toMatchObject({ reason: 'cancelled' })
})
