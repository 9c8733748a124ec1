import { homedir } from 'node:os'
import {
  AgentprotoError,
  type ContentBlock,
  defined,
  randomId,
  type StreamEvent,
  systemClock,
} from '@agentproto/contracts'
import { homeFrom, type McpServer, type SessionOrigin } from '@agentproto/contracts/agent'
import { formatProblem, parseAgentCli } from '@agentproto/manifest'
import type { AgentCliDocument, AgentCliManifest, ManifestProblem, SandboxProfile } from '@agentproto/manifest'
import { type LoadedAgentCli, readAgentCli } from '@agentproto/manifest/node'
import type { AgentHost } from './agent-host.js'
import { Continuations } from './session/continuation.js'
import type { ContinuationOptions, LaunchChange } from './session/continuation.js'
import { launchAgent } from './launch/launch-agent.js'
import { locateAgent } from './launch/locate-agent.js'
import { resolveDirectories } from './launch/working-directories.js'
import type { AgentCommand } from './launch/locate-agent.js'
import { createSession, type Session } from './session/session.js'
import { type Launched, type SessionCallbacks, SessionSink } from './session/session-sink.js'
import { FirstStarts } from './launch/first-starts.js'
import { SharedProcesses } from './launch/shared-process.js'

export interface StartOptions extends SessionCallbacks {
  /** Absolute path of an existing folder. Default: the process's. */
  readonly cwd?: string
  readonly additionalDirectories?: readonly string[]
  readonly mcpServers?: readonly McpServer[]
  /** Id of one of the manifest's modes. */
  readonly mode?: string
  /** Values of the manifest's options. */
  readonly options?: Readonly<Record<string, string | number | boolean>>
  /** Default: a new conversation. */
  readonly origin?: SessionOrigin
  /** How earlier turns reach the agent; without it the session is fresh. An empty object selects the manifest's default. */
  readonly continuation?: ContinuationOptions
  /** Whether this host reads, writes and runs for an agent that is not confined. Default: no. */
  readonly serve?: { readonly fs?: boolean; readonly terminal?: boolean }
  /** Added to the agent's environment. */
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** A checked manifest that can be started (AIP-45). */
export interface AgentCliHandle {
  readonly manifest: AgentCliManifest
  /** Where its executable is; undefined when it is not installed. */
  locate(): Promise<AgentCommand | undefined>
  /**
   * Starts the agent and opens a session, or reuses one that a continuation kept.
   * @throws `continuation_unsupported`, `invalid_request`; as {@link launchAgent}
   */
  start(options?: StartOptions): Promise<Session>
  /** One turn in a session that is closed after it; the next run finds what a continuation kept. */
  run(message: string | readonly ContentBlock[], options?: StartOptions): AsyncIterableIterator<StreamEvent>
  /** Ends the agents that continuations kept. Other sessions are closed by their owners. */
  close(): Promise<void>
}

/** A manifest as read from disk, as parsed, or as written in an AGENT-CLI.md's front matter. */
export type AgentCliSource =
  | AgentCliDocument
  | AgentCliManifest
  | LoadedAgentCli
  | { readonly manifest: AgentCliManifest; readonly sandbox?: SandboxProfile }

/**
 * Defines an agent CLI (AIP-45).
 * @param host how this machine differs from the defaults: the process's environment, `~/.agentproto`
 * @throws `manifest_invalid`, naming every problem
 */
export function defineAgentCli(source: AgentCliSource, host: Partial<AgentHost> = {}): AgentCliHandle {
  const { manifest, sandbox, adapter } = checked(source)
  const env = host.env ?? process.env
  const own = { sharedProcesses: new SharedProcesses(), firstStarts: new FirstStarts() }
  const whole: AgentHost = { home: homeFrom(env, homedir()), ...own, ...host, env }

  const continuations = new Continuations(manifest, whole.clock ?? systemClock)

  async function launch(options: StartOptions, { origin, args }: LaunchChange): Promise<Launched> {
    const sink = new SessionSink(options)
    const agent = await launchAgent(manifest, {
      mcpServers: [],
      env: {},
      signal: new AbortController().signal,
      ...options,
      origin: origin ?? options.origin ?? { how: 'new' },
      loadInstead: origin !== undefined,
      ...(await resolveDirectories({ cwd: process.cwd(), additionalDirectories: [], ...options })),
      sessionId: randomId('ses_'),
      adapterSlug: manifest.id,
      sink,
      host: whole,
      ...defined({ moreArgs: args, sandbox, adapter }),
    })
    return { agent, sink }
  }

  async function start(options: StartOptions = {}): Promise<Session> {
    const { continuation } = options
    const request = { ...continuation, settings: settingsOf(options), launch: launch.bind(undefined, options) }
    const continued = continuation ? await continuations.begin(request) : await launch(options, {})
    return createSession(continued, options)
  }

  async function* run(message: string | readonly ContentBlock[], options?: StartOptions): AsyncGenerator<StreamEvent> {
    const session = await start(options)
    try {
      yield* session.send(message)
    } finally {
      await session.close()
    }
  }

  return { manifest, locate: () => locateAgent(manifest, whole), start, run, close: () => continuations.close() }
}

/** The options of a start that cannot be changed on a running agent. */
const settingsOf = ({ cwd, additionalDirectories, mcpServers, mode, options, origin, env }: StartOptions): string =>
  JSON.stringify([cwd, additionalDirectories, mcpServers, mode, options, origin, env])

/**
 * Reads an AGENT-CLI.md, with the files that it refers to, and defines it.
 * @param path of the file or of its folder
 * @throws `manifest_invalid`, naming every problem with its place
 */
export async function loadAgentCli(path: string, host: Partial<AgentHost> = {}): Promise<AgentCliHandle> {
  const read = await readAgentCli(path)
  if (!read.ok) throw invalid(read.problems)
  return defineAgentCli(read, host)
}

interface Checked {
  readonly manifest: AgentCliManifest
  readonly sandbox?: SandboxProfile
  readonly adapter?: LoadedAgentCli
}

function checked(source: AgentCliSource): Checked {
  if ('manifest' in source) return 'directory' in source ? { ...source, adapter: source } : source
  if ('binArgs' in source) return { manifest: source }
  // JSON is YAML, so one reader checks files and objects alike.
  const parsed = parseAgentCli(`---\n${JSON.stringify(source)}\n---\n`, {
    path: `${source.name ?? 'agent'}/AGENT-CLI.md`,
  })
  if (!parsed.ok) throw invalid(parsed.problems)
  return { manifest: parsed.manifest }
}

const invalid = (problems: readonly ManifestProblem[]): AgentprotoError =>
  new AgentprotoError('manifest_invalid', problems.map(formatProblem).join('\n'), { data: { problems } })
