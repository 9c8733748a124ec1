import { AgentprotoError, type AgentCapabilities, asRecord, type Clock, type Json } from '@agentproto/contracts'
import type { OpenSessionOptions } from '@agentproto/contracts/agent'
import type { AcpSession } from '../session.js'
import { remoteParams } from './remote-opening.js'
import type { TurnCatchUp, TurnState } from './turn-catch-up.js'

/** How long after its session is back an agent may ask again what waits for the user, in milliseconds. */
const ASK_AGAIN_MS = 5_000

/** The client as its sessions come back to it. */
export interface RejoiningClient {
  readonly capabilities: AgentCapabilities
  readonly clock: Clock
  reopen(session: AcpSession, method: string, params: object): Promise<Json>
}

/** A session of an agent that is reached over the network, with what it was opened with. */
export interface RemoteSession {
  readonly session: AcpSession
  readonly catchUp: TurnCatchUp
  readonly opening: OpenSessionOptions
}

/** The agent can open a session again. */
export const canRejoin = ({ load, resume }: AgentCapabilities): boolean => load || resume

/** Opens a session again on a new connection, and goes on with its turn or ends it. @throws as `AcpClient.reopen` */
export async function rejoin(client: RejoiningClient, remote: RemoteSession, lost: string): Promise<void> {
  const { session, catchUp } = remote
  catchUp.rejoin(session.conversation.turn?.isSent === true)
  if (catchUp.after === undefined) session.loading()
  try {
    const { capabilities } = client
    const method = capabilities.load ? 'session/load' : 'session/resume'
    const result = await client.reopen(session, method, paramsOf(remote, capabilities))
    session.loaded()
    settle(client, remote, { ...catchUp.rejoined(result), lost })
  } catch (thrown) {
    catchUp.abort()
    throw thrown
  }
}

function paramsOf({ catchUp, opening }: RemoteSession, capabilities: AgentCapabilities): object {
  const { trace: _, ...again } = opening
  const { params } = remoteParams(again, capabilities)
  if (catchUp.after === undefined) return params
  const meta = asRecord(asRecord(params)['_meta'])
  return { ...params, _meta: { ...meta, agentproto: { ...asRecord(meta['agentproto']), after: catchUp.after } } }
}

interface Outcome {
  readonly updates: readonly Json[]
  readonly state: TurnState
  readonly lost: string
}

function settle(client: RejoiningClient, remote: RemoteSession, { updates, state, lost }: Outcome): void {
  const { session, catchUp } = remote
  const { conversation } = session
  const { turn } = conversation
  if (catchUp.isCancelPending) session.cancelAgent()
  catchUp.isCancelPending = false
  if (!turn?.isSent) return
  session.goesOn()
  for (const update of updates) session.update({ update })
  if (state.how === 'continues') {
    if (turn.cancelling) session.cancelAgent()
    const { awaited } = catchUp.asks
    client.clock.after(ASK_AGAIN_MS, () => {
      for (const ask of catchUp.asks.settle(awaited)) conversation.withdraw(ask)
    })
    return
  }
  if (state.how === 'ended') return conversation.finish(turn, state.verdict)
  // What the agent may still do for it would have no turn.
  session.cancelAgent()
  const message = `The connection to the agent was lost in the middle of the turn (${lost}). It is back, but ${state.why}.`
  conversation.end(turn, { by: 'failure', error: { message, data: { kind: 'transport_failure' } } })
}

/** A session that the agent does not open again has ended; its siblings go on. */
export function endSession({ session }: RemoteSession, cause: AgentprotoError): void {
  const message = `The connection to the agent came back, but the session did not: ${cause.message}`
  const error = { message, data: { kind: 'transport_failure' } }
  session.end(new AgentprotoError('agent_exited', message, { cause }), { by: 'failure', error })
}
