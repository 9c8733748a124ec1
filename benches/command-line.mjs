// How long a person waits for a command, cold, beside Node itself in the same minute.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { median, now } from './measure.mjs'
import { startDaemon } from './over-http.mjs'

const cli = fileURLToPath(new URL('../packages/cli/bin/agentproto.mjs', import.meta.url))

export async function benchCommandLine({ home, cwd, commandRounds }) {
  const daemon = await startDaemon(home, cwd)
  const env = { ...process.env, AGENTPROTO_HOME: home }
  const once = (args) => {
    const began = now()
    execFileSync(process.execPath, args, { env, cwd, stdio: 'ignore' })
    return now() - began
  }
  const times = { node: [], version: [], sessions: [] }
  // In turns, so that what else the machine does falls upon all alike.
  for (let round = 0; round < commandRounds; round++) {
    times.node.push(once(['-e', '0']))
    times.version.push(once([cli, '--version']))
    times.sessions.push(once([cli, 'sessions', '--json']))
  }
  await daemon.stop()
  return { nodeMs: median(times.node), versionMs: median(times.version), sessionsMs: median(times.sessions) }
}
