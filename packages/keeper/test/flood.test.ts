import { mkdirSync, readFileSync } from 'node:fs'
import { connectKeeper, lookAtKeeper } from '@agentproto/keeper'
import type { HomeKeeper } from '@agentproto/keeper'
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

    let peak = 0
    for (;;) {
      peak = Math.max(peak, rssOf(pid))
      const [row] = (await lookAtKeeper(folder))?.agents ?? []
      if (row?.stalled === 'full') break
    }
    const [held] = (await lookAtKeeper(folder))?.agents ?? []
    const bound = BOUNDS.memoryBytes + BOUNDS.fileBytes
    expect(held?.keptBytes).toBeGreaterThan(bound * 0.9)
    expect(held?.keptBytes).toBeLessThan(bound + (256 << 10))
    expect(held?.hasEnded).toBe(false)

    const second = await gateway(folder)
    const agent = await second.adopt('flood')
    expect(agent?.kept.stdout.first).toBe(0)
    const reader = new InOrder()
    for await (const chunk of agent?.read('stdout', 0) ?? []) {
      reader.take(chunk)
      peak = Math.max(peak, rssOf(pid))
      await agent?.acknowledge({ stdin: 0, stdout: reader.size, stderr: 0 }, '', true)
    }
    expect(reader.size).toBe(TOTAL)
    expect(await agent?.exit).toEqual({ exitCode: 0 })
    await agent?.release()
    expect(peak, `${peak} MB`).toBeLessThan(PROGRAM_MB + BOUNDS.memoryBytes / 2 ** 20)
    second.close()
  },
)

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

const rssOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
