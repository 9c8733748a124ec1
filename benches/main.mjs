// The goals of the project's design, measured in one run on one machine: the ratios hold whatever else the machine does.
// `pnpm bench` for all rows, `pnpm bench --quick` for a first look, `node benches/main.mjs memory replay` for some of them.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { acpNetwork } from './acp-network.mjs'
import { changes } from './changes.mjs'
import { checkpointedTurns } from './checkpointed-turns.mjs'
import { commandLine } from './command-line.mjs'
import { consoleInBrowser } from './console.mjs'
import { fleet } from './fleet.mjs'
import { fleetLog } from './fleet-log.mjs'
import { keptAgents } from './kept-agents.mjs'
import { manifests } from './manifests.mjs'
import { manySessions } from './many-sessions.mjs'
import { memory } from './memory.mjs'
import { promptInProcess } from './prompt-in-process.mjs'
import { promptOverHttp } from './prompt-over-http.mjs'
import { measureRaw, rawRows } from './raw-client.mjs'
import { reads } from './reads.mjs'
import { replay } from './replay.mjs'
import { FULL, QUICK } from './sizes.mjs'
import { spawnToReady } from './spawn-to-ready.mjs'
import { start } from './start.mjs'
import { storedSessions } from './stored-sessions.mjs'
import { streaming } from './streaming.mjs'
import { subscribers } from './subscribers.mjs'
import { printTable } from './table.mjs'

const BENCHES = {
  'spawn-to-ready': spawnToReady,
  'prompt-over-http': promptOverHttp,
  'prompt-in-process': promptInProcess,
  streaming,
  'many-sessions': manySessions,
  subscribers,
  'kept-agents': keptAgents,
  replay,
  memory,
  'command-line': commandLine,
  start,
  reads,
  'stored-sessions': storedSessions,
  manifests,
  changes,
  'checkpointed-turns': checkpointedTurns,
  console: consoleInBrowser,
  'acp-network': acpNetwork,
  fleet,
  'fleet-log': fleetLog,
}

const given = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const unknown = given.filter((name) => !(name in BENCHES))
if (unknown.length > 0)
  throw new Error(`no bench ${unknown.join(', ')}: choose from ${Object.keys(BENCHES).join(', ')}`)

const size = process.argv.includes('--quick') ? QUICK : FULL
const root = await mkdtemp(join(tmpdir(), 'agentproto-bench-'))
try {
  const raw = await measureRaw({ cwd: root, ...size })
  const rows = rawRows(raw)
  for (const name of given.length === 0 ? Object.keys(BENCHES) : given) {
    process.stderr.write(`${name} …\n`)
    rows.push(...(await BENCHES[name]({ home: join(root, name), cwd: root, raw, ...size })))
  }
  printTable(rows)
} finally {
  await rm(root, { recursive: true, force: true })
}
