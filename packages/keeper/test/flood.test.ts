import { mkdirSync, readFileSync } from 'node:fs'
import type { KeptAgent } from '@agentproto/contracts/agent'
import { connectKeeper, lookAtKeeper } from '@agentproto/keeper'
import type { HomeKeeper, ListedAgent } from '@agentproto/keeper'
import { expect, onTestFinished, test } from 'vitest'
import { DEFAULT_BOUNDS } from '../src/program/bounds.ts'
import { program } from './held-programs.ts'
import { keeperFolder, startProgram } from './keeper-process.ts'

/** `KEEPER_FLOOD_MIB=2048` is the long form, with the bounds of the program. */
const MIB = Number(process.env['KEEPER_FLOOD_MIB'] ?? 96)
const TOTAL = MIB * 2 ** 20
const isLong = MIB >= 2048
const BOUNDS = isLong
  ? { memoryBytes: DEFAULT_BOUNDS.memoryBytes, fileBytes: DEFAULT_BOUNDS.fileBytes }
  : { memoryBytes: 1 << 20, fileBytes: 32 << 20 }
/** Beside what is retained in memory, in MB. */
const PROGRAM_MB = 200
const LIMIT_MS = isLong ? 600_000 : 60_000

/** Each 8 bytes have their place, so that what is lost, repeated or in another order shows. */
const numbered = `
  const fs = require('node:fs'); const b = Buffer.alloc(1 << 16); let at = 0
  for (; at < ${TOTAL}; at += b.length) {
    for (let i = 0; i < b.length; i += 8) b.writeDoubleBE(at + i, i)
    for (let done = 0; done < b.length; ) done += fs.writeSync(1, b, done)
  }`

test(
  '16.1 an agent floods while no gateway is there: bounded memory, then files, then it waits; the next gateway has every byte in order',
  { timeout: LIMIT_MS },
  async () => {
    const folder = keeperFolder()
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const running = await startProgram(folder, BOUNDS)
    onTestFinished(running.destroy)
    const first = await gateway(folder)
    const { pid } = first.info
    await first.spawn('flood', program(numbered), '')
    first.close()

    const peak = new Peak(pid)
    const held = await untilFull(folder, peak)
    const bound = BOUNDS.memoryBytes + BOUNDS.fileBytes
    expect(held.keptBytes).toBeGreaterThan(bound * 0.9)
    expect(held.keptBytes).toBeLessThan(bound + (256 << 10))
    expect(held.hasEnded).toBe(false)

    const second = await gateway(folder)
    const agent = await second.adopt('flood')
    if (agent === undefined) throw new Error('nothing is held')
    expect(agent.kept.stdout.first).toBe(0)
    expect(await readBack(agent, peak)).toBe(TOTAL)
    expect(await agent.exit).toEqual({ exitCode: 0 })
    await agent.release()
    expect(peak.mb).toBeLessThan(PROGRAM_MB + BOUNDS.memoryBytes / 2 ** 20)
    second.close()
  },
)

/** What the keeper holds of the flood when it reads no more of it. */
async function untilFull(folder: string, peak: Peak): Promise<ListedAgent> {
  for (;;) {
    peak.look()
    const [row] = (await lookAtKeeper(folder))?.agents ?? []
    if (row?.stalled === 'full') return row
  }
}

/** Reads and acknowledges all of the flood. @returns how much that was */
async function readBack(agent: KeptAgent, peak: Peak): Promise<number> {
  const reader = new InOrder()
  for await (const chunk of agent.read('stdout', 0)) {
    reader.take(chunk)
    peak.look()
    await agent.acknowledge({ stdin: 0, stdout: reader.size, stderr: 0 }, '', true)
  }
  return reader.size
}

/** The most memory that a process was seen to have, in MB. */
class Peak {
  mb = 0
  readonly #pid: number

  constructor(pid: number) {
    this.#pid = pid
  }

  look(): void {
    const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8')
    this.mb = Math.max(this.mb, Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
  }
}

async function gateway(folder: string): Promise<HomeKeeper> {
  const keeper = await connectKeeper({ folder, orphanMs: 60_000 })
  if (keeper === undefined) throw new Error('no keeper is alive')
  return keeper
}

/** Follows the numbers of the flood, wherever they are cut. */
class InOrder {
  size = 0
  #rest: Buffer = Buffer.alloc(0)

  take(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const whole = bytes.length - (bytes.length % 8)
    const start = this.size - this.#rest.length
    for (let at = 0; at < whole; at += 8)
      if (bytes.readDoubleBE(at) !== start + at) throw new Error(`other bytes at ${start + at}`)
    this.#rest = bytes.subarray(whole)
    this.size += chunk.length
  }
}
