import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { AgentprotoError, homeFrom, homeLayout, type HomeLayout } from '@agentproto/contracts'
import type { GatewayConfig, ManifestProblem } from '@agentproto/manifest'
import type { GatewayOptions } from './gateway-options.js'

/** Where the state of a gateway is. */
export const layoutOf = ({ home, env = process.env }: GatewayOptions): HomeLayout =>
  homeLayout(home ?? homeFrom(env, homedir()))

/**
 * The options over those of the home's config.json. Without such a file, its parser is not loaded.
 * @throws `invalid_request` when the file is not valid
 */
export async function withConfig(options: GatewayOptions): Promise<GatewayOptions> {
  const path = layoutOf(options).config
  if (options.store === 'memory' || !existsSync(path)) return options
  const { sessions, executables, log, ...config } = await readConfig(path)
  return {
    ...config,
    ...options,
    sessions: { ...sessions, ...options.sessions },
    log: { ...log, ...options.log },
    executables: { ...executables, ...options.executables },
  }
}

/** @throws `invalid_request` with the first problem in its message and all in `problems`: no setting is used then */
async function readConfig(path: string): Promise<GatewayConfig> {
  const { parseConfig } = await import('@agentproto/manifest')
  const result = parseConfig(textOf(path), { path })
  if (result.ok) return result.manifest
  throw invalidConfig(result.problems)
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new AgentprotoError('invalid_request', `The configuration ${path} cannot be read`, { cause })
  }
}

function invalidConfig(problems: readonly ManifestProblem[]): AgentprotoError {
  const first = problems.find(({ severity }) => severity === 'error')
  const place = first === undefined ? '' : `${first.file}:${first.line}:${first.column}: ${first.message}`
  const more = problems.length > 1 ? ` (${problems.length} problems in all)` : ''
  return new AgentprotoError('invalid_request', `The configuration is not valid${more}: ${place}`, {
    ...(first?.expected === undefined ? {} : { expected: first.expected }),
    ...(first?.given === undefined ? {} : { given: first.given }),
    ...(first?.suggestion === undefined ? {} : { hint: `Did you mean ${first.suggestion}?` }),
    data: { problems },
  })
}
