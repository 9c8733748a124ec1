import type { Client, Session } from '@agentproto/client'

/** A prompt that waits for the running turn. `turn`: the number that it has, and by which it is taken back. */
export interface QueuedPrompt {
  readonly turn: number
  readonly text: string
}

/** Prompts that were taken back keep their numbers until their turn comes: a queue has at most so many numbers. */
const NUMBERS = 20

/** The prompts that wait, in their order. */
export async function queuedPrompts(
  { sessions }: Pick<Client, 'sessions'>,
  { id, turnCount, queuedPrompts: count = 0 }: Pick<Session, 'id' | 'turnCount' | 'queuedPrompts'>,
): Promise<readonly QueuedPrompt[]> {
  const found: QueuedPrompt[] = []
  for (let turn = turnCount + 1; found.length < count && turn <= turnCount + NUMBERS; turn++) {
    const detail = await sessions.turn(id, turn)
    if (detail.state === 'queued' && detail.sent === undefined) found.push({ turn, text: textOf(detail.prompt) })
  }
  return found
}

const textOf = (blocks: Awaited<ReturnType<Client['sessions']['turn']>>['prompt']): string =>
  blocks.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
