import type { InstallMethod } from '@agentproto/manifest'

/** The install method of a manifest that is npm's. */
export const npmMethod = (install: readonly InstallMethod[]): Extract<InstallMethod, { method: 'npm' }> | undefined =>
  install.find((each) => each.method === 'npm')

/** The name of an npm package without its version; a scope begins with `@` too. */
export const nameOf = (npmPackage: string): string => npmPackage.replace(/(?<=.)@.*$/, '')
