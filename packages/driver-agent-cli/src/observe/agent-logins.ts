import { type Clock, defined, systemClock } from '@agentproto/contracts'
import { DEFAULT_ARM_LIMITS, type Launch } from '@agentproto/contracts/agent'
import { compileLaunch } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { SESSION_MARKER } from '@agentproto/subprocess'
import type { AgentHost } from '../agent-host.js'
import { DEFAULT_CLIENT } from '../launch/launch-agent.js'
import { requireAgent } from '../launch/locate-agent.js'
import { AgentWatch } from './agent-watch.js'
import { isPlain, plainText } from './plain-text.js'

/** A way to log in that an agent names at its handshake. */
export interface AgentLogin {
  readonly id: string
  readonly name: string
  readonly description?: string
  /** What is run in a terminal; without it the agent does it itself. */
  readonly terminal?: Pick<Launch, 'command' | 'args' | 'env'>
}

/** An agent that runs, and has named its ways to log in. */
export interface AskedAgent {
  readonly logins: readonly AgentLogin[]
  /** Logs in by a way that needs no terminal: it may open a browser. @throws `auth_required`, `handshake_failed`, `timeout`, `cancelled` */
  authenticate(id: string): Promise<void>
}

export interface AskLogins {
  /** Its agent speaks ACP and runs here. */
  readonly adapter: LoadedAgentCli
  readonly host: AgentHost
  /** Of the agent: its login is in the home that this names. */
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** A line of its stderr: it may show an address or a code there. */
  readonly onLine: (line: string) => void
}

/** The user may need a password, a phone and a browser. */
const LOGIN_MS = 15 * 60_000
const LIST_MAX = 20

/**
 * Starts an ACP agent without a session, and ends it after the work.
 * @throws `agent_not_installed`, `spawn_failed`, `handshake_failed`, `timeout`, `cancelled`
 */
export async function withAgentLogins<T>(
  { adapter: { manifest }, host, env, signal: caller, onLine }: AskLogins,
  work: (agent: AskedAgent) => Promise<T>,
): Promise<T> {
  const { connectAcp } = await import('@agentproto/acp')
  const { command, args } = await requireAgent(manifest, host)
  const compiled = compileLaunch(manifest)
  const marker = `login_${crypto.randomUUID()}`
  const own = { ...env, ...compiled.env }
  const launch = { command, args: [...args, ...compiled.args], cwd: host.home, env: own, marker }
  const clock = host.clock ?? systemClock
  const flood = new AbortController()
  const signal = AbortSignal.any([caller, flood.signal])
  const options = {
    launch: { ...launch, env: { ...own, [SESSION_MARKER]: marker } },
    limits: { ...DEFAULT_ARM_LIMITS, ...host.limits, openMs: LOGIN_MS },
    clock,
    client: host.client ?? DEFAULT_CLIENT,
    serve: {},
    signal,
  }
  const connection = await connectAcp(options, new LoginWatch(clock, { onLine, onFlood: () => flood.abort() }))
  const abort = (): void => void connection.close().catch(() => {})
  signal.addEventListener('abort', abort, { once: true })
  try {
    const { client } = connection
    return await work({
      authenticate: (id) => client.authenticate(id),
      logins: client.authMethods
        .filter(({ id }) => isPlain(id))
        .slice(0, LIST_MAX)
        .map(({ id, name, description, terminal }) => ({
          id,
          name: plainText(name) || id,
          ...defined({
            description: description === undefined ? undefined : plainText(description),
            terminal: terminal && {
              command,
              args: [...launch.args, ...terminal.args],
              env: { ...own, ...terminal.env },
            },
          }),
        })),
    })
  } finally {
    signal.removeEventListener('abort', abort)
    await connection.close()
  }
}

interface LoginOutput {
  readonly onLine: (line: string) => void
  /** It wrote more than any login has to say. */
  readonly onFlood: () => void
}

class LoginWatch extends AgentWatch {
  readonly #onLine: (line: string) => void

  constructor(clock: Clock, { onLine, onFlood }: LoginOutput) {
    super(clock, onFlood)
    this.#onLine = onLine
  }

  override errorOutput(lines: readonly string[]): void {
    super.errorOutput(lines)
    for (const line of lines) this.#onLine(line)
  }
}
