// One agent of a registry from its name to nothing: added, asked, started, removed, and what is left of it.
import { createCliUser } from './cli-user.mjs'

/** Codes of an agent that cannot be had, and of one that does not answer. Any other is a failure of ours. */
const OUTCOMES = {
  install_failed: 'not installed',
  registry_invalid: 'not installed',
  handshake_failed: 'no handshake',
  agent_crashed: 'no handshake',
  spawn_failed: 'no handshake',
  timeout: 'no handshake',
}

/** See sweep-entry.d.mts. */
export async function sweepEntry({ id, version, registry, allowScripts = false, ...options }) {
  const user = createCliUser(options)
  try {
    await user.run('config', 'set', 'registry.url', registry)
    const source = `acp:${id}${version === undefined ? '' : `@${version}`}`
    // Under a slug of its own, so that an agent of the catalogue is added as its entry has it.
    const flags = ['--as', `registry-${id}`, ...(allowScripts ? ['--allow-scripts'] : [])]
    const added = await user.run('adapters', 'add', source, ...flags, '--json')
    // A session may leave what is the user's, and so may a script of a package. Adding an agent may not.
    const own = allowScripts ? [] : user.ownFiles()
    const facts = added.code === 0 ? await useAgent(JSON.parse(added.stdout).adapter.slug, user) : refused(added)
    const left = [...own, ...user.left()]
    const result = facts.result === 'failed' || left.length === 0 ? facts.result : 'leaves something'
    return { id, notes: added.stderr, ...facts, left, result }
  } finally {
    await user.end()
  }
}

/** What is known of an agent that was added, after it was started where it needs no login, and removed. */
async function useAgent(slug, user) {
  const shown = await user.run('adapters', 'show', slug, '--json')
  if (shown.code !== 0) return { result: 'failed', error: errorOf(shown) }
  const { state, observed } = JSON.parse(shown.stdout)
  const facts = { version: state?.version, mb: user.megabytes(slug), observed }
  const ends = [
    ...(observed?.session === 'opened' ? await startSession(slug, user) : []),
    await user.run('adapters', 'remove', slug),
  ]
  const failed = ends.find(({ code }) => code !== 0)
  return { ...facts, result: 'ok', ...(failed === undefined ? {} : { result: 'failed', error: errorOf(failed) }) }
}

async function startSession(slug, user) {
  const started = await user.run('sessions', 'start', slug, '--cwd', user.cwd, '--json')
  if (started.code !== 0) return [started, await user.run('stop')]
  const { id } = JSON.parse(started.stdout)
  return [await user.run('sessions', 'kill', id), await user.run('stop')]
}

const refused = (ended) => {
  const error = errorOf(ended)
  return { result: OUTCOMES[error.code] ?? 'failed', error }
}

/** The last line of stderr is a problem document. */
function errorOf({ stderr, timedOut }) {
  if (timedOut) return { code: 'too_long', message: 'It took longer than the sweep allows' }
  const last = stderr.trim().split('\n').at(-1) ?? ''
  try {
    const { code, detail } = JSON.parse(last)
    return { code, message: detail }
  } catch {
    return { code: 'unknown', message: stderr.trim().slice(-400) }
  }
}
