import type { Principal, Session } from '@agentproto/contracts'
import type { Gateway } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.js'
import { knows, PATIENT, twoHosts } from './fixtures/two-hosts.js'

const owner: Principal = { type: 'owner', name: 'owner' }

async function exported({ archive }: Gateway, id: string): Promise<string> {
  const pieces: string[] = []
  for await (const piece of await archive.export(id, 'jsonl')) pieces.push(piece)
  return pieces.join('')
}

async function* textOf(text: string): AsyncGenerator<string> {
  yield text
}

const imported = ({ archive }: Gateway, text: string): Promise<Session> => archive.import(textOf(text), owner)

const idsAt = async ({ sessions }: Gateway): Promise<readonly string[]> =>
  (await sessions.list()).sessions.map(({ id }) => id).toSorted()

test(
  '17.2 an imported session has its id only where no host of the fleet has it, also when several import it at once',
  needs('nats-server'),
  async () => {
    const { a, b } = await twoHosts()
    const { id } = await a.sessions.spawn({ adapter: 'demo', cwd: a.home, prompt: 'hello' }, owner)
    await a.sessions.waitTurn(id, 1)
    await a.sessions.kill(id, owner)
    await knows(b, id)
    const text = await exported(a, id)
    const other = await imported(b, text)
    expect(other.id).not.toBe(id)
    expect(other.imported).toMatchObject({ id, hostId: 'a' })
    // It is a session of the fleet at once.
    for (const host of [a, b]) await expect.poll(() => idsAt(host), PATIENT).toEqual([id, other.id].toSorted())
    await a.sessions.forget(id, owner)
    for (const host of [a, b]) await expect.poll(() => idsAt(host), PATIENT).toEqual([other.id])
    const all = await Promise.all([a, b, a, b].map((host) => imported(host, text)))
    expect(all.filter((session) => session.id === id)).toHaveLength(1)
    expect(new Set(all.map((session) => session.id)).size).toBe(4)
    const known = [other, ...all].map((session) => session.id).toSorted()
    for (const host of [a, b]) {
      await expect.poll(() => idsAt(host), PATIENT).toEqual(known)
      for (const each of known) expect((await host.sessions.turn(each, 1)).number, `${each} at ${host.home}`).toBe(1)
    }
  },
)

test('17.2 an import that fails leaves its id free, on every host', needs('nats-server'), async () => {
  const { a, b } = await twoHosts()
  const { id } = await a.sessions.spawn({ adapter: 'demo', cwd: a.home, prompt: 'hello' }, owner)
  await a.sessions.waitTurn(id, 1)
  await a.sessions.kill(id, owner)
  const text = await exported(a, id)
  await a.sessions.forget(id, owner)
  await expect.poll(() => idsAt(b), PATIENT).toEqual([])
  const [head = '', first = ''] = text.split('\n')
  await expect(imported(b, `${head}\n${first}\n{"seq":99}\n`)).rejects.toMatchObject({ code: 'invalid_request' })
  await expect.poll(() => idsAt(a), PATIENT).toEqual([])
  expect((await imported(a, text)).id).toBe(id)
  await expect.poll(() => idsAt(b), PATIENT).toEqual([id])
})
