import { isAgentprotoError, type Session } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { changeStat } from '../render/change-stat.js'
import { exactLine, wrapExact } from '../render/exact.js'
import { createPaint, type Frame } from '../render/paint.js'
import { sessionName } from '../render/session-text.js'
import type { Confirmation } from './confirm-dialog.js'

/** Asks before a merge, and says what is merged: from where to where, and every changed file. */
export async function mergeConfirmation(client: Client, session: Session): Promise<Confirmation> {
  const { worktree } = session
  const changes = await changesOf(client, session.id)
  const facts: readonly [string, string][] = [
    ['branch', worktree?.branch ?? ''],
    ['into', `${worktree?.base ?? ''} of ${worktree?.repository ?? ''}`],
    ['worktree', worktree?.path ?? ''],
  ]
  return {
    question: `Merge the worktree of ${sessionName(session)}?`,
    rows: (frame) => [
      ...facts.flatMap(([label, value]) => factRows(label, value, frame.width)),
      '',
      ...changes(frame),
      '',
      ...wrapExact(
        'What is not committed is committed to the branch first. Nothing is changed on a conflict.',
        frame.width,
      ),
      ...(session.turn.state === 'idle'
        ? []
        : wrapExact('A turn is running: its end comes first, or x interrupts it.', frame.width)),
    ],
    verb: 'merges',
  }
}

const LABEL = 11

const factRows = (label: string, value: string, width: number): string[] =>
  wrapExact(exactLine(value), width - LABEL - 2).map(
    (row, index) => `  ${(index === 0 ? label : '').padEnd(LABEL)}${row}`,
  )

/** The files that the session changed; a merge may also have older commits of the branch. */
async function changesOf(client: Client, id: string): Promise<(frame: Frame) => string[]> {
  try {
    const { files } = await client.changes.list(id)
    const rows = changeStat(files, createPaint(false))
    return ({ width }) => rows.flatMap((row) => wrapExact(`  ${row}`, width))
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || thrown.code !== 'not_supported') throw thrown
    return () => ['  What changed is not recorded.']
  }
}
