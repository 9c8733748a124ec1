import { ACP_METHODS, type AcpMethod } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.js'
import {
  accessCells,
  type Caller,
  CALLER_NAMES,
  type CallerName,
  CALLERS,
  type Cells,
  KIND_NAMES,
  type Place,
  type World,
} from './fixtures/access-cells.js'
import {
  type Cell as AnyCell,
  expectedOf,
  hiddenFrom,
  isOpenTo,
  type Outcome,
  REFUSALS,
  type Row,
} from './fixtures/access-rules.js'
import { type AcpCaller, acpCaller, type AcpMessage, type Wire, WIRES } from './fixtures/acp-caller.js'

// Every method of ACP × every caller × every kind of session, over WebSockets and over HTTP: of one gateway, and of one that asks
// another host of its fleet for the sessions. What is asked of the client and what has no answer is in `acp-access-answers`.

interface AcpRow extends Row {
  /** It names a session. */
  readonly ofSession?: true
  /** It is for a session that the client has open: one that it cannot open does not exist there. */
  readonly ofOpen?: true
  /** Its answer does not say whether there was such a session; nothing changes where there was none. */
  readonly isSilent?: true
  /** It has no effect on anything but the connection of its caller. */
  readonly isHarmless?: true
  readonly isUnknown?: true
  readonly params?: object
}

/** Asked of the client, or without an answer. */
type NotHere = 'session/cancel' | '$/cancel_request' | 'session/request_permission' | 'elicitation/create'

const OF_SESSION = { ofSession: true } as const
const OF_OPEN = { ofSession: true, ofOpen: true } as const
const NONE: AcpRow = {}
/** A method of the table without a row here does not compile. */
const ROWS: Readonly<Record<Exclude<AcpMethod, NotHere>, AcpRow>> = {
  initialize: NONE,
  authenticate: { isUnknown: true, params: { methodId: 'none' } },
  logout: { isUnknown: true },
  'session/list': NONE,
  'session/load': { ...OF_SESSION, params: { cwd: '/', mcpServers: [] } },
  'session/resume': { ...OF_SESSION, params: { cwd: '/', mcpServers: [] } },
  'session/close': { ...OF_SESSION, isHarmless: true },
  'session/new': { starts: true },
  'session/prompt': { ...OF_OPEN, params: { prompt: [{ type: 'text', text: 'hello' }] } },
  'session/fork': { ...OF_SESSION, noAgent: true, params: { cwd: '/' } },
  'session/set_mode': { ...OF_OPEN, noAgent: true, params: { modeId: 'plan' } },
  'session/set_model': { ...OF_SESSION, isUnknown: true, params: { modelId: 'm' } },
  'session/set_config_option': { ...OF_OPEN, noAgent: true, params: { configId: 'model', value: 'm' } },
  'session/delete': { ...OF_SESSION, ends: true, noAgent: true, isSilent: true },
}

const PLACES: readonly Place[] = ['a', 'b', 'outside']

interface Cell extends AnyCell {
  readonly row: AcpRow
}

const cells = (Object.entries(ROWS) as [keyof typeof ROWS, AcpRow][]).flatMap(([name, row]) =>
  CALLER_NAMES.flatMap((caller): Cell[] => {
    const cell = { name, scope: ACP_METHODS[name], row, caller }
    if (row.starts === true) return PLACES.map((at) => ({ ...cell, at }))
    return row.ofSession === true ? KIND_NAMES.map((on) => ({ ...cell, on })) : [cell]
  }),
)

type Asked = (cell: Cell, id: string) => Promise<Answer>

/** What a cell is answered. */
interface Answer {
  readonly got: Outcome | 'unknown method'
  readonly text: string
}

/** Each caller keeps its connection, as a client does. */
function askedOver(wire: Wire, { url, headersOf, folders, adapter, world }: Cells): Asked {
  const connections = new Map<CallerName, Promise<AcpCaller | number>>()
  const connected = (caller: CallerName): Promise<AcpCaller | number> => {
    const connection = connections.get(caller) ?? acpCaller(wire, { url, headers: headersOf(caller) })
    connections.set(caller, connection)
    return connection
  }
  return async ({ name, row, caller, at }, sessionId) => {
    const client = await connected(caller)
    if (typeof client === 'number') return { got: client === 401 ? 'unauthorized' : 'through', text: '' }
    if (name === 'initialize') return { got: 'through', text: '' }
    if (row.ofOpen === true) await client.ask('session/resume', { sessionId, cwd: '/', mcpServers: [] })
    const on = world === 'another host' ? { on: 'far' } : {}
    const start = at && { cwd: folders[at], mcpServers: [], _meta: { agentproto: { adapter, ...on } } }
    const named = row.ofSession === true ? { sessionId } : {}
    return answerOf(await client.ask(name, { ...row.params, ...named, ...start }))
  }
}

/** The codes of JSON-RPC and of ACP for a method and for a session that does not exist. */
const [NO_METHOD, NO_SESSION] = [-32_601, -32_002]

function answerOf({ result, error }: AcpMessage): Answer {
  const code = error?.data?.['code']
  const text = JSON.stringify(error ?? result)
  if (error?.code === NO_METHOD) return { got: 'unknown method', text }
  if (error?.code === NO_SESSION) return { got: 'session_not_found', text }
  return { got: REFUSALS.includes(String(code)) ? (code as Outcome) : 'through', text }
}

/** What a cell is expected to change. */
function allowedOf(cell: Cell, world: World): Outcome {
  const who: Caller = CALLERS[cell.caller]
  const isHidden = cell.on !== undefined && !isOpenTo(who, cell.on, { scope: 'read', world })
  if (who.scope !== undefined && cell.row.ofOpen === true && isHidden) return 'session_not_found'
  return expectedOf(cell, world)
}

/** What a cell is expected to be answered. */
function expectedAnswer(cell: Cell, world: World): Answer['got'] {
  const { row } = cell
  const allowed = allowedOf(cell, world)
  if (allowed === 'unauthorized') return allowed
  if (row.isUnknown === true) return 'unknown method'
  if (row.isHarmless === true || (row.isSilent === true && allowed === 'session_not_found')) return 'through'
  return allowed
}

test.each(WIRES)(
  'F81 methods of ACP × callers × sessions over %s: a rejected call changes nothing, and no answer shows what is hidden from its caller',
  { timeout: 540_000 },
  async (wire) => {
    const { rejected, before, after, open } = await matrix('one host', wire)
    expect([rejected, after, open]).toEqual([[], before, []])
  },
)

test.each(WIRES)(
  '17.7 methods of ACP × callers × sessions of another host over %s: a rejected call changes nothing, and no answer shows what is hidden from its caller',
  { ...needs('nats-server'), timeout: 540_000 },
  async (wire) => {
    const { rejected, before, after, open } = await matrix('another host', wire)
    expect([rejected, after, open]).toEqual([[], before, []])
  },
)

/** The faults of all calls: first those that are rejected, with what was there before and after them. */
async function matrix(world: World, wire: Wire) {
  const given = await accessCells(world)
  const asked = askedOver(wire, given)
  const isOpen = (cell: Cell): boolean => allowedOf(cell, world) === 'through'
  const before = await given.state()
  const rejected = await faultsOf(cells.filter((cell) => !isOpen(cell)))
  const after = await given.state()
  return { before, rejected, after, open: await faultsOf(cells.filter(isOpen)) }

  async function faultsOf(all: readonly Cell[]): Promise<readonly string[]> {
    const faults: string[] = []
    for (const cell of all) {
      const id =
        cell.row.ends === true && isOpen(cell) ? await given.make(cell.on ?? 'alone') : given.ids[cell.on ?? 'alone']
      faults.push(...faultsIn(await asked(cell, id), cell, given))
    }
    return faults
  }
}

function faultsIn({ got, text }: Answer, cell: Cell, given: Cells): readonly string[] {
  const { name, caller, on, at } = cell
  const what = `${caller}: ${name} ${on ?? at ?? ''}`
  const expected = expectedAnswer(cell, given.world)
  const isFailure = text.includes('"internal"')
  const leaks = hiddenFrom(cell, given).filter((hidden) => text.includes(hidden))
  return [
    ...(got === expected && !isFailure ? [] : [`${what}: expected ${expected}, given ${got} ${text}`]),
    ...leaks.map((hidden) => `${what}: the answer has ${hidden}`),
  ]
}

test(
  '17.7 a token of the host whose session it is, also that of its agent, opens no connection of ACP at another host',
  { ...needs('nats-server'), timeout: 60_000 },
  async () => {
    const { url, strangers, state } = await accessCells('another host')
    const before = await state()
    for (const [name, headers] of Object.entries(strangers))
      for (const wire of WIRES) expect([name, wire, await acpCaller(wire, { url, headers })]).toEqual([name, wire, 401])
    expect(await state()).toEqual(before)
  },
)
