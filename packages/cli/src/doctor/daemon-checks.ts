import type { DoctorCheck } from '@agentproto/contracts/wire'
import { openAdapters } from '../adapters/open-adapters.js'
import { daemonProcess } from '../daemon/daemon-process.js'
import { connect } from '../daemon/connect.js'
import { homeOf, readDaemon } from '../daemon/daemon-record.js'
import type { CliContext } from '../cli-context.js'
import { version } from '../version.js'

/** The gateway of the home, if one is running. */
export async function daemonCheck(context: CliContext): Promise<DoctorCheck> {
  const about = { id: 'daemon', title: 'gateway' } as const
  const home = homeOf(context)
  const owner = await daemonProcess(home)
  const record = await readDaemon(home)
  if (owner === undefined && !context.env['AGENTPROTO_URL'])
    return { ...about, verdict: 'ok', detail: 'not running; a command that needs it starts it' }
  try {
    const client = await connect({ ...context, autoStart: false })
    const health = await client.health()
    await client.sessions.list({ limit: 1 })
    const detail = `${health.version} at ${record?.url ?? context.env['AGENTPROTO_URL']}`
    if (health.version === version()) return { ...about, verdict: 'ok', detail }
    const hint = 'Restart it: agentproto stop && agentproto serve --detach'
    return { ...about, verdict: 'warn', detail: `${detail}, but this command is ${version()}`, hint }
  } catch (thrown) {
    const detail = thrown instanceof Error ? thrown.message : String(thrown)
    return { ...about, verdict: 'fail', detail, hint: 'Kill it with: agentproto stop --force' }
  }
}

/** The agents that can be started. */
export async function adaptersCheck(context: CliContext): Promise<DoctorCheck> {
  const about = { id: 'adapters', title: 'agents' } as const
  try {
    const adapters = await (await openAdapters(context)).list()
    const names = adapters.filter(({ installed }) => installed).map(({ slug }) => slug)
    const real = names.filter((slug) => slug !== 'demo')
    const detail = `${names.length} of ${adapters.length} installed: ${names.join(', ') || 'none'}`
    if (real.length > 0) return { ...about, verdict: 'ok', detail }
    return { ...about, verdict: 'warn', detail, hint: 'Install one: agentproto adapters install opencode' }
  } catch (thrown) {
    const detail = thrown instanceof Error ? thrown.message : String(thrown)
    return { ...about, verdict: 'fail', detail, hint: 'See more with: agentproto adapters list' }
  }
}
