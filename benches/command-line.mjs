// How long a person waits for a command, cold, compared with Node itself in the same minute.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startDaemon } from './gateway.mjs'
import { median, now } from './measure.mjs'
import { ms, row, times } from './table.mjs'

const cli = fileURLToPath(new URL('../packages/cli/bin/agentproto.mjs', import.meta.url))

export async function commandLine({ home, cwd, commandRounds }) {
  const daemon = await startDaemon(home, cwd)
  const env = { ...process.env, AGENTPROTO_HOME: home }
  const once = (args) => {
    const began = now()
    execFileSync(process.execPath, args, { env, cwd, stdio: 'ignore' })
    return now() - began
  }
  const took = { node: [], version: [], sessions: [] }
  // In turns, so that other load of the machine affects all of them alike.
  for (let round = 0; round < commandRounds; round++) {
    took.node.push(once(['-e', '0']))
    took.version.push(once([cli, '--version']))
    took.sessions.push(once([cli, 'sessions', '--json']))
  }
  await daemon.stop()
  const [nodeMs, versionMs, sessionsMs] = [took.node, took.version, took.sessions].map(median)
  return [
    row('node -e 0, cold', nodeMs, { unit: ms }),
    row('agentproto --version, as a multiple of it', versionMs / nodeMs, { most: 1.3, unit: times }),
    row('agentproto sessions --json, as a multiple of it', sessionsMs / nodeMs, { most: 2.5, unit: times }),
  ]
}
