import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  type AgentConfig,
  type AgentInfo,
  AgentprotoError,
  isAgentprotoError,
  systemClock,
} from '@agentproto/contracts'
import { type AgentSink, DEFAULT_ARM_LIMITS } from '@agentproto/contracts/agent'
import { buildEnvironment, findExecutable, SESSION_MARKER } from '@agentproto/subprocess'

/** What an ACP agent answers before the first prompt. */
export interface DescribedAgent {
  readonly info: AgentInfo
  /** Ways to log in that it names. */
  readonly authMethods: readonly { readonly id: string; readonly name: string; readonly needsTerminal: boolean }[]
  /** Its modes, models and options; absent if it opened no session. */
  readonly config?: AgentConfig
  /** Why it opened no session, such as a login that is missing. */
  readonly noSession?: string
}

export interface DescribeAgent {
  /** The program, and its arguments; never run by a shell. */
  readonly command: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Folder that a relative program is in. */
  readonly cwd: string
  /**
   * Lets it use the user's own home, in which it may be logged in, and may keep a record of the session. Default: its home is
   * the empty folder, and nothing stays.
   */
  readonly userHome?: boolean
  readonly signal: AbortSignal
}

/**
 * Starts an ACP agent in an empty folder, asks what it offers, and ends it with everything that it started. It is sent no prompt.
 * @throws `agent_not_installed`, `spawn_failed`, `handshake_failed`, `timeout`, `cancelled`
 */
export async function describeAgent({ command, cwd, ...options }: DescribeAgent): Promise<DescribedAgent> {
  const [name, ...args] = command
  const program = name.includes('/') ? resolve(cwd, name) : name
  const file = await findExecutable(program, { path: options.env['PATH'] ?? '' })
  if (file === undefined)
    throw new AgentprotoError('agent_not_installed', `${name} was not found`, {
      expected: 'a program on PATH, or a path',
    })
  const scratch = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-init-')))
  try {
    return await describeIn(scratch, { file, args, ...options })
  } finally {
    await rm(scratch, { recursive: true, force: true, maxRetries: 3 })
  }
}

interface Starting extends Pick<DescribeAgent, 'env' | 'userHome' | 'signal'> {
  readonly file: string
  readonly args: readonly string[]
}

async function describeIn(
  cwd: string,
  { file, args, env, userHome = false, signal }: Starting,
): Promise<DescribedAgent> {
  const { connectAcp } = await import('@agentproto/acp')
  const marker = `init_${crypto.randomUUID()}`
  const own = { ...(userHome ? {} : homeIn(cwd)), [SESSION_MARKER]: marker }
  const launch = {
    command: file,
    args,
    cwd,
    env: buildEnvironment({ policy: 'filtered', parent: env, declared: own }),
    marker,
  }
  const connection = await connectAcp({
    launch,
    limits: DEFAULT_ARM_LIMITS,
    clock: systemClock,
    signal,
    client: { name: 'agentproto', version: '0.1.0' },
    serve: {},
  })
  try {
    const { info, client } = connection
    const authMethods = client.authMethods.map(({ id, name, terminal }) => ({
      id,
      name,
      needsTerminal: terminal !== undefined,
    }))
    return { info, authMethods, ...(await configOf(connection, cwd)) }
  } finally {
    await connection.close()
  }
}

/** Where programs look for a home, on every system. */
const homeIn = (folder: string): Readonly<Record<string, string>> => ({
  HOME: folder,
  USERPROFILE: folder,
  APPDATA: folder,
  LOCALAPPDATA: folder,
  XDG_CONFIG_HOME: join(folder, '.config'),
  XDG_DATA_HOME: join(folder, '.local/share'),
  XDG_STATE_HOME: join(folder, '.local/state'),
  XDG_CACHE_HOME: join(folder, '.cache'),
  XDG_RUNTIME_DIR: folder,
})

type Connection = Awaited<ReturnType<typeof import('@agentproto/acp').connectAcp>>

/** An agent that is not logged in still has capabilities and ways to log in: only a session is refused. */
async function configOf(connection: Connection, cwd: string): Promise<Pick<DescribedAgent, 'config' | 'noSession'>> {
  let config: AgentConfig = {}
  const sink: AgentSink = {
    emit: (batch) => {
      for (const signal of batch) if (signal.type === 'config') config = { ...config, ...signal.config }
    },
    ask: () => Promise.resolve({ outcome: 'cancelled' }),
  }
  try {
    const opening = { cwd, additionalDirectories: [], mcpServers: [], origin: { how: 'new' as const } }
    const session = await connection.openSession(opening, sink)
    await session.close().catch(() => undefined)
    return { config }
  } catch (thrown) {
    if (isAgentprotoError(thrown) && thrown.code !== 'cancelled') return { noSession: thrown.message }
    throw thrown
  }
}
