import { readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { AgentprotoError, isRecord } from '@agentproto/contracts'
import type { AgentCliClient } from '@agentproto/contracts/agent'
import type { AllowedAdapter, ProprietaryProfile } from './profile.js'

/** What AIP-45 asks of an `AgentCliClient`. */
const METHODS = ['connect', 'send', 'events', 'cancel', 'close'] as const

/** Clients that are objects, and so serve one session at a time. */
const inUse = new WeakSet<AgentCliClient>()

/** A client of one session. */
export interface LoadedClient {
  readonly client: AgentCliClient
  /** The session is over. */
  release(): void
}

/**
 * Loads the adapter package of a manifest, if this host allows it, and makes a client of it.
 * @throws `protocol_unsupported` when it is not allowed, not the pinned version, cannot be loaded, or is no
 * `AgentCliClient`; `not_supported` when its only client is in use
 */
export async function loadClient({ adapter, allowed }: ProprietaryProfile): Promise<LoadedClient> {
  const entry = Object.hasOwn(allowed, adapter) ? allowed[adapter] : undefined
  if (entry === undefined) throw notAllowed(adapter, Object.keys(allowed))
  const module = await importAdapter(adapter, entry)
  const client = clientOf(isRecord(module) ? module['default'] : undefined, adapter)
  if (inUse.has(client)) {
    throw new AgentprotoError('not_supported', `The adapter ${adapter} serves one session at a time`, {
      hint: 'End the other session, or export a class instead of an object.',
    })
  }
  inUse.add(client)
  return { client, release: () => void inUse.delete(client) }
}

function notAllowed(adapter: string, names: readonly string[]): AgentprotoError {
  return new AgentprotoError(
    'protocol_unsupported',
    `The adapter package ${adapter} is not one that this host allows`,
    {
      expected:
        names.length === 0 ? 'an adapter that the host names, of which there is none' : `one of ${names.join(', ')}`,
      given: adapter,
      hint: 'An adapter runs inside the host: name it with its exact version in the host’s `proprietary` option.',
    },
  )
}

async function importAdapter(adapter: string, { module, version }: AllowedAdapter): Promise<unknown> {
  try {
    if (typeof module === 'function') return await module()
    const path = module instanceof URL || module.startsWith('file:') ? fileURLToPath(module) : module
    await checkVersion(adapter, { path, version })
    // A path would not be importable on Windows.
    return await import(pathToFileURL(path).href)
  } catch (cause) {
    if (cause instanceof AgentprotoError) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new AgentprotoError('protocol_unsupported', `The adapter package ${adapter} cannot be loaded: ${why}`, {
      cause,
    })
  }
}

/** The package that holds the module must be the named one, at the pinned version. */
async function checkVersion(
  adapter: string,
  { path, version }: { readonly path: string; readonly version: string },
): Promise<void> {
  const found = await packageOf(await realpath(path))
  if (found?.name === adapter && found.version === version) return
  throw new AgentprotoError('protocol_unsupported', `The adapter at ${path} is not the one that this host allows`, {
    expected: `${adapter}@${version}`,
    given: found === undefined ? 'no package' : `${found.name}@${found.version}`,
  })
}

async function packageOf(path: string): Promise<{ readonly name: string; readonly version: string } | undefined> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined)
    if (text !== undefined) {
      const { name, version } = JSON.parse(text) as Record<string, unknown>
      // A package.json without a name only says how a folder's modules are to be read.
      if (typeof name === 'string') return { name, version: String(version) }
    }
    if (folder === dirname(folder)) return undefined
  }
}

function clientOf(exported: unknown, adapter: string): AgentCliClient {
  const made = typeof exported === 'function' ? make(exported, adapter) : exported
  const missing = METHODS.filter(
    (method) => typeof (made as Record<string, unknown> | undefined)?.[method] !== 'function',
  )
  if (missing.length === 0) return made as AgentCliClient
  throw new AgentprotoError('protocol_unsupported', `The default export of ${adapter} is no AgentCliClient`, {
    expected: `the methods ${METHODS.join(', ')}`,
    given: missing.length === METHODS.length ? 'none of them' : `all but ${missing.join(', ')}`,
  })
}

/** A class, or a function that makes a client. */
function make(exported: object, adapter: string): unknown {
  try {
    return Reflect.construct(exported as new () => unknown, [])
  } catch (constructing) {
    try {
      return (exported as () => unknown)()
    } catch {
      const why = constructing instanceof Error ? constructing.message : String(constructing)
      throw new AgentprotoError('protocol_unsupported', `The default export of ${adapter} makes no client: ${why}`, {
        cause: constructing,
      })
    }
  }
}
