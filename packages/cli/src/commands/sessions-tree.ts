import { EXIT, isLive, type Session } from '@agentproto/contracts'
import { connect } from '../daemon/daemon.js'
import { paintOf, print, type Io } from '../io.js'
import { oneLine } from '../render/printable.js'
import { sessionState } from '../render/session-state.js'
import type { SessionsOptions } from './sessions-options.js'

/** `agentproto sessions --tree`: each session below the one whose agent started it, the newest line first. */
export async function showTree(io: Io, { alive }: SessionsOptions): Promise<number> {
  const { sessions } = await (
    await connect(io)
  ).sessions.list({
    limit: 1_000,
    ...(alive === true ? { onlyAlive: true } : {}),
  })
  if (sessions.length === 0) print(io.stdout, 'No sessions. Start one with: agentproto sessions start demo')
  else print(io.stdout, treeOf(io, sessions))
  return EXIT.ok
}

function treeOf(io: Io, sessions: readonly Session[]): string[] {
  const paint = paintOf(io, io.stdout)
  const known = new Set(sessions.map(({ id }) => id))
  const children = new Map<string, Session[]>()
  for (const session of sessions.toReversed()) {
    const { parentSessionId: parent } = session
    // One whose parent was forgotten stands for itself.
    const above = parent !== undefined && known.has(parent) ? parent : ''
    children.set(above, [...(children.get(above) ?? []), session])
  }

  function branch(session: Session, lead: string): string[] {
    const { id, adapterSlug, label, title } = session
    const name = oneLine(label ?? title ?? '')
    const line = `${paint.cyan(id)}  ${adapterSlug}  ${sessionState(session)}${name === '' ? '' : `  ${name}`}`
    const below = children.get(id) ?? []
    return [
      isLive(session) ? line : paint.dim(line),
      ...below.flatMap((each, at) => twig(each, lead, at + 1 === below.length)),
    ]
  }

  function twig(session: Session, lead: string, last: boolean): string[] {
    const deeper = `${lead}${last ? '   ' : '│  '}`
    const [first = '', ...rest] = branch(session, deeper)
    return [`${lead}${last ? '└─ ' : '├─ '}${first}`, ...rest]
  }

  return (children.get('') ?? []).toReversed().flatMap((root) => branch(root, ''))
}
