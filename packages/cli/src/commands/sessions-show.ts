import { EXIT } from '@agentproto/contracts'
import { connect } from '../daemon/daemon.js'
import { paintOf, print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { renderSession, SHOWN_TURNS } from '../render/session-details.js'
import { findSession } from '../session-ref.js'

/** `agentproto sessions show`. */
export async function showSession(io: Io, ref: string, { json }: JsonOption): Promise<number> {
  const client = await connect(io)
  const { id } = await findSession(client, ref)
  const session = await client.sessions.get(id)
  if (json === true) {
    printJson(io, session)
    return EXIT.ok
  }
  const [requests, turns] = await Promise.all([
    client.sessions.requests(id),
    client.sessions.turns(id, { after: Math.max(0, session.turnCount - SHOWN_TURNS) }),
  ])
  const pending = requests.filter(({ state }) => state === 'pending')
  print(io.stdout, renderSession({ session, pending, turns }, { now: Date.now(), paint: paintOf(io, io.stdout) }))
  return EXIT.ok
}
