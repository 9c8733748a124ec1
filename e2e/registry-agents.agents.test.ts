import { expect, test } from 'vitest'
import { entryFacts } from '../packages/acp-registry/test/entry-facts.js'
import { needs } from '../tooling/needs.ts'
import { PINNED_AGENTS } from './agent-cache.mjs'
import { startAgentRegistry } from './support/agent-registry.js'
import { sweepEntry } from './support/sweep-entry.mjs'

// Six agents of the public registry by their names, from npm itself. The registry is on loopback and has their entries as they were in
// August 2026: some pin a version that npm has no longer.

interface LightAgent {
  readonly id: string
  /** In place of that of the entry: a package that other tests have already brought into npm's cache. */
  readonly package?: string
  /** Without the scripts of its packages it does not run. */
  readonly allowScripts?: boolean
  /** That is wished for. */
  readonly version?: string
  /** The version that is pinned and gone, and those that stand for it. */
  readonly gone?: readonly [string, RegExp]
  readonly session: 'opened' | { readonly refused: object }
  readonly logins: number
}

const needsLogin = { refused: { code: 'auth_required' } }

const AGENTS: readonly LightAgent[] = [
  // It wants a login, and names no way to it.
  { id: 'auggie', session: needsLogin, logins: 0 },
  { id: 'pi-acp', gone: ['0.0.33', /^0\.\d+\.\d+$/], session: { refused: {} }, logins: 1 },
  { id: 'reasonix', gone: ['1.39.4', /^1\.\d+\.\d+$/], session: { refused: {} }, logins: 0 },
  // Of its pinned version npm has the nearest, whose install script is what downloads the agent.
  { id: 'qoder', version: '1.1.52', session: needsLogin, logins: 1 },
  { id: 'gemini', package: npmPackage('gemini'), session: needsLogin, logins: 4 },
  // Its entry is a download, which npm has as well.
  { id: 'opencode', package: npmPackage('opencode'), allowScripts: true, session: 'opened', logins: 1 },
]

function npmPackage(name: 'gemini' | 'opencode'): string {
  return `${PINNED_AGENTS[name].package}@${PINNED_AGENTS[name].version}`
}

function entryOf({ id, package: own }: LightAgent): object {
  const entry = entryFacts(id)
  if (own === undefined) return entry
  const { args } = (entry.distribution['npx'] ?? { args: ['acp'] }) as { readonly args: readonly string[] }
  return { ...entry, distribution: { npx: { package: own, args } } }
}

test.each(AGENTS)(
  '18 $id is added by its name, says what it can do, and leaves nothing behind',
  { ...needs('linux'), timeout: 300_000 },
  async (agent) => {
    const { id, version, allowScripts = false, gone, session, logins } = agent
    const { document } = await startAgentRegistry(entryOf(agent))
    const swept = await sweepEntry({
      id,
      registry: document,
      allowScripts,
      ...(version === undefined ? {} : { version }),
    })
    expect(swept).toMatchObject({ result: 'ok', left: [], observed: { protocolVersion: 1, session } })
    expect(swept.observed?.logins.length).toBeGreaterThanOrEqual(logins)
    expect(swept.observed?.capabilities).toMatchObject({ load: expect.any(Boolean), image: expect.any(Boolean) })
    if (gone === undefined) return
    expect(swept.notes).toContain(gone[0])
    expect(swept.version).toMatch(gone[1])
  },
)
