// A gateway as the directory sees it, in a process of its own that can be frozen. Its arguments are a host name, a server, the
// key file, a lease and a session; it writes each moment at which it believes that the session is its own, and the epoch.
import { systemClock } from '@agentproto/contracts'
import { HostDirectory, openCluster, SessionDirectory } from '../../dist/parts.js'

const [host, server, key, leaseMs, session] = process.argv.slice(2)
const options = {
  servers: [server],
  host,
  key,
  leaseMs: Number(leaseMs),
  clock: systemClock,
  onProblem: () => {},
  describe: () => ({
    version: '1',
    labels: {},
    liveSessions: 0,
    freeSessions: 1,
    adapters: [],
    workspaces: [],
    lag: 0,
  }),
}
const cluster = await openCluster(options)
const hosts = await HostDirectory.join(cluster, options)
const sessions = await SessionDirectory.open({
  cluster,
  hosts,
  onProblem: () => {},
  onFenced: (_, owner) => print({ fenced: owner }),
  onSuspended: () => {},
  onReleased: () => {},
})
if (session !== undefined) await sessions.claim(JSON.parse(session))
print({ ready: host })

process.stdin.setEncoding('utf8').on('data', (id) => {
  sessions.takeOver(id.trim()).then(
    (epoch) => print({ taken: epoch }),
    ({ message }) => print({ refused: message }),
  )
})

// The time is read first: what is believed after it was believed at that moment too.
setInterval(() => {
  const at = process.hrtime.bigint()
  for (const {
    session: { id },
  } of sessions.all())
    if (sessions.mayWrite(id)) print({ at: String(at), epoch: sessions.epochOf(id) })
}, 5)

function print(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
