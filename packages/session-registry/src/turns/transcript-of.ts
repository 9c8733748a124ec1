import { promptText } from '@agentproto/contracts'
import { transcriptPreamble, type TranscriptTurn } from '@agentproto/contracts/agent'
import { gapText } from '../log/log-gap.js'
import type { SessionHandle } from '../session/session-handle.js'
import { readTurnDetail, readTurns } from './turn-log.js'

/** Turns of the transcript for an agent that resumes a conversation without knowing it. */
const LAST_TURNS = 10

/** The transcript of a session, for an agent that does not know it (AIP-45 `transcript`); undefined for an empty one. */
export async function transcriptOf(session: SessionHandle): Promise<string | undefined> {
  const said: TranscriptTurn[] = []
  const turns = await readTurns(session, { after: Math.max(0, session.turns.count - 2 * LAST_TURNS) })
  // Prompts that were never sent are no part of it.
  const sentTurns = turns.filter(({ sent }) => sent !== false)
  for (const { number } of sentTurns.slice(-LAST_TURNS)) {
    const turn = await readTurnDetail(session, number)
    if (turn.state === 'queued') continue
    const { prompt, text, gaps = [] } = turn
    const asked = promptText(prompt)
    if (asked !== '' || gaps.length === 0) said.push({ role: 'user', text: asked })
    const answer = [text, ...gaps.map((gap) => `[gap: ${gapText(gap)}]`)].filter((part) => part !== '').join('\n')
    if (answer !== '') said.push({ role: 'agent', text: answer })
  }
  return transcriptPreamble(said, LAST_TURNS) || undefined
}
