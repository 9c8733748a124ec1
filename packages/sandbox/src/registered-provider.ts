import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import { AgentprotoError } from '@agentproto/contracts'
import type { SandboxProvider } from './sandbox-provider.js'

/** A provider of the host: the object, or the module that exports it by default (a name or an absolute path). */
export type RegisteredProvider = SandboxProvider | string

/**
 * Loads a provider that the host registered.
 * @throws `sandbox_unavailable` when its module does not exist or does not export a provider
 */
export async function loadProvider(name: string, registered: RegisteredProvider): Promise<SandboxProvider> {
  if (typeof registered !== 'string') return registered
  const loaded = await load(name, registered)
  if (isProvider(loaded.default)) return loaded.default
  throw new AgentprotoError(
    'sandbox_unavailable',
    `The module of the sandbox provider ${name} does not export a provider`,
    {
      expected: 'a default export with a function `prepare`',
      given: registered,
    },
  )
}

async function load(name: string, specifier: string): Promise<{ readonly default?: unknown }> {
  try {
    // On Windows, `import` reads `C:\…` as a URL with the scheme `c:`.
    return await import(isAbsolute(specifier) ? pathToFileURL(specifier).href : specifier)
  } catch (cause) {
    throw new AgentprotoError('sandbox_unavailable', `The sandbox provider ${name} cannot be loaded`, {
      given: specifier,
      hint: 'Install the module where the gateway can load it, or register another module.',
      cause,
    })
  }
}

const isProvider = (value: unknown): value is SandboxProvider =>
  typeof value === 'object' && value !== null && 'prepare' in value && typeof value.prepare === 'function'
