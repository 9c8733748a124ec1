import { openAdapters } from '../adapters/open-adapters.js'
import type { CliContext } from '../cli-context.js'
import { connect } from '../daemon/connect.js'
import { homeOf } from '../daemon/daemon-record.js'
import type { Candidate, NameKind } from './completions.js'

/** At most this many names are offered. */
const MAX_NAMES = 200

/** The names that exist now; none when they cannot be read. Completion never starts a gateway. */
export async function namesOf(context: CliContext, kind: NameKind): Promise<readonly Candidate[]> {
  try {
    return await READERS[kind](context)
  } catch {
    return []
  }
}

const READERS: Readonly<Record<NameKind, (context: CliContext) => Promise<readonly Candidate[]>>> = {
  async session(context) {
    const client = await connect({ ...context, autoStart: false })
    const { sessions } = await client.sessions.list({ limit: MAX_NAMES })
    return sessions.map(({ id, label, adapterSlug, status }) => ({
      word: label === undefined || /\s/.test(label) ? id : label,
      description: `${adapterSlug}, ${status}`,
    }))
  },
  async workspace(context) {
    const { createWorkspaces } = await import('@agentproto/workspaces')
    const home = homeOf(context).root
    const { workspaces } = await createWorkspaces({ home, defaultCwd: context.cwd, onWarning: () => undefined }).list()
    return workspaces.map(({ slug, path }) => ({ word: slug, description: path }))
  },
  async adapter(context) {
    const adapters = await (await openAdapters(context)).list()
    return adapters.map(({ slug, name, installed }) => ({
      word: slug,
      description: installed ? name : `${name}, not installed`,
    }))
  },
  async key() {
    const { configKeys } = await import('../config/config-keys.js')
    return configKeys().map(({ name, description }) => ({ word: name, description }))
  },
  async secret(context) {
    const { createSecrets } = await import('@agentproto/secrets')
    const secrets = createSecrets({ home: homeOf(context).root, env: context.env, onWarning: () => undefined })
    return (await secrets.list()).map(({ slug, kind }) => ({ word: slug, description: kind }))
  },
  async gateway(context) {
    const { openGatewayTokens } = await import('../remote/stored-token.js')
    const gateways = await (await openGatewayTokens(context)).list()
    return gateways.map(({ url, place }) => ({ word: url, description: `token in the ${place}` }))
  },
}
