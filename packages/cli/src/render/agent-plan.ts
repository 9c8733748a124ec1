import type { AgentPlan } from '@agentproto/contracts/wire'
import { byteCount } from '../doctor/byte-count.js'
import type { Paint } from './paint.js'
import { oneLine } from './printable.js'

/** What would be installed, for a person who decides about it: one line, and one for each thing to know. */
export function planLines(plan: AgentPlan, paint: Paint): readonly string[] {
  const { name, version, slug, registryId } = plan
  const called = slug === registryId ? '' : `, called ${slug} here`
  return [
    `${paint.bold(oneLine(name))} ${oneLine(version)}${called}`,
    paint.dim(`  ${oneLine(factsOf(plan).join(', '))}`),
    ...startOf(plan).map((line) => paint.dim(`  ${oneLine(line)}`)),
    ...notesOf(plan).map((note) => `${paint.yellow('!')} ${oneLine(note)}`),
  ]
}

function factsOf({
  way,
  package: name,
  url,
  license = 'no licence named',
  bytes,
  sha256,
}: AgentPlan): readonly string[] {
  const from = name === undefined ? url : `${name}${way === undefined ? '' : ` from ${REGISTRIES[way]}`}`
  return [
    ...(from === undefined ? [] : [from]),
    `licence: ${license}`,
    ...(bytes === undefined ? [] : [`${byteCount(bytes)}${way === 'npx' ? ' without its dependencies' : ''}`]),
    ...(sha256 === undefined ? [] : [`SHA-256 ${sha256}`]),
  ]
}

/** What a session starts, besides the program. */
function startOf({ args = [], variables }: AgentPlan): readonly string[] {
  const set = Object.entries(variables?.set ?? {}).map(([name, value]) => `${name}=${value}`)
  return [
    ...(args.length === 0 ? [] : [`started with: ${args.join(' ')}`]),
    ...(set.length === 0 ? [] : [`with the variables: ${set.join(' ')}`]),
  ]
}

const REGISTRIES: Readonly<Record<NonNullable<AgentPlan['way']>, string>> = {
  npx: 'npm',
  uvx: 'PyPI',
  binary: 'its address',
}

const notesOf = (plan: AgentPlan): readonly string[] => [...notesOfEntry(plan), ...notesOfInstall(plan)]

/** What is to be known of the agent and of the version that was asked for. */
function notesOfEntry({ catalogue, missing, deprecated, package: name }: AgentPlan): readonly string[] {
  const notes: string[] = []
  if (catalogue !== undefined) {
    const tested = catalogue.tested === undefined ? '' : `, tested with ${catalogue.tested}`
    notes.push(`The catalogue has an adapter for it: ${catalogue.slug}${tested}. That one is used.`)
  }
  if (missing !== undefined)
    notes.push(`Version ${missing} is gone; ${name ?? 'this one'} is the nearest that is there.`)
  if (deprecated !== undefined) notes.push(`Its authors say that it should not be used: ${deprecated}`)
  return notes
}

/** What installing and starting it does. */
function notesOfInstall({ catalogue, installScripts, ...plan }: AgentPlan): readonly string[] {
  const { way, sha256, replaces, variables } = plan
  const notes: string[] = []
  if (installScripts === true && catalogue === undefined)
    notes.push('It has install scripts. They are run only with --allow-scripts.')
  if (way === 'binary' && sha256 === undefined) notes.push('There is no checksum of this download.')
  const passed = variables?.passed ?? []
  if (passed.length > 0) notes.push(`Its sessions get these variables of yours: ${passed.join(', ')}.`)
  if (replaces !== undefined && replaces.version === plan.version) notes.push(`${plan.version} is there already.`)
  else if (replaces !== undefined) notes.push(`It replaces ${replaces.version ?? 'the version that is there'}.`)
  return notes
}
