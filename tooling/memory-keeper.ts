import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import type {
  AgentKeeper,
  AgentProcessInfo,
  KeptAgent,
  KeptLoss,
  KeptRange,
  KeptStream,
  Launch,
  ProcessExit,
  StreamOffsets,
} from '@agentproto/contracts/agent'
import { identify } from '../packages/subprocess/src/process-table.ts'

/** A keeper in the process of the test, which outlives the hosts under test. It keeps everything, and its pipes never fill. */
export class MemoryKeeper implements AgentKeeper {
  readonly #agents = new Map<string, Held>()

  async spawn(key: string, { command, args, cwd, env }: Launch, facts: string): Promise<Controller> {
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    await once(child, 'spawn')
    const held = new Held(new Child(child), facts, () => this.#agents.delete(key))
    this.#agents.set(key, held)
    return held.control()
  }

  /** Keeps an agent that is a function of the test, called with each whole line that is written to it. */
  host(key: string, take: (line: string, say: (text: string) => void) => void): Controller {
    const held = new Held(new Scripted(take), '', () => this.#agents.delete(key))
    this.#agents.set(key, held)
    return held.control()
  }

  async adopt(key: string): Promise<Controller | undefined> {
    return this.#agents.get(key)?.control()
  }

  /** As if it were killed: every host loses its agents, which go on running. */
  die(): void {
    for (const held of this.#agents.values()) held.lose({ cause: 'unreachable', reason: 'the keeper is gone' })
    this.#agents.clear()
  }
}

interface Pipes {
  readonly process: AgentProcessInfo
  readonly exit: Promise<ProcessExit>
  write(text: string): void | Promise<void>
  endInput(): void
  follow(stream: 'stdout' | 'stderr', kept: Kept): void
}

class Child implements Pipes {
  readonly process: AgentProcessInfo
  readonly exit: Promise<ProcessExit>
  readonly #child: ChildProcessWithoutNullStreams
  #drained: Promise<void> | undefined

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    this.process = identify(child.pid ?? 0) ?? { pid: child.pid ?? 0, startTime: '' }
    // What an agent that has ended does not read is dropped.
    child.stdin.on('error', () => {})
    this.exit = once(child, 'exit').then(([code, signal]: (number | string | null)[]) => ({
      ...(typeof code === 'number' ? { exitCode: code } : {}),
      ...(typeof signal === 'string' ? { signal } : {}),
    }))
  }

  write(text: string): void | Promise<void> {
    const { stdin } = this.#child
    if (!stdin.writable || stdin.write(text)) return
    return (this.#drained ??= new Promise((resolve) => {
      const done = (): void => {
        stdin.off('drain', done).off('close', done)
        this.#drained = undefined
        resolve()
      }
      stdin.on('drain', done).on('close', done)
    }))
  }

  endInput(): void {
    this.#child.stdin.end()
  }

  follow(stream: 'stdout' | 'stderr', kept: Kept): void {
    this.#child[stream].on('data', (chunk: Buffer) => kept.add(chunk))
    this.#child[stream].once('close', () => kept.end())
  }
}

/** An agent without a process: it ends when its input does. */
class Scripted implements Pipes {
  // No process has such an id.
  readonly process = { pid: 2 ** 22 + 1, startTime: 'none' }
  readonly exit: Promise<ProcessExit>
  endInput: () => void = () => {}
  readonly #take: (line: string, say: (text: string) => void) => void
  #stdout: Kept | undefined
  #open = ''

  constructor(take: (line: string, say: (text: string) => void) => void) {
    this.#take = take
    this.exit = new Promise((resolve) => (this.endInput = () => resolve({ exitCode: 0 })))
    void this.exit.then(() => this.#stdout?.end())
  }

  write(text: string): void {
    const lines = (this.#open + text).split('\n')
    this.#open = lines.pop() ?? ''
    for (const line of lines) this.#take(line, (said) => this.#stdout?.add(Buffer.from(said)))
  }

  follow(stream: 'stdout' | 'stderr', kept: Kept): void {
    if (stream === 'stdout') this.#stdout = kept
    else void this.exit.then(() => kept.end())
  }
}

/** One agent, with what is kept of it. */
class Held {
  readonly process: AgentProcessInfo
  readonly exit: Promise<ProcessExit>
  readonly streams: Readonly<Record<KeptStream, Kept>> = { stdin: new Kept(), stdout: new Kept(), stderr: new Kept() }
  readonly forget: () => void
  facts: string
  isBusy = false
  readonly #pipes: Pipes
  #controller: Controller | undefined

  constructor(pipes: Pipes, facts: string, forget: () => void) {
    this.#pipes = pipes
    this.facts = facts
    this.forget = forget
    this.process = pipes.process
    this.exit = pipes.exit
    for (const name of ['stdout', 'stderr'] as const) pipes.follow(name, this.streams[name])
  }

  control(): Controller {
    this.lose({ cause: 'taken-over', reason: 'another host controls the agent' })
    this.#controller = new Controller(this)
    return this.#controller
  }

  lose(loss: KeptLoss): void {
    this.#controller?.lose(loss)
  }

  write(text: string): void | Promise<void> {
    this.streams.stdin.add(Buffer.from(text))
    return this.#pipes.write(text)
  }

  endInput(): void {
    this.#pipes.endInput()
  }
}

/** Bytes from an offset on, which readers follow. */
class Kept {
  #first = 0
  #bytes = Buffer.alloc(0)
  #isEnded = false
  #wake: (() => void)[] = []

  get range(): KeptRange {
    return { first: this.#first, next: this.#first + this.#bytes.length }
  }

  add(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    this.wakeAll()
  }

  end(): void {
    this.#isEnded = true
    this.wakeAll()
  }

  forget(upTo: number): void {
    this.#bytes = this.#bytes.subarray(upTo - this.#first)
    this.#first = upTo
  }

  wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }

  async *read(from: number, limit: () => number): AsyncGenerator<Buffer> {
    for (let at = from; ;) {
      const { next } = this.range
      const until = Math.min(next, limit(), at + 65_536)
      if (until > at) {
        yield Buffer.from(this.#bytes.subarray(at - this.#first, until - this.#first))
        at = until
      } else if (this.#isEnded && at === next) return
      else await new Promise<void>((resolve) => this.#wake.push(resolve))
    }
  }
}

/** What one host has of an agent. A host that is killed stops to read and to write, and says nothing. */
export class Controller implements KeptAgent {
  readonly process: AgentProcessInfo
  readonly facts: string
  readonly kept: Readonly<Record<KeptStream, KeptRange>>
  readonly exit: Promise<ProcessExit>
  readonly lost: Promise<KeptLoss>
  lose: (loss: KeptLoss) => void = () => {}
  /** How many bytes of stdout this host may still read before it is killed. */
  readable = Infinity
  isKilled = false
  /** Whether this host is there when the agent ends. */
  learnsExit = true
  /** How many writes of this host still arrive before it is killed. */
  writable = Infinity
  readonly acknowledged: StreamOffsets[] = []
  /** Acknowledgements that a keeper would have refused. */
  readonly faults: string[] = []
  readonly #held: Held

  constructor(held: Held) {
    this.#held = held
    this.process = held.process
    this.facts = held.facts
    this.exit = held.exit.then((exit) => (this.learnsExit ? exit : new Promise<never>(() => {})))
    const { stdin, stdout, stderr } = held.streams
    this.kept = { stdin: stdin.range, stdout: stdout.range, stderr: stderr.range }
    this.lost = new Promise((resolve) => {
      this.lose = (loss) => {
        // A host that is dead learns nothing.
        if (!this.isKilled) resolve(loss)
        this.isKilled = true
      }
    })
  }

  kill(): void {
    this.isKilled = true
  }

  read(stream: KeptStream, from: number): AsyncIterable<Buffer> {
    const limit = (): number => (this.isKilled ? 0 : stream === 'stdout' ? this.readable : Infinity)
    return this.#held.streams[stream].read(from, limit)
  }

  write(bytes: string): void | Promise<void> {
    if (this.writable-- <= 0) this.kill()
    if (!this.isKilled) return this.#held.write(bytes)
  }

  endInput(): void {
    if (!this.isKilled) this.#held.endInput()
  }

  async acknowledge(upTo: StreamOffsets, facts: string, isBusy: boolean): Promise<void> {
    if (this.isKilled) return
    this.acknowledged.push(upTo)
    for (const name of ['stdin', 'stdout', 'stderr'] as const) {
      const { first, next } = this.#held.streams[name].range
      if (upTo[name] < first || upTo[name] > next) this.faults.push(`${name} ${first} to ${next}, not ${upTo[name]}`)
    }
    if (this.faults.length > 0) throw new Error('refused')
    for (const name of ['stdin', 'stdout', 'stderr'] as const) this.#held.streams[name].forget(upTo[name])
    this.#held.facts = facts
    this.#held.isBusy = isBusy
  }

  onFull(): void {}

  async release(): Promise<void> {
    if (!this.isKilled) this.#held.forget()
  }
}
