import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startDaemon } from './support/daemon.js'
import { agentsIn } from './support/kept-agents.js'
import { newMark } from './support/marked-processes.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'
import { temporaryFolder } from './support/temporary-folder.js'

const fault = fileURLToPath(new URL('fixtures/failing-gateway.mjs', import.meta.url))

/** How it ends, and what it prints then. */
const ENDS = [
  ['memory', '--max-old-space-size=150', 'heap out of memory'],
  ['exception', '', 'A fault of the gateway'],
] as const

test.each(ENDS)(
  '16.3 a gateway that ends by itself (%s): its agent goes on with the next one, in its turn, and waits for the same answer',
  async (kind, flag, printed) => {
    const home = temporaryFolder(`failing-${kind}`)
    const mark = newMark()
    const env = { AGENTPROTO_DEMO_HOME: join(home, 'demo'), ...mark.env }
    const failing = { FAIL: kind, NODE_OPTIONS: `--import=${fault} ${flag}` }
    const first = await startDaemon({ home, env: { ...env, ...failing } })
    const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
    await first.client.sessions.prompt(id, { prompt: 'stream 5; ask kept.txt hello; stream 3' })
    const asked = await pendingPermission(first.client, id)
    const [agent] = agentsIn(mark.living(), id)
    const { lastSeq } = await first.client.sessions.get(id)
    process.kill(first.pid, 'SIGWINCH')
    await expect.poll(() => isAlive(first.pid), { timeout: 60_000 }).toBe(false)
    expect(first.printed()).toContain(printed)

    const { client } = await startDaemon({ home, env })
    const session = await client.sessions.get(id)
    expect(session).toMatchObject({
      status: 'running',
      kept: true,
      lastSeq,
      turn: { number: 1, state: 'awaiting-input' },
    })
    expect(agentsIn(mark.living(), id)).toEqual([agent])
    expect((await pendingPermission(client, id)).requestId).toBe(asked.requestId)
    await client.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
    const { reason, text } = await client.sessions.waitTurn(id, 1)
    expect([reason, text]).toEqual(['end_turn', expect.stringContaining('I was allowed to write kept.txt.')])
    await client.sessions.kill(id)
    expect(agentsIn(mark.living(), id)).toEqual([])
  },
  120_000,
)

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
