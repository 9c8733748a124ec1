import { EXIT, type ContinuationStrategy, type ResumeRequest, type Session } from '@agentproto/contracts'
import { connect } from '../daemon/daemon.js'
import { print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { orNextStep, resumeSteps } from '../next-step.js'
import { withProgress } from '../progress.js'
import { findSession } from '../session-ref.js'

export interface KillOptions extends JsonOption {
  readonly reason?: 'user_canceled' | 'max_iterations' | 'loop_detected' | 'budget_exceeded'
}

export interface ResumeOptions extends JsonOption {
  readonly fresh?: boolean
  readonly continuation?: ContinuationStrategy
}

/** `agentproto sessions interrupt`. */
export async function interruptSession(io: Io, ref: string, { json }: JsonOption): Promise<number> {
  const client = await connect(io)
  const { id } = await findSession(client, ref)
  const { wasBusy } = await withProgress(io, 'Interrupting', () => client.sessions.interrupt(id))
  if (json === true) printJson(io, { id, wasBusy })
  else print(io.stderr, wasBusy ? 'The turn was interrupted.' : 'No turn was running.')
  return EXIT.ok
}

/** `agentproto sessions resume`: prints the id once the agent is ready. */
export async function resumeSession(io: Io, ref: string, { json, ...request }: ResumeOptions): Promise<number> {
  const client = await connect(io)
  const { id } = await findSession(client, ref)
  const session = await orNextStep(resumeSteps(ref), () =>
    withProgress(io, 'Resuming', () => client.sessions.resume(id, resumeOf(request))),
  )
  if (json === true) {
    printJson(io, session)
    return EXIT.ok
  }
  print(io.stdout, id)
  print(io.stderr, `The agent runs in ${conversationOf(session)}.`)
  return EXIT.ok
}

function conversationOf({ resumedHow }: Session): string {
  if (resumedHow === 'fresh') return 'a new conversation'
  return resumedHow === 'transcript'
    ? 'a new conversation, and is told the old one with the next prompt'
    : 'its old conversation'
}

const resumeOf = ({ fresh, continuation }: Omit<ResumeOptions, 'json'>): ResumeRequest => ({
  ...(fresh === true ? { fresh } : {}),
  ...(continuation === undefined ? {} : { continuation }),
})

/** `agentproto sessions kill`: prints each id once its processes are gone. */
export async function killSessions(io: Io, refs: readonly string[], { reason, json }: KillOptions): Promise<number> {
  const client = await connect(io)
  const killed = []
  for (const ref of refs) {
    const { id } = await findSession(client, ref)
    const done = await withProgress(io, `Ending ${id}`, () =>
      client.sessions.kill(id, reason === undefined ? {} : { reason }),
    )
    killed.push(done)
    if (json === true) continue
    print(io.stdout, id)
    if (!done.ok) print(io.stderr, `${id} had ended before.`)
  }
  if (json === true) printJson(io, { sessions: killed })
  return EXIT.ok
}

/** `agentproto sessions rm`. */
export async function removeSessions(io: Io, refs: readonly string[], { json }: JsonOption): Promise<number> {
  const client = await connect(io)
  const removed = []
  for (const ref of refs) {
    const { id } = await findSession(client, ref)
    removed.push(await withProgress(io, `Removing ${id}`, () => client.sessions.remove(id)))
    if (json !== true) print(io.stdout, id)
  }
  if (json === true) printJson(io, { sessions: removed })
  return EXIT.ok
}
