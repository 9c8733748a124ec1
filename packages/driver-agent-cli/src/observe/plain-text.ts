import { plainLine } from '@agentproto/contracts'

/** Longest text of an agent that an observation has. */
const TEXT_MAX = 200

/** A text of an agent as an observation has it. */
export const plainText = (text: string): string => plainLine(text, TEXT_MAX)

/** Whether an id can be written as it is. Another one could not be sent back to the agent either. */
export const isPlain = (id: string): boolean => id !== '' && id === plainText(id)
