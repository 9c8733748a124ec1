// A session store and an event log of your own: the conformance suites test them, then a gateway uses them.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createGateway } from '@agentproto/runtime'
import { testEventStore, testSessionStore } from '@agentproto/session-registry/testing'
import { AppendSessionStore, LineEventStore } from './store.mjs'

const scratch = mkdtempSync(join(tmpdir(), 'custom-store-'))
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))
const newFolder = () => mkdtempSync(join(scratch, 'store-'))

testSessionStore('an append-only file of records', {
  test,
  place: newFolder,
  open: (folder) => new AppendSessionStore(folder),
  damage: (folder, id) => {
    const path = join(folder, 'records.jsonl')
    writeFileSync(path, readFileSync(path, 'utf8').replace(`["${id}",{`, '[#####'))
  },
})

testEventStore('a file of lines', {
  test,
  place: newFolder,
  open: (folder) => new LineEventStore(folder),
  damage: (folder, id) => {
    const path = join(folder, `${id}.jsonl`)
    truncateSync(path, statSync(path).size - 5)
  },
})

await test('a gateway stores its sessions there, and the next gateway finds them', async () => {
  const [home, folder] = [newFolder(), newFolder()]
  const me = { type: 'owner', name: 'my-app' }
  const open = () =>
    createGateway({ home, store: { sessions: new AppendSessionStore(folder), logs: new LineEventStore(folder) } })

  const first = await open()
  const { id } = await first.sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'hello' }, me)
  const { text } = await first.sessions.waitTurn(id, 1)
  await first.close()

  const next = await open()
  assert.equal((await next.sessions.get(id)).turnCount, 1)
  assert.equal((await next.sessions.waitTurn(id, 1)).text, text)
  await next.close()
})
