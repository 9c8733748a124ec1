import {
  asList,
  asNumber,
  asRecord,
  asString,
  defined,
  type Json,
  type PermissionOption,
  type PermissionRequest,
  type ToolCall,
} from '@agentproto/contracts'
import type { AgentSink } from '@agentproto/contracts/agent'
import { AGENT_BOUNDS } from './agent-bounds.js'
import { HostFiles } from './host-files.js'
import { HostTerminals } from './host-terminals.js'
import type { TerminalCommand, TerminalsOptions } from './host-terminals.js'
import { HostRefusal, type RpcAnswer, WITHDRAWN } from './rpc-answer.js'

/** A request of the agent, by its own id. */
export interface HostRequest {
  readonly id: unknown
  readonly method: string
  readonly params: Json
}

/** How a request is being handled. */
interface Handling {
  readonly signal: AbortSignal
  /** The id of the call that a permission is asked for. */
  readonly toolCallId: string
  /** An earlier host may have begun with it. */
  readonly isOld?: true
}

type Methods = Readonly<Record<string, (params: Json, handling: Handling) => Promise<object>>>

/** Methods that the user must permit. */
const PERMITTED: ReadonlySet<string> = new Set(['fs/write_text_file', 'terminal/create'])

const OPTIONS: readonly PermissionOption[] = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
]

/** What the host does for an agent, and where. */
export interface ServicesOptions extends TerminalsOptions {
  /** Folders of the session, absolute and without symbolic links. */
  readonly roots: readonly [string, ...string[]]
  readonly serve: { readonly fs?: boolean; readonly terminal?: boolean }
  readonly sink: AgentSink
  /** How many permissions an earlier host has asked for. Its commands have ended. */
  readonly asked?: number
}

/**
 * ACP's client methods `fs/*` and `terminal/*` for one session. Files are inside its folders; writing and running need a
 * permission like the agent's own tools, so that one policy decides (F82).
 */
export class HostServices {
  readonly #options: ServicesOptions
  readonly #files: HostFiles
  readonly #terminals: HostTerminals
  readonly #pending = new Map<unknown, AbortController>()
  readonly #methods: Methods
  /** Requests that are being prepared: they have not been asked for yet. */
  readonly #preparing = new Set<Promise<unknown>>()
  /** How many permissions were asked for. */
  asked: number

  constructor(options: ServicesOptions) {
    this.#options = options
    this.asked = options.asked ?? 0
    this.#files = new HostFiles(options.roots)
    this.#terminals = new HostTerminals(options)
    const { fs, terminal } = options.serve
    this.#methods = { ...(fs ? this.#fileMethods() : {}), ...(terminal ? this.#terminalMethods() : {}) }
  }

  /** Whether nothing is being served. */
  get isIdle(): boolean {
    return this.#pending.size === 0
  }

  /** Serves a request. Returns false for what is not offered. */
  serve({ id, method, params }: HostRequest, respond: (answer: RpcAnswer) => void): boolean {
    const run = Object.hasOwn(this.#methods, method) ? this.#methods[method] : undefined
    if (!run) return false
    const toolCallId = this.#callId(method)
    if (this.#pending.size >= AGENT_BOUNDS.openRequests)
      respond({ error: { code: -32603, message: 'Too many requests at once' } })
    else void this.#serve(id, (signal) => run(params, { signal, toolCallId })).then(respond)
    return true
  }

  /** Serves a request that an earlier host may have begun with. Its commands ended with it; one that waits for its permission waits on. */
  serveOld(request: HostRequest, respond: (answer: RpcAnswer) => void): boolean {
    const { id, method, params } = request
    if (!Object.hasOwn(this.#methods, method) || !method.startsWith('terminal/')) return this.serve(request, respond)
    const toolCallId = this.#callId(method)
    void this.#serve(id, async (signal) => {
      if (method === 'terminal/create') return this.#run(params, { signal, toolCallId, isOld: true })
      throw commandEnded()
    }).then(respond)
    return true
  }

  /** A request that an earlier host has answered. */
  answered({ method, params }: HostRequest): void {
    const toolCallId = this.#callId(method)
    if (toolCallId === '' || !Object.hasOwn(this.#methods, method)) return
    const naming = async (): Promise<void> => {
      const { call } = await this.#permissionOf(method, params)
      this.#options.sink.answered?.(permission(call, toolCallId))
    }
    void this.#prepare(naming().catch(() => {}))
  }

  /** Settles when all requests that need a permission have asked for it. */
  async settled(): Promise<void> {
    while (this.#preparing.size > 0) await Promise.all(this.#preparing)
  }

  withdraw(id: unknown): void {
    this.#pending.get(id)?.abort()
  }

  /** Ends the session's commands. */
  close(): Promise<void> {
    for (const pending of this.#pending.values()) pending.abort()
    return this.#terminals.close()
  }

  async #serve(id: unknown, run: (signal: AbortSignal) => Promise<object>): Promise<RpcAnswer> {
    const withdrawn = new AbortController()
    this.#pending.set(id, withdrawn)
    try {
      return { result: await run(withdrawn.signal) }
    } catch (thrown) {
      if (withdrawn.signal.aborted) return WITHDRAWN
      if (thrown instanceof HostRefusal) return { error: { code: thrown.code, message: thrown.message } }
      return { error: { code: -32603, message: 'The host failed' } }
    } finally {
      this.#pending.delete(id)
    }
  }

  #fileMethods(): Methods {
    return {
      'fs/read_text_file': async ({ path, line, limit }) => ({
        content: await this.#files.read(path, asNumber(line), asNumber(limit)),
      }),
      'fs/write_text_file': (params, handling) => this.#write(params, handling),
    }
  }

  #terminalMethods(): Methods {
    const terminals = this.#terminals
    return {
      'terminal/create': (params, handling) => this.#run(params, handling),
      'terminal/output': async ({ terminalId }) => terminals.output(terminalId),
      'terminal/wait_for_exit': ({ terminalId }) => terminals.waitForExit(terminalId),
      'terminal/kill': async ({ terminalId }) => (await terminals.kill(terminalId), {}),
      'terminal/release': async ({ terminalId }) => (terminals.release(terminalId), {}),
    }
  }

  async #write(params: Json, handling: Handling): Promise<object> {
    const { path, content, call } = await this.#prepare(this.#writeOf(params))
    await this.#permit(call, handling)
    await this.#files.write(path, content)
    return {}
  }

  async #run(params: Json, handling: Handling): Promise<object> {
    const { command, call } = await this.#prepare(this.#runOf(params))
    await this.#permit(call, handling)
    return { terminalId: await this.#terminals.create(command) }
  }

  #permissionOf(method: string, params: Json): Promise<{ readonly call: PermittedCall }> {
    return method === 'terminal/create' ? this.#runOf(params) : this.#writeOf(params)
  }

  async #writeOf(params: Json) {
    const { content } = params
    if (typeof content !== 'string') throw new HostRefusal('invalid', 'The content must be a text')
    const path = await this.#files.locate(params['path'])
    const shown =
      content.length <= AGENT_BOUNDS.shownChars ? { content: [{ type: 'diff' as const, path, newText: content }] } : {}
    const call: PermittedCall = { title: `Write ${path}`, kind: 'edit', locations: [{ path }], ...shown }
    return { path, content, call }
  }

  async #runOf(params: Json) {
    const request = await this.#commandOf(params)
    const { command, args, cwd, env } = request
    // As pairs: some of their names mean something else as names of members.
    const variables = Object.entries(env).map(([name, value]) => ({ name, value }))
    const words = [...variables.map(({ name, value }) => `${name}=${value}`), command, ...args]
    const input = { command, args, cwd, ...(variables.length > 0 ? { env: variables } : {}) }
    const call: PermittedCall = { title: words.join(' '), kind: 'execute', input }
    return { command: request, call }
  }

  #prepare<T>(preparing: Promise<T>): Promise<T> {
    const settled: Promise<unknown> = preparing
      .catch(() => {})
      // After the caller has gone on.
      .then(() => {})
      .finally(() => this.#preparing.delete(settled))
    this.#preparing.add(settled)
    return preparing
  }

  /** In the order of the requests, whatever takes longer to prepare. */
  #callId(method: string): string {
    return PERMITTED.has(method) ? `host-${++this.asked}` : ''
  }

  async #commandOf(params: Json): Promise<TerminalCommand> {
    const command = asString(params['command'])
    if (command === undefined) throw new HostRefusal('invalid', 'The command must be a name or a path')
    const args = asList(params['args'])
    if (!args.every((arg): arg is string => typeof arg === 'string' && !arg.includes('\0'))) {
      throw new HostRefusal('invalid', 'The arguments must be texts without NUL')
    }
    const cwd = await this.#files.locate(params['cwd'] ?? this.#options.roots[0])
    const outputByteLimit = asNumber(params['outputByteLimit'])
    return { command, args, cwd, env: variablesOf(params['env']), ...defined({ outputByteLimit }) }
  }

  async #permit(call: PermittedCall, { signal, toolCallId, isOld }: Handling): Promise<void> {
    const once = isOld ? { onlyNew: isOld } : {}
    const answer = await this.#options.sink.ask(permission(call, toolCallId), signal, once)
    if (signal.aborted) throw signal.reason
    // The earlier host had its answer, and may have run the command.
    if (isOld && answer.outcome === 'cancelled') throw commandEnded()
    if (answer.outcome !== 'selected' || answer.optionId !== 'allow') {
      throw new HostRefusal('failed', `Permission denied: ${call.title ?? 'no'}`)
    }
  }
}

const commandEnded = (): HostRefusal => new HostRefusal('failed', 'The command ended with the gateway that ran it')

type PermittedCall = Omit<ToolCall, 'type' | 'toolCallId'>

const permission = (call: PermittedCall, toolCallId: string): PermissionRequest => ({
  kind: 'permission',
  toolCall: { type: 'tool-call', toolCallId, ...call },
  options: OPTIONS,
})

function variablesOf(value: unknown): Readonly<Record<string, string>> {
  const pairs = asList(value).map((entry): [string, string] => {
    const { name, value: content } = asRecord(entry)
    if (typeof name !== 'string' || typeof content !== 'string' || !/^[^=\0]+$/.test(name) || content.includes('\0')) {
      throw new HostRefusal('invalid', 'The environment must be pairs of name and value')
    }
    return [name, content]
  })
  return Object.fromEntries(pairs)
}
