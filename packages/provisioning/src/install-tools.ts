import { defined } from '@agentproto/contracts'
import type { AgentHost } from '@agentproto/driver-agent-cli'
import { findExecutable } from '@agentproto/subprocess'

/** Which of the programs that install packages are on PATH. */
export interface FoundTools {
  readonly npm: boolean
  readonly uv: boolean
  readonly python: boolean
}

/** Looks for the programs that install packages. Starts none. */
export async function findInstallTools({ env }: Pick<AgentHost, 'env'>): Promise<FoundTools> {
  const isThere = async (name: string): Promise<boolean> =>
    (await findExecutable(name, { path: env['PATH'] ?? '', ...defined({ home: env['HOME'] }) })) !== undefined
  const [npm, uv, python3, python] = await Promise.all(['npm', 'uv', 'python3', 'python'].map(isThere))
  return { npm: npm === true, uv: uv === true, python: python3 === true || python === true }
}
