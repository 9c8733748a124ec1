// A session store and an event log of your own: the suites tell whether they keep what a host relies on, and a gateway takes them.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createGateway } from '@agentproto/runtime'
import { testEventStore, testSessionStore } from '@agentproto/session-registry/testing'
import { JournalSessionStore, LineEventStore } from './store.mjs'

const ground = mkdtempSync(join(tmpdir(), 'custom-store-'))
process.once('exit', () => rmSync(ground, { recursive: true, force: true }))
const place = () => mkdtempSync(join(ground, 'place-'))

testSessionStore('a journal of records', {
  test,
  place,
  open: (folder) => new JournalSessionStore(folder),
  damage: (folder, id) => {
    const path = join(folder, 'records.jsonl')
    writeFileSync(path, readFileSync(path, 'utf8').replace(`["${id}",{`, '[#####'))
  },
})

testEventStore('a file of lines', {
  test,
  place,
  open: (folder) => new LineEventStore(folder),
  damage: (folder, id) => {
    const path = join(folder, `${id}.jsonl`)
    truncateSync(path, statSync(path).size - 5)
  },
})

await test('a gateway keeps its sessions there, and the next one finds them', async () => {
  const [home, folder] = [place(), place()]
  const me = { type: 'owner', name: 'my-app' }
  const open = () =>
    createGateway({ home, store: { sessions: new JournalSessionStore(folder), logs: new LineEventStore(folder) } })

  const first = await open()
  const { id } = await first.sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'hello' }, me)
  const { text } = await first.sessions.waitTurn(id, 1)
  await first.close()

  const next = await open()
  assert.equal((await next.sessions.get(id)).turnCount, 1)
  assert.equal((await next.sessions.waitTurn(id, 1)).text, text)
  await next.close()
})
