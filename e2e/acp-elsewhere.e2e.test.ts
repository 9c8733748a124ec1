import { expect, test } from 'vitest'
import { connect, opening, RecordingSink } from '../packages/arms/acp/test/connecting-remote.js'
import { type Daemon, startDaemon } from './support/daemon.js'
import { temporaryFolder } from './support/temporary-folder.js'

// The arm of agents that run elsewhere, and a gateway in a process of its own that dies in the middle of a turn.

async function openDemo({ url, token }: Daemon, cwd: string) {
  const address = `${url.replace('http', 'ws').replace(/\/$/, '')}/acp/demo`
  const access = async () => ({ headers: { authorization: `Bearer ${token}` } })
  const connection = await connect({ url: address, access })
  const sink = new RecordingSink()
  const session = await connection.openSession({ ...opening, cwd }, sink)
  return { connection, session, sink }
}

const chunks = (count: number): string => Array.from({ length: count }, (_, index) => `chunk ${index + 1}\n`).join('')
const portOf = ({ url }: Daemon): string => new URL(url).port

test('a gateway elsewhere is killed with -9 in mid-turn and back with its agent: the turn goes on, nothing missing and nothing twice', async () => {
  const home = temporaryFolder('home')
  const daemon = await startDaemon({ home })
  const { session, sink } = await openDemo(daemon, home)
  const sent = session.send([{ type: 'text', text: 'stream 100 30' }])
  await sink.until(() => sink.text.includes('chunk 5\n'))
  await daemon.crash()
  await startDaemon({ home, args: ['--port', portOf(daemon)] })
  await sent
  expect(sink.text).toBe(chunks(100))
  expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'end_turn' })
  await session.send([{ type: 'text', text: 'next' }])
  expect(sink.text).toBe(`${chunks(100)}echo: next`)
})

test('where the agent died with its gateway, the turn ends with an error, and the session goes on', async () => {
  const home = temporaryFolder('home')
  const daemon = await startDaemon({ home, keeper: false })
  const { session, sink } = await openDemo(daemon, home)
  const sent = session.send([{ type: 'text', text: 'stream 1; hang' }])
  await sink.until(() => sink.text === 'chunk 1\n')
  await daemon.crash()
  await startDaemon({ home, keeper: false, args: ['--port', portOf(daemon)] })
  await sent
  expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
  await session.send([{ type: 'text', text: 'next' }])
  expect(sink.text).toBe('chunk 1\necho: next')
})
