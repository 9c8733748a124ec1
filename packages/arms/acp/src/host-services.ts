import {
  asList,
  asNumber,
  asRecord,
  asString,
  defined,
  type Json,
  type PermissionOption,
  type ToolCall,
} from '@agentproto/contracts'
import type { AgentSink } from '@agentproto/contracts/agent'
import { HostFiles } from './host-files.js'
import { HostTerminals } from './host-terminals.js'
import type { TerminalCommand, TerminalsOptions } from './host-terminals.js'
import { HostRefusal, type RpcAnswer, WITHDRAWN } from './rpc-answer.js'

/** Requests of one agent that are handled at once. */
const MAX_PENDING = 64
/** Largest content that the permission request for a write shows, in characters. */
const MAX_SHOWN = 256 << 10

/** A request of the agent, by its own id. */
export interface HostRequest {
  readonly id: unknown
  readonly method: string
  readonly params: Json
}

type Methods = Readonly<Record<string, (params: Json, signal: AbortSignal) => Promise<object>>>

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
  #asked = 0

  constructor(options: ServicesOptions) {
    this.#options = options
    this.#files = new HostFiles(options.roots)
    this.#terminals = new HostTerminals(options)
    const { fs, terminal } = options.serve
    this.#methods = { ...(fs ? this.#fileMethods() : {}), ...(terminal ? this.#terminalMethods() : {}) }
  }

  /** Serves a request. Returns false for what is not offered. */
  serve({ id, method, params }: HostRequest, respond: (answer: RpcAnswer) => void): boolean {
    const run = Object.hasOwn(this.#methods, method) ? this.#methods[method] : undefined
    if (!run) return false
    if (this.#pending.size >= MAX_PENDING) respond({ error: { code: -32603, message: 'Too many requests at once' } })
    else void this.#serve(id, (signal) => run(params, signal)).then(respond)
    return true
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
      'fs/write_text_file': (params, signal) => this.#write(params, signal),
    }
  }

  #terminalMethods(): Methods {
    const terminals = this.#terminals
    return {
      'terminal/create': (params, signal) => this.#run(params, signal),
      'terminal/output': async ({ terminalId }) => terminals.output(terminalId),
      'terminal/wait_for_exit': ({ terminalId }) => terminals.waitForExit(terminalId),
      'terminal/kill': async ({ terminalId }) => (await terminals.kill(terminalId), {}),
      'terminal/release': async ({ terminalId }) => (terminals.release(terminalId), {}),
    }
  }

  async #write(params: Json, signal: AbortSignal): Promise<object> {
    const { content } = params
    if (typeof content !== 'string') throw new HostRefusal('invalid', 'The content must be a text')
    const path = await this.#files.locate(params['path'])
    const shown = content.length <= MAX_SHOWN ? { content: [{ type: 'diff' as const, path, newText: content }] } : {}
    await this.#permit({ title: `Write ${path}`, kind: 'edit', locations: [{ path }], ...shown }, signal)
    await this.#files.write(path, content)
    return {}
  }

  async #run(params: Json, signal: AbortSignal): Promise<object> {
    const request = await this.#commandOf(params)
    const { command, args, cwd } = request
    const input = { command, args, cwd }
    await this.#permit({ title: [command, ...args].join(' '), kind: 'execute', input }, signal)
    return { terminalId: await this.#terminals.create(request) }
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

  async #permit(call: Omit<ToolCall, 'type' | 'toolCallId'>, signal: AbortSignal): Promise<void> {
    const toolCall: ToolCall = { type: 'tool-call', toolCallId: `host-${++this.#asked}`, ...call }
    const request = { kind: 'permission' as const, toolCall, options: OPTIONS }
    const answer = await this.#options.sink.ask(request, signal)
    if (signal.aborted) throw signal.reason
    if (answer.outcome !== 'selected' || answer.optionId !== 'allow') {
      throw new HostRefusal('failed', `Permission denied: ${call.title ?? 'no'}`)
    }
  }
}

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
