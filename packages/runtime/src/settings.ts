import { type Clock, type HomeLayout, systemClock } from '@agentproto/contracts'
import { layoutOf } from './config.js'
import type { GatewayOptions } from './gateway-options.js'

/** The options of a gateway, with what every part of it needs. */
export interface Settings extends GatewayOptions {
  readonly clock: Clock
  readonly layout: HomeLayout
  /** Nothing of the gateway is stored. */
  readonly inMemory: boolean
  /** Where the gateway is reached, once it listens. */
  readonly address: { url?: string }
}

export const resolveOptions = (options: GatewayOptions): Settings => ({
  ...options,
  clock: options.clock ?? systemClock,
  layout: layoutOf(options),
  inMemory: options.store === 'memory',
  address: {},
})
