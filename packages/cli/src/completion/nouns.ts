import { connect } from '../daemon/daemon.js'
import { homeOf } from '../daemon/daemon-record.js'
import type { Io } from '../io.js'
import type { Candidate, Noun } from './candidates.js'

/** So many are offered; with more, a person types on. */
const MAX = 200

/** The names that there are now. A gateway that does not run has no sessions: nothing is started for a Tab. */
export async function namesOf(io: Io, noun: Noun): Promise<readonly Candidate[]> {
  try {
    return await FINDERS[noun](io)
  } catch {
    return []
  }
}

const FINDERS: Readonly<Record<Noun, (io: Io) => Promise<readonly Candidate[]>>> = {
  async session(io) {
    const client = await connect({ ...io, mayStart: false })
    const { sessions } = await client.sessions.list({ limit: MAX })
    return sessions.map(({ id, label, adapterSlug, status }) => ({
      word: label === undefined || /\s/.test(label) ? id : label,
      description: `${adapterSlug}, ${status}`,
    }))
  },
  async workspace(io) {
    const { createWorkspaces } = await import('@agentproto/workspaces')
    const home = homeOf(io).root
    const { workspaces } = await createWorkspaces({ home, defaultCwd: io.cwd, onWarning: () => undefined }).list()
    return workspaces.map(({ slug, path }) => ({ word: slug, description: path }))
  },
  async adapter(io) {
    const { adaptersOf } = await import('../adapters/adapters-of.js')
    const adapters = await (await adaptersOf(io)).list()
    return adapters.map(({ slug, name, installed }) => ({
      word: slug,
      description: installed ? name : `${name}, not installed`,
    }))
  },
  async key() {
    const { configKeys } = await import('../config/config-keys.js')
    return configKeys().map(({ name, description }) => ({ word: name, description }))
  },
  async secret(io) {
    const { createSecrets } = await import('@agentproto/secrets')
    const secrets = createSecrets({ home: homeOf(io).root, env: io.env, onWarning: () => undefined })
    return (await secrets.list()).map(({ slug, kind }) => ({ word: slug, description: kind }))
  },
}
