import { EXIT, isLive } from '@agentproto/contracts'
import { connect, findDaemon } from '../daemon/daemon.js'
import { homeOf, readDaemon } from '../daemon/daemon-record.js'
import { print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { age } from '../render/age.js'

/** `agentproto status`: fails with `daemon_not_running` when nobody answers. It never starts one. */
export async function status(given: Io, { json }: JsonOption): Promise<number> {
  const io = { ...given, mayStart: false }
  const { url } = await findDaemon(io)
  const client = await connect(io)
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
  return EXIT.ok
}
