import { asRecord, asString, defined } from '@agentproto/contracts'
import type { AdapterState, DoctorCheck } from '@agentproto/contracts/wire'
import { commandFor, findExecutable } from '@agentproto/subprocess'
import satisfies from 'semver/functions/satisfies.js'
import validRange from 'semver/ranges/valid.js'
import { remoteAddress } from '@agentproto/manifest'
import { findAgent, launchHints, type LocatedAgent } from '@agentproto/driver-agent-cli/installation'
import { adapterState } from '../adapter-state.js'
import { type AgentRecord, agentVariables, readRecord } from '../agent-record.js'
import { checkLogin, type Login } from '../auth-state.js'
import { checkVersion, packageOf } from '../check-version.js'
import { fileHead } from '../file-head.js'
import { pythonVersion } from '../find-python.js'
import { changeWhenFree } from '../ledger.js'
import { waysIn } from '../login.js'
import type { CommandContext } from '../manifest-command.js'
import { runTool } from '../run-tool.js'
import type { RunningExamination } from './examination.js'
import { remoteChecks } from './remote-checks.js'

/**
 * What can be found out without starting a session.
 * @returns whether one can be started
 */
export async function staticChecks(examination: RunningExamination): Promise<boolean> {
  const { adapter, host, report } = examination
  const { manifest } = adapter
  report(manifestCheck(examination))
  const isRemote = remoteAddress(manifest) !== undefined
  const found = isRemote ? undefined : await findAgent(manifest, host)
  const checks = found || isRemote ? await startableChecks(found, examination) : [notInstalled(examination)]
  for (const check of checks) report(check)
  return checks.every(({ verdict, id }) => verdict !== 'fail' || !NEEDED.has(id))
}

/** A failure of these makes a start impossible; the others do not. */
const NEEDED: ReadonlySet<string> = new Set([
  'install',
  'setup',
  'auth',
  'endpoint.secrets',
  'endpoint.address',
  'endpoint.tls',
  'endpoint.handshake',
])

function manifestCheck({ adapter: { manifest } }: RunningExamination): DoctorCheck {
  const base = { id: 'manifest', title: 'Manifest' }
  const { unverified: doubts } = launchHints(manifest)
  if (doubts.length === 0)
    return { ...base, verdict: 'ok', detail: `${manifest.name} ${manifest.version}, ${manifest.protocol}` }
  return { ...base, verdict: 'warn', detail: `not verified by its author: ${doubts.join('; ')}` }
}

const notInstalled = ({ adapter: { manifest } }: RunningExamination): DoctorCheck => ({
  id: 'install',
  title: 'Installed',
  verdict: 'fail',
  detail: `${manifest.bin} is neither in the agent's folder nor on PATH`,
  hint: `agentproto adapters install ${manifest.id}`,
})

const PLACES: Readonly<Record<LocatedAgent['place'], string>> = {
  host: 'named by the host',
  prefix: 'in a folder of its own',
  path: 'on PATH',
}

/** @param found absent for an agent that runs elsewhere */
async function startableChecks(
  found: LocatedAgent | undefined,
  examination: RunningExamination,
): Promise<readonly DoctorCheck[]> {
  const { adapter, host, request, signal } = examination
  const record = await readRecord(adapter, host)
  const { variables } = await agentVariables(record)
  const commandContext = { ...record, signal, variables }
  const state = await adapterState(record)
  return [
    ...(found === undefined
      ? await remoteChecks(examination, state)
      : await programChecks(found, examination, commandContext)),
    ...secretChecks(state),
    setupCheck(state),
    await authCheck(commandContext, request.live === true),
  ]
}

const programChecks = async (
  found: LocatedAgent,
  examination: RunningExamination,
  commandContext: CommandContext,
): Promise<readonly DoctorCheck[]> => [
  { id: 'install', title: 'Installed', verdict: 'ok', detail: `${found.file}, ${PLACES[found.place]}` },
  await versionCheck(found, commandContext),
  await nodeCheck(found, examination),
  ...(await pythonChecks(found, examination)),
]

async function versionCheck(found: LocatedAgent, commandContext: CommandContext): Promise<DoctorCheck> {
  const { range } = commandContext.adapter.manifest.versionCheck
  const { version, ok, detail } = await checkVersion(found, commandContext)
  const hint = ok ? undefined : `agentproto adapters install ${commandContext.adapter.manifest.id} --force`
  return {
    id: 'version',
    title: 'Version',
    verdict: ok ? 'ok' : 'fail',
    detail,
    declared: range,
    ...defined({ found: version, hint }),
  }
}

/** Agents often state a minimum that is too high: only the manifest's own range is a failure. */
async function nodeCheck(found: LocatedAgent, examination: RunningExamination): Promise<DoctorCheck> {
  const base = { id: 'node', title: 'Node' }
  const node = await nodeFor(found.file, examination)
  if (node === undefined) return { ...base, verdict: 'ok', detail: 'it is a native program and needs none' }
  const own = launchHints(examination.adapter.manifest).node
  const range = own ?? (await engineOf(found.file))
  if (range === undefined || validRange(range) === null)
    return { ...base, verdict: 'ok', detail: `it states no minimum; it runs on ${node}` }
  const fits = satisfies(node, range)
  if (fits) return { ...base, verdict: 'ok', detail: node, declared: range, found: node }
  const detail =
    own === undefined ? `its package requires ${range}; many agents run anyway` : `it does not run on ${node}`
  return {
    ...base,
    verdict: own === undefined ? 'warn' : 'fail',
    detail,
    declared: range,
    found: node,
    hint: 'Run agentproto under a newer Node',
  }
}

/** The version of the Node that a script is run under; undefined for what is no script of Node's. */
async function nodeFor(file: string, { host, signal }: RunningExamination): Promise<string | undefined> {
  if (commandFor(file).command === process.execPath) return process.versions.node
  const head = (await fileHead(file, 128)).toString('latin1')
  if (!/^#!.*\bnode\b/.test(head)) return undefined
  const node = await findExecutable('node', { path: host.env['PATH'] ?? '' })
  if (node === undefined || node === process.execPath) return process.versions.node
  const end = await runTool({ file: node, args: ['--version'], timeoutMs: 5_000, signal }, host)
  return end.stdout.trim().replace(/^v/, '') || undefined
}

async function engineOf(file: string): Promise<string | undefined> {
  return asString(asRecord((await packageOf(file))['engines'])['node'])
}

/** The Python that a script runs under, where the manifest says which it needs. */
async function pythonChecks(found: LocatedAgent, examination: RunningExamination): Promise<readonly DoctorCheck[]> {
  const { id } = examination.adapter.manifest
  const range = launchHints(examination.adapter.manifest).python
  if (range === undefined || validRange(range) === null) return []
  const base = { id: 'python', title: 'Python', declared: range }
  const version = await pythonFor(found.file, examination)
  if (version === undefined)
    return [{ ...base, verdict: 'warn', detail: 'the version of the Python that it runs on was not found' }]
  if (satisfies(version, range)) return [{ ...base, verdict: 'ok', detail: version, found: version }]
  const hint = `Install a Python in ${range}, then run: agentproto adapters install ${id} --force`
  return [{ ...base, verdict: 'fail', detail: `it does not run on ${version}`, found: version, hint }]
}

/** pip has a shell start the Python of a script where its path is long. */
const PYTHON_OF_SCRIPT = [
  /^#!(\/\S*python[\d.]*)/,
  /^#!\S+\/env (python[\d.]*)/,
  /^#!\/bin\/sh\n'''exec' "?([^"\n]*?python[\d.]*)"?/,
]

async function pythonFor(file: string, { host, signal }: RunningExamination): Promise<string | undefined> {
  const head = (await fileHead(file, 1_024)).toString('latin1')
  const name = PYTHON_OF_SCRIPT.map((pattern) => pattern.exec(head)?.[1]).find((found) => found !== undefined)
  if (name === undefined) return undefined
  const python = name.startsWith('/') ? name : await findExecutable(name, { path: host.env['PATH'] ?? '' })
  return python === undefined ? undefined : pythonVersion(python, { host, signal }).catch(() => undefined)
}

/** A secret need not be set: another login may be enough. */
function secretChecks({ secrets }: AdapterState): readonly DoctorCheck[] {
  if (secrets.length === 0) return []
  const set = secrets.filter((secret) => secret.set)
  const detail = set.map(({ slug, place }) => `${slug} (${place ?? 'somewhere'})`).join(', ')
  return [
    {
      id: 'secrets',
      title: 'Secrets',
      verdict: 'ok',
      detail: set.length === 0 ? `none of ${secrets.map(({ slug }) => slug).join(', ')} is set` : detail,
    },
  ]
}

function setupCheck({ slug, setup }: AdapterState): DoctorCheck {
  const base = { id: 'setup', title: 'Setup' }
  const pending = setup.filter(({ state }) => state === 'pending').map(({ id }) => id)
  if (setup.length === 0) return { ...base, verdict: 'ok', detail: 'it needs none' }
  if (pending.length === 0) return { ...base, verdict: 'ok', detail: `${setup.length} of ${setup.length} steps` }
  return {
    ...base,
    verdict: 'fail',
    detail: `to be done: ${pending.join(', ')}`,
    hint: `agentproto adapters setup ${slug}`,
  }
}

/** The login at a provider of the user's own is not visible here: with `live`, the session decides. */
async function authCheck(context: AgentRecord & CommandContext, live: boolean): Promise<DoctorCheck> {
  const base = { id: 'auth', title: 'Login' }
  const { adapter, host, ledger: before } = context
  const { id, auth } = adapter.manifest
  const { state, by, ledger, problem } = await checkLogin(context, context)
  // What was found out counts for the other commands too.
  if (ledger !== before)
    await changeWhenFree(id, host, (current) => ({ ...current, ...defined({ auth: ledger.auth }) }))
  if (state === 'not_needed') return { ...base, verdict: 'ok', detail: 'it needs none' }
  if (state === 'authed') return { ...base, verdict: 'ok', detail: 'it is logged in' }
  const hint = auth?.login === undefined ? 'agentproto secrets list' : `agentproto adapters login ${id}`
  if (state === 'unknown') {
    const known = waysIn(adapter).length > 0 ? hint : live ? undefined : `agentproto adapters doctor ${id} --live`
    return { ...base, verdict: 'warn', detail: 'only a session can report', ...defined({ hint: known }) }
  }
  const detail = problem === undefined ? MISSING[by] : host.redactor.redact(problem)
  return { ...base, verdict: live && by === 'absence' ? 'warn' : 'fail', detail, hint }
}

const MISSING: Readonly<Record<Login['by'], string>> = {
  no_auth: 'it needs none',
  key: 'a key is set',
  file: 'its file is there',
  absence: 'none of the logins that its manifest names was found',
  check: 'its own check says that it is not logged in',
  ledger: 'its login has expired',
}
