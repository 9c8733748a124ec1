import type { Socket } from 'node:net'
import { asRecord, asString } from '@agentproto/contracts'
import { RawPeer } from './raw-peer.js'

type Fields = Readonly<Record<string, unknown>>

/** A keeper that runs, by its socket. */
export interface RunningKeeper {
  connect(): Promise<Socket>
  /** What `hello` must prove, in hex. */
  readonly secret: string
  /** Settles when its process has ended. */
  readonly ended: Promise<unknown>
  /** Ends it and all that it holds. */
  destroy(): Promise<void>
}

/** A keeper to be tested. */
export interface KeeperSubject {
  /** Registers one test: `test` of vitest, of `node:test`, or whatever else takes a title and a function. */
  readonly test: (title: string, run: () => Promise<void>) => unknown
  /** Starts one that holds nothing, with these bounds in bytes of each agent. */
  readonly start: (bounds: KeeperBounds) => Promise<RunningKeeper>
}

export interface KeeperBounds {
  readonly memoryBytes: number
  readonly fileBytes: number
  readonly queueBytes: number
}

/** Small, so that a test reaches them. */
export const SMALL: KeeperBounds = { memoryBytes: 256 << 10, fileBytes: 1 << 20, queueBytes: 256 << 10 }

export type KeeperCases = Readonly<Record<string, (world: KeeperWorld) => Promise<void>>>

/** One test's keeper and its peers. */
export class KeeperWorld {
  readonly keeper: RunningKeeper
  readonly #peers: RawPeer[] = []

  constructor(keeper: RunningKeeper) {
    this.keeper = keeper
  }

  async stranger(): Promise<RawPeer> {
    const peer = new RawPeer(await this.keeper.connect())
    this.#peers.push(peer)
    return peer
  }

  async peer(role: 'controller' | 'observer' = 'controller'): Promise<RawPeer> {
    const peer = await this.stranger()
    const answer = await peer.ask('hello', this.hello(role))
    if (answer['error'] !== undefined) throw new Error(`hello was refused: ${JSON.stringify(answer)}`)
    return peer
  }

  hello(role: string): Fields {
    return { wire: [1, 2], role, orphanMs: 60_000, secret: this.keeper.secret }
  }

  close(): void {
    for (const { socket } of this.#peers) socket.destroy()
  }
}

/** A spawn of a program of Node. */
export const nodeProgram = (key: string, program: string): Fields => ({
  key,
  command: process.execPath,
  args: ['-e', program],
  env: { PATH: process.env['PATH'] ?? '', AGENTPROTO_SESSION_ID: `keeper-${key}-${process.pid}` },
  cwd: process.cwd(),
  marker: `keeper-${key}-${process.pid}`,
  facts: '',
})

/** A program that writes back what it reads. */
export const echo = (key: string): Fields => nodeProgram(key, 'process.stdin.pipe(process.stdout)')

/** One agent of a `list`. */
export async function listed(peer: RawPeer, key: string): Promise<Fields> {
  const { agents } = await peer.ask('list')
  const found: unknown = Array.isArray(agents)
    ? agents.find((agent) => asString(asRecord(agent)['key']) === key)
    : undefined
  return asRecord(found)
}

/** What an agent's stream has, in a `list`. */
export async function streamOf(peer: RawPeer, key: string, stream: string): Promise<Fields> {
  return asRecord(asRecord((await listed(peer, key))['streams'])[stream])
}
