import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { AgentprotoError, type Clock, defined, systemClock } from '@agentproto/contracts'
import { homeFrom, homeLayout, type HomeLayout } from '@agentproto/contracts/agent'
import type { GatewayConfig, ManifestProblem } from '@agentproto/manifest'
import { clusterOver, fleetSettings, type FleetSettings } from './fleet-settings.js'
import type { GatewayOptions, KeeperOptions } from './gateway-options.js'

/** The options of a gateway, with what every part of it needs. */
export interface Settings extends Omit<GatewayOptions, 'keeper' | 'defaults' | 'cluster'> {
  /** Absent for a gateway that belongs to no fleet. */
  readonly fleet?: FleetSettings
  readonly keeper: Required<KeeperOptions>
  readonly clock: Clock
  readonly layout: HomeLayout
  /** Nothing of the gateway is stored. */
  readonly inMemory: boolean
  /** Where the gateway is reached, once it listens. */
  readonly address: { url?: string }
}

/** How long idle agents live while no gateway serves the home, in milliseconds. */
const ORPHAN_MS = 24 * 60 * 60_000

/** The options over those of the home's config.json. @throws `invalid_request` when the file is not valid */
export async function settingsOf({ defaults = {}, ...given }: GatewayOptions): Promise<Settings> {
  const { clock = systemClock } = given
  const layout = layoutOf(given)
  const inMemory = given.store === 'memory'
  const { cluster = {}, ...options } = inMemory ? given : await withConfig(given, layout.config)
  const fleet = fleetSettings(cluster, layout)
  const keeper = { enabled: defaults.keeper ?? false, orphanMs: ORPHAN_MS, ...keeperOptions(options.keeper) }
  return { ...options, ...defined({ fleet }), keeper, clock, layout, inMemory, address: {} }
}

const keeperOptions = (given: GatewayOptions['keeper']): KeeperOptions =>
  typeof given === 'boolean' ? { enabled: given } : defined({ ...given })

/** Where the files of the home are. */
export const layoutOf = ({ home, env = process.env }: Pick<GatewayOptions, 'home' | 'env'>): HomeLayout =>
  homeLayout(home ?? homeFrom(env, homedir()))

/** Without such a file, its parser is not loaded. */
async function withConfig(options: GatewayOptions, path: string): Promise<GatewayOptions> {
  if (!existsSync(path)) return options
  // Those of the file are read when they are needed: see `privateEndpoints`.
  const {
    sessions,
    limits,
    executables,
    log,
    checkpoints,
    notify,
    registry,
    keeper,
    cluster,
    endpoints: _,
    ...config
  } = await readConfig(path)
  return {
    ...config,
    ...options,
    sessions: { ...sessions, ...options.sessions },
    limits: { ...limits, ...options.limits },
    log: { ...log, ...options.log },
    notify: { ...notify, ...options.notify },
    registry: { ...registry, ...options.registry },
    checkpoints: { ...checkpoints, ...options.checkpoints },
    executables: { ...executables, ...options.executables },
    cluster: clusterOver(cluster, options.cluster),
    keeper: { ...keeperOptions(keeper), ...keeperOptions(options.keeper) },
  }
}

/**
 * The private endpoints that the owner consents to now: what was consented to, and what was taken back, counts without a restart. A
 * gateway in memory has the adapters of the home, and so the consents to them.
 * @throws `invalid_request` when the file is not valid
 */
export async function privateEndpoints({ endpoints, layout }: Settings): Promise<readonly string[]> {
  const config = existsSync(layout.config) ? await readConfig(layout.config) : {}
  return [...(endpoints?.private ?? []), ...(config.endpoints?.private ?? [])]
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
    ...defined({ expected: first?.expected, given: first?.given }),
    ...(first?.suggestion && { hint: `Did you mean ${first.suggestion}?` }),
    data: { problems },
  })
}
