import { AgentprotoError, type Clock, defined, isAgentprotoError, type Principal } from '@agentproto/contracts'
import { assertMayUse, boundsOf, OPERATIONS, type Operation, type Reader, tokenEnded } from '@agentproto/contracts/wire'
import { type Outcome, parseCall } from './call-frame.js'
import { principalSchema } from './carried-values.js'
import type { Started } from './method-kinds.js'
import { METHODS } from './methods.js'
import type { CarriedName, SharedServices } from './places.js'
import { piecesReader } from './pieces-reader.js'
import { sessionOf } from './session-of.js'

// One call at its owner: its arguments are parsed here, and what its principal may do is checked again.

export interface Received {
  readonly method: string
  /** What the body says. */
  readonly given: unknown
  /** The host that signed it. */
  readonly from: string
  readonly clock: Clock
  readonly signal: AbortSignal
  /** For a method that reads a text. */
  readonly text: AsyncIterable<string>
  /** Whether this host may run a session now. */
  readonly mayRun: (sessionId: string) => boolean
}

/** A reader of the outcomes that the other host reads. */
export type OutcomeReader = Reader<Outcome>

/** What is answered, and the reader that it opened. */
export interface Ran {
  readonly outcome: Outcome
  readonly reader?: OutcomeReader
}

/** Whether a method changes something: it goes on when its caller is gone. */
export const hasEffect = (name: string): boolean => isCarried(name) && METHODS[name].principal

/** @throws `invalid_request`, `unauthorized`, `forbidden`, and what the service throws */
export async function runMethod(own: SharedServices, call: Received): Promise<Ran> {
  const { method: name, signal, text, clock } = call
  if (!isCarried(name)) throw unknownMethod(name)
  const { args, by: givenBy } = partsOf(call.given)
  const by = METHODS[name].principal ? principalOf(givenBy, call) : READER
  if (METHODS[name].principal) {
    assertOwned(args, call)
    await assertAllowed(own, { name, by, args })
  }
  return ranOf(await METHODS[name].answer(own, args, { by, signal, text, clock }))
}

/** A list of own members only: `constructor` is not one of them. */
const isCarried = (name: string): name is CarriedName => Object.hasOwn(METHODS, name)

const unknownMethod = (given: string): AgentprotoError =>
  new AgentprotoError('not_supported', 'This host does not answer the method for other hosts', {
    given,
    hint: 'Run the same version of agentproto on all hosts',
  })

function partsOf(given: unknown): { readonly args: readonly unknown[]; readonly by?: unknown } {
  const call = parseCall(given)
  if (call !== undefined) return call
  throw new AgentprotoError('invalid_request', 'The call of another host is invalid', { expected: 'its arguments' })
}

/** Methods without a principal never look at it. */
const READER: Principal = { type: 'token', name: 'another host', scope: 'read', workspaces: [] }

/** The principal as the other host has checked it, and that host. */
function principalOf(given: unknown, { from: via, clock }: Pick<Received, 'from' | 'clock'>): Principal {
  const { success, data } = principalSchema.safeParse(given)
  if (success && hasExpired(data, clock.now())) throw tokenEnded()
  if (success) return { ...data, via }
  throw new AgentprotoError('unauthorized', 'The call of another host does not say for whom it is', {
    expected: 'a principal',
  })
}

/** The call was on its way when its token expired. */
const hasExpired = (by: Principal, now: number): boolean =>
  by.type === 'token' && by.expiresAt !== undefined && Date.parse(by.expiresAt) <= now

interface Asked {
  readonly name: CarriedName
  readonly by: Principal
  readonly args: readonly unknown[]
}

/**
 * The host that checked the token has checked its scope and bounds too; here they are checked against the session itself.
 * @throws `forbidden`, `delegation_denied`, `session_not_found`
 */
async function assertAllowed({ sessions }: SharedServices, { name, by, args }: Asked): Promise<void> {
  if (by.type === 'owner') return
  const scope = SCOPES_OF.get(name)
  assertMayUse(by, scope)
  const id = sessionOf(args[0])
  if (id !== undefined) await sessions.get(id, boundsOf(by, scope))
}

/** A host that was away executes nothing of a session that another host may have by now. */
function assertOwned([first]: readonly unknown[], { mayRun }: Received): void {
  const id = sessionOf(first)
  if (id !== undefined && !mayRun(id))
    throw new AgentprotoError('host_unreachable', 'The host does not have the session now', {
      given: id,
      hint: 'Try again later',
      data: { retryAfter: 5 },
    })
}

/** Of each method; one without an operation is only for the owner. */
const SCOPES_OF: ReadonlyMap<string, Exclude<Operation['scope'], 'open'> | undefined> = new Map(
  Object.values<Operation>(OPERATIONS).map(({ calls, scope }) => [calls, scope === 'open' ? undefined : scope]),
)

function ranOf(started: Started): Ran {
  if ('value' in started) return { outcome: defined({ value: started.value }) }
  const reader = 'reader' in started ? itemsReader(started.reader) : piecesReader(started.pieces)
  return { outcome: { reader: true }, reader }
}

const itemsReader = (reader: Reader<unknown>): OutcomeReader => ({
  async next(signal) {
    const value = await reader.next(signal)
    return value === undefined ? undefined : { value }
  },
  close: () => reader.close(),
})

/** As a problem document. The message of a foreign error may hold anything, so that another host does not get it. */
export function problemOf(thrown: unknown, onError: (error: unknown) => void): Outcome {
  if (isAgentprotoError(thrown)) return { problem: thrown.toProblem() }
  onError(thrown)
  const error = new AgentprotoError('internal', 'The gateway failed to answer the request', {
    hint: 'See the log of the gateway',
    cause: thrown,
  })
  return { problem: error.toProblem() }
}
