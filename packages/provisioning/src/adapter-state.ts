import { asRecord, defined, loginRefusal } from '@agentproto/contracts'
import type { ObservedAgent } from '@agentproto/contracts/agent'
import { type AdapterState, observedAgentSchema } from '@agentproto/contracts/wire'
import { stat } from 'node:fs/promises'
import { type AgentCliManifest, observedMembers, remoteAddress } from '@agentproto/manifest'
import { endpointSecrets, findAgent, type LocatedAgent } from '@agentproto/driver-agent-cli/installation'
import { type AgentRecord, agentVariables, secretStates } from './agent-record.js'
import { loginOf } from './auth-state.js'
import type { Ledger } from './ledger.js'
import { stepState } from './setup/step-question.js'

/** How far an agent is provisioned, by its files and the ledger: nothing is run. */
export async function adapterState(record: AgentRecord): Promise<AdapterState> {
  const { adapter, host, ledger } = record
  const { manifest } = adapter
  const isRemote = remoteAddress(manifest) !== undefined
  // A program of that name has nothing to do with an agent that runs elsewhere.
  const found = isRemote ? undefined : await findAgent(manifest, host)
  const secrets = await secretStates(record)
  const { done, lost } = await agentVariables(record)
  const setup = manifest.setup.map((step) => stepState(step, lost.has(step.id) ? undefined : done.get(step.id)))
  const { state: auth } = loginOf(record, secrets)
  const login = manifest.auth?.login?.cmd
  const state = {
    slug: manifest.id,
    installed: isRemote || found !== undefined,
    versionRange: manifest.versionCheck.range,
    setup,
    auth,
    secrets,
    ...(found === undefined ? {} : await programFacts(found, ledger)),
    ...defined({ login, loginHint: auth === 'unknown' ? loginHint(manifest) : undefined }),
  }
  return withNextStep(state, secretStep(manifest, secrets) ?? nextStep(state))
}

async function programFacts(found: LocatedAgent, ledger: Ledger) {
  const { version, ok: versionOk, at: checkedAt } = (await checkOf(found, ledger)) ?? {}
  return defined({ executable: found.file, method: ledger.install?.method, version, versionOk, checkedAt })
}

const withNextStep = (state: Omit<AdapterState, 'ready' | 'next'>, next: string | undefined): AdapterState => ({
  ...state,
  ready: next === undefined,
  ...defined({ next }),
})

/** Nothing is connected to without the secrets of its headers. */
function secretStep(manifest: AgentCliManifest, secrets: AdapterState['secrets']): string | undefined {
  const isSet = (slug: string): boolean => secrets.some((secret) => secret.slug === slug && secret.set)
  const missing = endpointSecrets(manifest).find((slug) => !isSet(slug))
  return missing === undefined ? undefined : `agentproto secrets set ${missing}`
}

/** Its home was empty when it was asked: the user's may hold a login. */
function loginHint({ metadata }: AgentCliManifest): string | undefined {
  const { observed } = asRecord(asRecord(metadata)['agentproto'])
  return loginRefusal(observedAgentSchema.safeParse(observedMembers(observed)).data as ObservedAgent | undefined)
}

/** The last version check, if the file has not changed since. */
export async function checkOf(found: LocatedAgent, { check }: Ledger): Promise<Ledger['check']> {
  if (check === undefined || check.file !== found.file) return undefined
  const { mtimeMs } = await stat(found.file)
  return mtimeMs === check.changed ? check : undefined
}

/** The command that brings the agent further; none where a session can be started, as far as this host knows. */
function nextStep(agent: Omit<AdapterState, 'ready' | 'next'>): string | undefined {
  const { slug, installed, versionOk, setup, auth, login } = agent
  if (!installed) return `agentproto adapters install ${slug}`
  if (versionOk === false) return `agentproto adapters install ${slug} --force`
  if (setup.some(({ state }) => state === 'pending')) return `agentproto adapters setup ${slug}`
  if (auth !== 'unauthed') return undefined
  return login === undefined ? `agentproto secrets list` : `agentproto adapters login ${slug}`
}
