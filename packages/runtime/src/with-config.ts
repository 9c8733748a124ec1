import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { homeFrom, homeLayout, type HomeLayout } from '@agentproto/contracts'
import type { GatewayOptions } from './gateway-options.js'

/** Where the state of a gateway is. */
export const layoutOf = ({ home, env = process.env }: GatewayOptions): HomeLayout =>
  homeLayout(home ?? homeFrom(env, homedir()))

/**
 * The options over what the home's config.json says. Without such a file, nothing is loaded to read it.
 * @throws `invalid_request` when the file is not valid
 */
export async function withConfig(options: GatewayOptions): Promise<GatewayOptions> {
  const path = layoutOf(options).config
  if (options.store === 'memory' || !existsSync(path)) return options
  const { readConfig } = await import('./read-config.js')
  const { sessions, executables, log, ...config } = readConfig(path)
  return {
    ...config,
    ...options,
    sessions: { ...sessions, ...options.sessions },
    log: { ...log, ...options.log },
    executables: { ...executables, ...options.executables },
  }
}
