import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import { AgentprotoError } from '@agentproto/contracts'
import type { SandboxProvider } from './sandbox-provider.js'

/** A provider that the host brings: itself, or the module whose default export it is (a name or an absolute path). */
export type RegisteredProvider = SandboxProvider | string

/**
 * Loads a provider that the host registered.
 * @throws `sandbox_unavailable` when its module is not there or is no provider
 */
export async function loadProvider(name: string, registered: RegisteredProvider): Promise<SandboxProvider> {
  if (typeof registered !== 'string') return registered
  const loaded = await load(name, registered)
  if (isProvider(loaded.default)) return loaded.default
  throw new AgentprotoError('sandbox_unavailable', `The module of the sandbox provider ${name} is none`, {
    expected: 'a default export with a function `prepare`',
    given: registered,
  })
}

async function load(name: string, specifier: string): Promise<{ readonly default?: unknown }> {
  try {
    // Windows takes `C:\…` for a URL with the scheme `c:`.
    return await import(isAbsolute(specifier) ? pathToFileURL(specifier).href : specifier)
  } catch (cause) {
    throw new AgentprotoError('sandbox_unavailable', `The sandbox provider ${name} cannot be loaded`, {
      given: specifier,
      hint: 'Install the module beside the gateway, or register another.',
      cause,
    })
  }
}

const isProvider = (value: unknown): value is SandboxProvider =>
  typeof value === 'object' && value !== null && 'prepare' in value && typeof value.prepare === 'function'
