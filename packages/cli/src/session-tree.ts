import { isLive, type Session } from '@agentproto/contracts'
import type { CommandResult } from './cli-command.js'
import { paintFor, type CliContext } from './cli-context.js'
import { connect } from './daemon/connect.js'
import type { Paint } from './render/paint.js'
import { oneLine } from './render/printable.js'
import { sessionState } from './render/session-text.js'
import { filterOf, hiddenNote, noSessions, type SessionListOptions } from './session-list-options.js'

/** `agentproto sessions --tree`: each session below the one whose agent started it. */
export async function printTree(context: CliContext, options: SessionListOptions): Promise<CommandResult> {
  const client = await connect(context)
  const { sessions, hidden } = await client.sessions.list(filterOf(options, Date.now()))
  const note = hiddenNote(hidden)
  if (sessions.length === 0) return { text: noSessions(options), note }
  return { text: treeOf(sessions, paintFor(context, context.stdout)), note }
}

/** @param sessions the newest first, like the roots of the tree; children are the oldest first */
function treeOf(sessions: readonly Session[], paint: Paint): string[] {
  const known = new Set(sessions.map(({ id }) => id))
  // A session whose parent was removed is a root.
  const parentOf = ({ parentSessionId = '' }: Session): string => (known.has(parentSessionId) ? parentSessionId : '')
  const childrenOf = (id: string): Session[] => sessions.filter((session) => parentOf(session) === id)

  function branch(session: Session, indent: string): string[] {
    const { id, adapterSlug, label, title } = session
    const name = oneLine(label ?? title ?? '')
    const line = `${paint.cyan(id)}  ${adapterSlug}  ${sessionState(session)}${name === '' ? '' : `  ${name}`}`
    const children = childrenOf(id).toReversed()
    return [
      isLive(session) ? line : paint.dim(line),
      ...children.flatMap((child, index) => {
        const isLast = index + 1 === children.length
        const [first = '', ...rest] = branch(child, `${indent}${isLast ? '   ' : '│  '}`)
        return [`${indent}${isLast ? '└─ ' : '├─ '}${first}`, ...rest]
      }),
    ]
  }

  return childrenOf('').flatMap((root) => branch(root, ''))
}
