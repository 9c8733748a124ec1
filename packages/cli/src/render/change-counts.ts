import type { ChangeTotals } from '@agentproto/contracts/agent'

/** Added and removed lines, such as `+12 −3`. */
export const changeCounts = ({ additions, deletions }: Pick<ChangeTotals, 'additions' | 'deletions'>): string =>
  `+${additions} −${deletions}`
