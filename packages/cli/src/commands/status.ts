import { EXIT, isLive } from '@agentproto/contracts'
import { clientOf, findDaemon, homeOf, readDaemon } from '../daemon.js'
import { print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../program/workspace-commands.js'
import { age } from '../render/age.js'
import { version as ownVersion } from '../version.js'

/** `agentproto status`: fails with `daemon_not_running` when nobody answers. */
export async function status(io: Io, { json }: JsonOption): Promise<number> {
  const daemon = await findDaemon(io)
  const { url } = daemon
  const client = clientOf(daemon)
  const { version } = await client.health()
  const { sessions } = await client.sessions.list({ limit: 1_000 })
  const record = await readDaemon(homeOf(io))
  const ofHome = record?.url === url ? record : undefined
  const live = sessions.filter(isLive).length
  const facts = { url, version, pid: ofHome?.pid, startedAt: ofHome?.startedAt, sessions: sessions.length, live }
  if (json === true) printJson(io, facts)
  else {
    const since =
      ofHome === undefined ? '' : `, pid ${ofHome.pid}, up ${age(Date.now() - Date.parse(ofHome.startedAt))}`
    print(io.stdout, [`agentproto ${version} at ${url}${since}`, `${live} live of ${sessions.length} sessions`])
  }
  if (version !== ownVersion())
    print(
      io.stderr,
      `agentproto: the gateway is ${version}, this command is ${ownVersion()}. Restart it with: agentproto serve`,
    )
  return EXIT.ok
}
