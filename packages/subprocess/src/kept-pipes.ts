import { Readable } from 'node:stream'
import type { Clock } from '@agentproto/contracts'
import type { AgentProcessInfo, KeptAgent, KeptLoss, KeptStream, ProcessExit } from '@agentproto/contracts/agent'
import type { ProcessPipes } from './process-pipes.js'

/** How long the keeper may take to report the exit of a process of which nothing runs, in milliseconds. */
const EXIT_MS = 2_000

/** The pipes of a process that a keeper holds. Nothing is read before {@link begin}. */
export class KeptPipes implements ProcessPipes {
  readonly info: AgentProcessInfo
  readonly stdout: Readable
  readonly stderr: Readable
  readonly exit: Promise<ProcessExit>
  readonly begun: Promise<void>
  /** Bytes that the agent's stdin was given since its start. */
  written: number
  begin: () => void = () => {}
  readonly #agent: KeptAgent
  readonly #clock: Clock
  #loss: KeptLoss | undefined
  #resolveExit: (exit: ProcessExit) => void = () => {}

  constructor(agent: KeptAgent, clock: Clock) {
    this.#agent = agent
    this.#clock = clock
    this.info = agent.process
    this.written = agent.kept.stdin.next
    let began = (): void => {}
    this.begun = new Promise((resolve) => (began = resolve))
    this.stdout = this.#stream('stdout')
    this.stderr = this.#stream('stderr')
    this.begin = () => {
      began()
      this.stdout.resume()
      this.stderr.resume()
    }
    this.exit = new Promise((resolve) => (this.#resolveExit = resolve))
    void agent.exit.then((exit) => this.#resolveExit(exit))
    void agent.lost.then((loss) => this.#lost(loss))
  }

  get foreign(): 'left' | 'taken-over' | undefined {
    const { cause } = this.#loss ?? {}
    return cause === 'unreachable' ? undefined : cause
  }

  write(text: string): void | Promise<void> {
    if (this.#loss) return
    this.written += Buffer.byteLength(text)
    return this.#agent.write(text)
  }

  endInput(): void {
    if (!this.#loss) this.#agent.endInput()
  }

  onBroken(listener: (reason: string) => void): void {
    void this.#agent.lost.then(({ reason }) => listener(reason))
  }

  gone(): void {
    // A keeper that is lost reports no exit, and one that is frozen reports it too late.
    if (this.#loss) this.#resolveExit({})
    else this.#clock.after(EXIT_MS, () => this.#resolveExit({}))
  }

  #lost(loss: KeptLoss): void {
    this.#loss = loss
    this.stdout.destroy()
    this.stderr.destroy()
  }

  #stream(name: KeptStream): Readable {
    const stream = this.#agent.read(name, this.#agent.kept[name].first)
    return (stream instanceof Readable ? stream : this.#following(stream)).pause()
  }

  /** Not `Readable.from`, which closes only after the read that waits for the agent. */
  #following(stream: AsyncIterable<Buffer>): Readable {
    let chunks: AsyncIterator<Buffer> | undefined
    const next = async (): Promise<Buffer | null> => {
      chunks ??= stream[Symbol.asyncIterator]()
      const { done, value } = await chunks.next()
      return done === true ? null : value
    }
    return new Readable({
      read() {
        next().then(
          (chunk) => this.push(chunk),
          (thrown: unknown) => this.destroy(thrown instanceof Error ? thrown : undefined),
        )
      },
      destroy(error, done) {
        void Promise.resolve(chunks?.return?.()).catch(() => {})
        done(error)
      },
    })
  }
}
