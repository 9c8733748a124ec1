import type { AgentAnswer, AgentNotice, AgentRequest } from '@agentproto/contracts'
import type { AgentCliHandle, AgentHost, Session, StartOptions, StreamEvent } from '@agentproto/driver-agent-cli'
import { loadAgentCli } from '@agentproto/driver-agent-cli'
import { join } from 'node:path'
import { catalogPath } from '@agentproto/adapters'
import { onTestFinished } from 'vitest'
import { installedAgent, PINNED_AGENTS } from '../agent-cache.mjs'
import { newMark, type Mark } from './marked-processes.js'
import { temporaryFolder } from './temporary-folder.js'

/** A real agent that only the driver has started: no gateway, no registry. */
export interface DrivenAgent {
  readonly session: Session
  /** Its working folder. */
  readonly cwd: string
  readonly mark: Mark
  readonly notices: AgentNotice[]
  /** Its requests. Each is answered with the option of the last chosen kind. */
  readonly asked: AgentRequest[]
  /** Sends a prompt and reads its turn to the end. */
  say(prompt: string): Promise<StreamEvent[]>
}

export interface Driving extends Pick<StartOptions, 'mode' | 'options' | 'origin' | 'cwd'> {
  readonly env: Readonly<Record<string, string>>
  readonly host?: Partial<AgentHost>
  readonly answer?: (request: AgentRequest) => AgentAnswer
}

/** Absolute path of a pinned agent. @throws when it is not installed, because a test that cannot run has not passed */
export function requireInstalled(name: keyof typeof PINNED_AGENTS): string {
  const executable = installedAgent(name)
  if (executable !== undefined) return executable
  throw new Error(`${name} ${PINNED_AGENTS[name].version} is not installed; run: node e2e/install-agents.mjs`)
}

/** The manifest of the catalogue, with a host that has only the executable and the given variables. */
export function fromCatalogue(
  slug: string,
  host: Pick<AgentHost, 'executables'> & Partial<AgentHost>,
): Promise<AgentCliHandle> {
  return loadAgentCli(join(catalogPath, slug), { home: temporaryFolder('home'), ...host })
}

/** Starts an agent in a new folder. Both are removed after the test. */
export async function drive(handle: AgentCliHandle, { env, answer, ...start }: Driving): Promise<DrivenAgent> {
  const { cwd = temporaryFolder('work') } = start
  const mark = newMark()
  const notices: AgentNotice[] = []
  const asked: AgentRequest[] = []
  const session = await handle.start({
    ...start,
    cwd,
    env: { ...env, ...mark.env },
    onNotice: (notice) => void notices.push(notice),
    onRequest: (request) => {
      asked.push(request)
      return answer?.(request) ?? { outcome: 'cancelled' }
    },
  })
  onTestFinished(async () => void (await session.close()))
  const say = async (prompt: string): Promise<StreamEvent[]> => {
    const events: StreamEvent[] = []
    for await (const event of session.send(prompt)) events.push(event)
    return events
  }
  return { session, cwd, mark, notices, asked, say }
}

/** The agent's text of a turn. */
export const textOf = (events: readonly StreamEvent[]): string =>
  events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('')

/** Chooses an option by kind. */
export const choose =
  (kind: 'allow_once' | 'reject_once') =>
  (request: AgentRequest): AgentAnswer => {
    const option = request.kind === 'permission' ? request.options.find((each) => each.kind === kind) : undefined
    return option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' }
  }
