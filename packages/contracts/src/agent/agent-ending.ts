/** What ends an agent, in this order: the end of its stdin, then two signals. */
export const ENDINGS = ['stdin', 'SIGTERM', 'SIGKILL'] as const
export type Ending = (typeof ENDINGS)[number]
