import { expect, test } from 'vitest'
import {
  CALLER_NAMES,
  type CallerName,
  CALLERS,
  accessCells,
  type Cells,
  type KindName,
} from './fixtures/access-cells.js'
import { isOpenTo } from './fixtures/access-rules.js'
import { type AcpCaller, acpCaller, type Wire, WIRES } from './fixtures/acp-caller.js'
import { owner } from './fixtures/located-agents.js'

// What the agent of a session asks its clients, and what a client says that has no answer: who it is asked, and whose word counts.

const ASKS = { ask: 'session/request_permission', question: 'elicitation/create' } as const
type Words = keyof typeof ASKS

const KINDS = ['parent', 'alone', 'child', 'foreign'] as const satisfies readonly KindName[]
const PATIENT = { timeout: 30_000 }
const WITHDRAWN = { outcome: { outcome: 'cancelled' }, action: 'cancel' }

/** A client with the sessions open that it may see. */
interface Client {
  readonly caller: CallerName
  readonly acp: AcpCaller
  readonly sees: readonly KindName[]
  readonly drives: readonly KindName[]
}

async function clientsOf(wire: Wire, { url, headersOf, ids }: Cells): Promise<readonly Client[]> {
  const clients: Client[] = []
  for (const caller of CALLER_NAMES) {
    const acp = await acpCaller(wire, { url, headers: headersOf(caller) })
    if (typeof acp === 'number') continue
    const may = (scope: 'read' | 'operate'): readonly KindName[] =>
      KINDS.filter((kind) => isOpenTo(CALLERS[caller], kind, { scope, world: 'one host' }))
    const sees = may('read')
    for (const kind of sees) await acp.ask('session/resume', { sessionId: ids[kind], cwd: '/', mcpServers: [] })
    const holds = CALLERS[caller] as { readonly scope?: string }
    clients.push({ caller, acp, sees, drives: holds.scope === 'read' ? [] : may('operate') })
  }
  return clients
}

/** How often a client was asked about a session, and how often it was shown that the agent waits. */
const askedOf = ({ heard }: AcpCaller, sessionId: string): number =>
  heard.filter(
    ({ method, params }) => Object.values(ASKS).includes(method as never) && params?.['sessionId'] === sessionId,
  ).length
const shownTo = ({ heard }: AcpCaller, sessionId: string): number =>
  heard.filter(({ params }) => params?.['sessionId'] === sessionId && JSON.stringify(params).includes('The agent asks'))
    .length

async function begin({ gateway, ids }: Cells, words: Words): Promise<void> {
  for (const kind of KINDS) await gateway.sessions.prompt(ids[kind], { prompt: [{ type: 'text', text: words }] }, owner)
}

const states = ({ gateway, ids }: Cells): Promise<readonly string[]> =>
  Promise.all(KINDS.map(async (kind) => (await gateway.sessions.get(ids[kind])).turn.state))

test.each(WIRES.flatMap((wire) => (['ask', 'question'] as const).map((words) => [wire, words] as const)))(
  'over %s, what the agent asks with "%s" reaches those alone who may answer, and nobody else’s answer or cancel counts',
  { timeout: 180_000 },
  async (wire, words) => {
    const cells = await accessCells()
    const { ids } = cells
    const clients = await clientsOf(wire, cells)
    await begin(cells, words)
    for (const { acp, sees, drives } of clients)
      for (const kind of sees)
        await expect
          .poll(() => [askedOf(acp, ids[kind]), shownTo(acp, ids[kind])], PATIENT)
          .toEqual(drives.includes(kind) ? [1, 0] : [0, 1])
    // Each says yes to what it was not asked, and cancels what it may not drive.
    for (const { acp, sees, drives } of clients) {
      for (let id = 0; id < 10; id++)
        if (!acp.heard.some((message) => message.id === id))
          await acp.respond(id, { outcome: { outcome: 'selected', optionId: 'yes' }, action: 'accept' })
      for (const kind of KINDS.filter((each) => !drives.includes(each))) {
        await acp.notify('session/cancel', { sessionId: ids[kind] })
        await acp.notify('$/cancel_request', { requestId: 1 })
      }
      // Handled after all of it.
      for (const kind of sees.filter((each) => !drives.includes(each)))
        await acp.ask('session/resume', { sessionId: ids[kind], cwd: '/', mcpServers: [] })
      await acp.ask('session/list', {})
    }
    expect(await states(cells)).toEqual(KINDS.map(() => 'awaiting-input'))
    expect((await cells.gateway.sessions.requests(ids.alone)).map(({ state }) => state)).toEqual(['pending'])
    // In each session another of those who may: its answer ends the turn, and in the next turn its cancel.
    for (const kind of KINDS) {
      const { acp } = clients.findLast(({ drives }) => drives.includes(kind)) as Client
      const asked = acp.heard.findLast(({ id, params }) => id !== undefined && params?.['sessionId'] === ids[kind])
      await acp.respond(asked?.id, WITHDRAWN)
    }
    await expect.poll(() => states(cells), PATIENT).toEqual(KINDS.map(() => 'idle'))
    await begin(cells, words)
    for (const kind of KINDS) {
      const { acp } = clients.find(({ drives }) => drives.includes(kind)) as Client
      await acp.notify('session/cancel', { sessionId: ids[kind] })
    }
    await expect.poll(() => states(cells), PATIENT).toEqual(KINDS.map(() => 'idle'))
  },
)
