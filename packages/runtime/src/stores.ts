import type { Clock } from '@agentproto/contracts'
import type { EventStore, HomeLayout, SessionStore } from '@agentproto/contracts/agent'
import {
  FileCrashBundles,
  FileEventStore,
  FileRuleStore,
  FileSessionStore,
  FileUsageStore,
  MemoryEventStore,
  MemorySessionStore,
  type SessionRegistryOptions,
} from '@agentproto/session-registry'

/** Stores of an embedder: both or none, since a session is its record and its log. */
export interface GatewayStores {
  /** Closed with the gateway. */
  readonly sessions: SessionStore
  readonly logs: EventStore
}

interface StoreSettings {
  readonly store?: 'file' | 'memory' | GatewayStores
  readonly layout: HomeLayout
  readonly clock: Clock
  readonly durability?: 'kernel' | 'disk'
  readonly onProblem: (problem: string) => void
}

/** Where sessions, logs, rules, usage and crash bundles are stored. */
export function stores(
  settings: StoreSettings,
): Pick<SessionRegistryOptions, 'store' | 'logs' | 'crashBundles' | 'rules' | 'usage'> {
  const { store, layout, onProblem } = settings
  if (store === 'memory') return { store: new MemorySessionStore(), logs: new MemoryEventStore() }
  const { sessions, logs } = typeof store === 'object' ? store : fileStores(settings)
  return {
    store: sessions,
    logs,
    rules: new FileRuleStore({ directory: layout.rules }),
    usage: new FileUsageStore({ directory: layout.usage, onProblem }),
    crashBundles: new FileCrashBundles({ directory: layout.crashBundles }),
  }
}

const fileStores = ({ layout, clock, durability = 'kernel' }: StoreSettings): GatewayStores => ({
  sessions: new FileSessionStore({ directory: layout.sessions, indexPath: layout.sessionsIndex, clock }),
  logs: new FileEventStore({ directory: layout.sessions, durability }),
})
