// Everything in one run on one machine, so that the ratios hold whatever the machine is doing.
// `pnpm bench` for all of it; `pnpm bench --quick` for a look.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchBigHome } from './big-home.mjs'
import { benchCommandLine } from './command-line.mjs'
import { benchInProcess } from './in-process.mjs'
import { benchManifests } from './manifests.mjs'
import { benchManySessions } from './many-sessions.mjs'
import { benchOverHttp } from './over-http.mjs'
import { benchRaw } from './raw-client.mjs'
import { benchReads } from './reads.mjs'
import { printTable } from './table.mjs'

const quick = process.argv.includes('--quick')
const size = quick
  ? {
      starts: 3,
      commandRounds: 7,
      prompts: 500,
      flood: 50_000,
      sessions: 10,
      updates: 2_000,
      stored: 1_000,
      events: 100_000,
      manifests: 200,
      readMs: 1_000,
      subscribers: 100,
      fanOut: 500,
    }
  : {
      starts: 10,
      commandRounds: 21,
      prompts: 3_000,
      flood: 500_000,
      sessions: 50,
      updates: 10_000,
      stored: 10_000,
      events: 1_000_000,
      manifests: 1_000,
      readMs: 4_000,
      subscribers: 500,
      fanOut: 2_000,
    }

const root = await mkdtemp(join(tmpdir(), 'agentproto-bench-'))
const home = (name) => join(root, name)
try {
  const raw = await benchRaw({ cwd: root, ...size, flood: Math.min(size.flood, 100_000) })
  const inProcess = await benchInProcess({ home: home('in-process'), cwd: root, ...size })
  const http = await benchOverHttp({ home: home('http'), cwd: root, ...size })
  const many = await benchManySessions({ home: home('many'), cwd: root, ...size })
  const reads = await benchReads({ home: home('reads'), cwd: root, ...size })
  const big = await benchBigHome({ home: home('big'), cwd: root, ...size })
  const commandTimes = await benchCommandLine({ home: home('commands'), cwd: root, ...size })
  const checked = benchManifests({ folder: home('manifests'), ...size })
  printTable({ commandTimes, checked, raw, inProcess, http, reads, many, big, ...size })
} finally {
  await rm(root, { recursive: true, force: true })
}
