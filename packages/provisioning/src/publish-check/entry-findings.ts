import { AgentprotoError, defined, isAgentprotoError } from '@agentproto/contracts'
import type { ObservedAgent } from '@agentproto/contracts/agent'
import type { AdapterService, AddedAgent, AgentPlan, FoundAgents } from '@agentproto/contracts/wire'
import { finding, PUBLISH_CHECKS, type PublishFinding, type Verdict } from './publish-finding.js'

/** An entry of a registry, or of a file that is not published yet. */
export interface EntryTarget {
  /** Absolute file with the entry, or with a registry document. */
  readonly from?: string
  /** Needed unless the file has one entry alone. */
  readonly id?: string
  /** Whether npm may run the scripts of the packages that it installs. */
  readonly allowScripts?: boolean
}

/** The adapter that the entry became. */
export interface CheckedEntry {
  readonly slug: string
  readonly observed?: ObservedAgent
}

export interface EntryCheck {
  /** Of an empty home, in which the agent is installed. */
  readonly adapters: Pick<AdapterService, 'search' | 'lookUp' | 'addAgent'>
  readonly signal: AbortSignal
}

/**
 * Reads an entry and installs its agent. A finding never throws.
 * @returns undefined where it could not be installed; the other checks are reported as skipped then
 * @throws `invalid_request` for a file with several entries, `path_invalid`, `registry_unavailable`, `cancelled`
 */
export async function* entryFindings(
  target: EntryTarget,
  check: EntryCheck,
): AsyncGenerator<PublishFinding, CheckedEntry | undefined, undefined> {
  const read = await readEntry(target, check)
  yield finding('entry', read.verdict)
  if (read.id === undefined) return yield* skipped('entry', 'the entry is not valid')
  const planned = await attempt(() => check.adapters.lookUp(read.id, defined({ from: target.from }), check.signal))
  if (!planned.ok) {
    yield finding('platform', { verdict: 'fail', expected: 'a way to install it here', seen: planned.message })
    return yield* skipped('platform', 'it cannot be had here')
  }
  yield finding('platform', platform(planned.value))
  const from = Date.now()
  const added = await attempt(() => install(read.id, target, check))
  if (!added.ok) {
    yield finding('install', { verdict: 'fail', expected: 'an installed agent', seen: added.message })
    return yield* skipped('install', 'it is not installed')
  }
  const { agent, warnings } = added.value
  const took = `in ${Math.round((Date.now() - from) / 1_000)} s`
  yield finding('install', { verdict: 'pass', seen: [took, ...warnings].join('; ') })
  const { slug, observed } = agent.adapter
  return { slug, ...defined({ observed }) }
}

type ReadEntry =
  | { readonly verdict: Verdict; readonly id: string }
  | { readonly verdict: Verdict; readonly id?: undefined }

async function readEntry({ from, id }: EntryTarget, { adapters, signal }: EntryCheck): Promise<ReadEntry> {
  const found = await attempt(() => adapters.search(defined({ from, text: id }), signal))
  if (found.ok) return entryIn(found.value, { id, isFile: from !== undefined })
  if (found.code !== 'registry_invalid') throw found.thrown
  return { verdict: { verdict: 'fail', expected: 'an entry', seen: found.message } }
}

interface Wish {
  readonly id: string | undefined
  readonly isFile: boolean
}

/** An entry that is left out is a finding; a file with many is a mistake of the caller. */
function entryIn({ agents, registry, warning }: FoundAgents, { id, isFile }: Wish): ReadEntry {
  const ids = agents.flatMap(({ registryId }) => (registryId === undefined ? [] : [registryId]))
  const own = id ?? (ids.length === 1 ? ids[0] : undefined)
  // Those of other entries of a registry are not the author's.
  const problems = (registry?.problems ?? []).filter((each) => isFile || each.startsWith(`${id ?? ''}: `))
  const fault = (expected: string, otherwise: string): Verdict => {
    return { verdict: 'fail', expected, seen: problems.slice(0, PROBLEMS_MAX).join(' ') || otherwise }
  }
  if (own !== undefined && ids.includes(own)) {
    const isWhole = problems.length === 0
    return { id: own, verdict: isWhole ? { verdict: 'pass', seen: own } : fault('an entry that is used whole', '') }
  }
  if (id !== undefined) return { verdict: fault(`an entry called ${id}`, warning ?? 'there is none') }
  if (problems.length > 0) return { verdict: fault('an entry', '') }
  throw new AgentprotoError('invalid_request', `The file has ${ids.length} agents`, {
    expected: 'one entry, or an id: acp:<id> --from <file>',
    given: ids.slice(0, PROBLEMS_MAX).join(', '),
  })
}

const PROBLEMS_MAX = 5

function platform({ way, package: wanted, url, missing, deprecated }: AgentPlan): Verdict {
  if (missing !== undefined)
    return {
      verdict: 'fail',
      expected: `version ${missing}, which the entry names`,
      seen: `none; ${wanted ?? ''} is the nearest`,
    }
  if (deprecated !== undefined)
    return { verdict: 'fail', expected: 'a package that its authors support', seen: deprecated }
  return { verdict: 'pass', seen: `${way ?? 'its own'}: ${wanted ?? url ?? ''}` }
}

interface Installed {
  readonly agent: AddedAgent
  readonly warnings: readonly string[]
}

const WARNINGS_MAX = 3

/** What its users decide is decided for it: the report says what they would be asked. */
async function install(id: string, target: EntryTarget, { adapters, signal }: EntryCheck): Promise<Installed> {
  const { from, allowScripts } = target
  const warnings: string[] = []
  const wish = { force: true, allowUnverified: true, ...defined({ from, allowScripts }), signal }
  for await (const event of adapters.addAgent(id, wish)) {
    if (event.type === 'warning' && warnings.length < WARNINGS_MAX) warnings.push(event.message)
    if (event.type === 'added') return { agent: event, warnings }
  }
  throw new AgentprotoError('install_failed', 'The installation ended without an adapter')
}

/** All checks after the one that made them impossible. */
function* skipped(after: PublishFinding['id'], reason: string): Generator<PublishFinding, undefined> {
  for (const id of PUBLISH_CHECKS.slice(PUBLISH_CHECKS.indexOf(after) + 1))
    yield finding(id, { verdict: 'skipped', reason })
  return undefined
}

type Attempt<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly thrown: AgentprotoError }

/** An error of ours is a result here; `cancelled` and what is no error of ours are not. */
async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { ok: true, value: await work() }
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || thrown.code === 'cancelled') throw thrown
    return { ok: false, code: thrown.code, message: thrown.message, thrown }
  }
}
