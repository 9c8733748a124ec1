import { AgentprotoError, type Principal, type Workspace, type WorkspaceService } from '@agentproto/contracts'
import type { AdapterSummary } from '@agentproto/contracts/agent'
import type {
  AdapterService,
  AdapterState,
  HostService,
  NotificationService,
  SessionArchive,
  UsageService,
  WorktreeService,
} from '@agentproto/contracts/wire'
import { createHttpApp, type HttpApp, type HttpDeps } from '@agentproto/gateway-http'
import { FakeClock } from './fake-clock.ts'
import { fakeChanges } from './fake-changes.ts'
import { FakeSessions } from './fake-sessions.ts'

export const TOKEN = 'a-token-of-the-owner'
export const OWNER: Principal = { type: 'owner', name: 'owner' }

const demo: AdapterSummary = {
  slug: 'demo',
  name: 'Demo',
  description: 'Echoes',
  version: '1.0.0',
  protocol: 'acp',
  installed: true,
  source: 'bundled',
  modes: [],
  modeDescriptions: {},
  models: {},
  options: [],
  session: { mode: 'persistent' },
}

const state: AdapterState = {
  slug: 'demo',
  installed: true,
  versionRange: '>=1.0.0',
  setup: [],
  auth: 'not_needed',
  secrets: [],
  ready: true,
}

export const fakeAdapters: AdapterService = {
  list: async () => [demo],
  get: async (slug) => {
    if (slug === 'demo') return demo
    throw new AgentprotoError('adapter_not_found', 'There is no such adapter', { expected: 'demo', given: slug })
  },
  state: async () => state,
  async icon(slug) {
    if (slug === 'demo') return '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"></path></svg>'
    throw new AgentprotoError('icon_not_found', 'There is none', { given: slug })
  },
  add: async () => ({ ...demo, source: 'user' }),
  remove: async (slug) => ({ ok: true, slug, agentRemoved: true }),
  search: async () => ({ agents: [] }),
  lookUp: async (id) => planOf(id),
  async *addAgent(id) {
    if (id === 'unknown') throw new AgentprotoError('adapter_not_found', 'The registry has no such agent')
    yield { type: 'plan', plan: planOf(id) }
    yield { type: 'added', adapter: { ...demo, slug: id, source: 'user' }, state: { ...state, slug: id } }
  },
  outdated: async () => ({ updates: [], gone: [] }),
  async *update(slug) {
    yield { type: 'plan', plan: planOf(slug) }
    yield { type: 'added', adapter: demo, state }
  },
  secrets: async () => [{ slug: 'acme/key', kind: 'opaque', set: true, place: 'file', variables: ['ACME_KEY'] }],
  async *provision(_slug, { until, inputs }) {
    yield { type: 'phase', phase: until, state: 'started' }
    if (until === 'setup' && inputs === undefined) {
      const pending = [{ id: 'url', kind: 'prompt', state: 'pending' }]
      throw new AgentprotoError('setup_required', 'Demo is not set up: url', { data: { pending } })
    }
    yield { type: 'state', state }
  },
  async *doctor(_slug, { live }) {
    yield { id: 'install', title: 'Installed', verdict: 'ok', detail: 'yes' }
    if (live) yield { id: 'live.start', title: 'Starts', verdict: 'fail', detail: 'no' }
  },
}

const planOf = (id: string) => ({
  registryId: id,
  slug: id,
  name: id,
  description: 'An agent',
  version: '1.0.0',
  authors: [],
})

/** An archive with one session, whose export is two lines. */
function fakeArchive(sessions: FakeSessions): SessionArchive {
  return {
    search: async ({ q }) => ({
      hits: [{ sessionId: 's1', turn: 1, seq: 4, ts: '2026-11-21T00:00:00.000Z', type: 'text-delta', excerpt: q }],
    }),
    prune: async ({ dryRun = false }) => ({ dryRun, pruned: [] }),
    repair: async (id, { dryRun }) => ({ id: (await sessions.get(id)).id, dryRun, findings: [] }),
    export: async (id, format) => {
      const session = await sessions.get(id)
      const head = { format: 'agentproto.session.v1', exportedAt: '2026-11-21T00:00:00.000Z', session }
      if (format === 'md') return pieces('# One session', '\n')
      return pieces(JSON.stringify({ ...head, events: [], turns: [] }), '\n')
    },
    async import(text, by) {
      let all = ''
      for await (const piece of text) all += piece
      return sessions.spawn({ adapter: 'demo', label: all }, by)
    },
  }
}

/** Each session has a worktree with one commit. */
const fakeWorktrees = (sessions: FakeSessions): WorktreeService => ({
  async merge(id) {
    await sessions.get(id)
    return { into: 'main', commit: 'c0ffee', commits: 1 }
  },
  async discard(id) {
    await sessions.get(id)
  },
})

/** One day of two turns, of which one reported nothing. */
const fakeUsage: UsageService = {
  async report({ by = 'day', from = '2026-11-21', to = from } = {}) {
    const used = { turns: 2, unreported: 1, withoutTokens: 1, withoutCost: 2, busyMs: 30, tokens: { totalTokens: 5 } }
    return { from, to, by, rows: [{ key: from, ...used }], total: used }
  },
}

/** A webhook for which two notifications wait. */
const fakeNotifications: NotificationService = {
  state: async () => ({
    on: ['request'],
    targets: [
      { target: 'webhook', to: 'https://hooks.example', waiting: 2, delivered: 1, failures: 1, dropped: { full: 3 } },
    ],
  }),
  test: async () => ({
    results: [{ target: 'webhook', to: 'https://hooks.example', ok: false, problem: 'it answered 500' }],
  }),
}

async function* pieces(...texts: readonly string[]): AsyncGenerator<string> {
  yield* texts
}

/** Workspaces in memory. */
/** One host, which belongs to no fleet. */
export const fakeHosts: HostService = {
  list: async () => [
    {
      name: 'desk',
      self: true,
      reachable: true,
      version: '1.2.3',
      labels: { gpu: 'yes' },
      liveSessions: 0,
      freeSessions: 64,
      adapters: ['demo'],
      workspaces: ['main'],
      lag: 0,
      lastSeen: '2026-11-21T00:00:00.000Z',
    },
  ],
}

export function fakeWorkspaces(): WorkspaceService {
  const all = new Map<string, Workspace>()
  let active: string | undefined
  const find = (slug: string): Workspace => {
    const found = all.get(slug)
    if (found === undefined)
      throw new AgentprotoError('workspace_not_found', 'There is no such workspace', { given: slug })
    return found
  }
  return {
    list: async () => ({ version: 1, ...(active === undefined ? {} : { active }), workspaces: [...all.values()] }),
    add: async ({ path, slug = 'main', label, use }) => {
      const at = '2026-11-21T00:00:00.000Z'
      const workspace = { slug, path, addedAt: at, updatedAt: at, ...(label === undefined ? {} : { label }) }
      all.set(slug, workspace)
      if (use) active = slug
      return workspace
    },
    remove: async (slug) => void all.delete(find(slug).slug),
    use: async (slug) => {
      active = find(slug).slug
      return find(slug)
    },
    resolve: async () => ({ cwd: '/work', workspaceSlug: 'default', warnings: [] }),
    enclosing: async () => [],
  }
}

export interface FakeGateway {
  readonly app: HttpApp
  readonly sessions: FakeSessions
  readonly clock: FakeClock
  /** A request with the owner's token; a body is sent as JSON. */
  readonly call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>
}

/** The app over fakes. */
export function fakeGateway(more: Partial<HttpDeps> = {}): FakeGateway {
  const sessions = new FakeSessions()
  const clock = new FakeClock()
  const app = createHttpApp({
    sessions,
    adapters: fakeAdapters,
    workspaces: fakeWorkspaces(),
    hosts: fakeHosts,
    archive: fakeArchive(sessions),
    usage: fakeUsage,
    notifications: fakeNotifications,
    changes: fakeChanges(sessions),
    worktrees: fakeWorktrees(sessions),
    authenticate: (token) => (token === TOKEN ? OWNER : undefined),
    version: '1.2.3',
    clock,
    ...more,
  })
  const call: FakeGateway['call'] = async (method, path, body, headers = {}) =>
    app.request(path, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  return { app, sessions, clock, call }
}
