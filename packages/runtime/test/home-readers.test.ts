import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isAgentprotoError, parseJson, type Principal, systemClock } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import { catalogPath } from '@agentproto/adapters'
import { parseConfig } from '@agentproto/manifest'
import { createProvisioner } from '@agentproto/provisioning'
import { ManifestCatalog } from '@agentproto/provisioning/catalog'
import { createRedactor, createSecrets } from '@agentproto/secrets'
import { openTokens } from '@agentproto/server'
import { FileRuleStore, FileSessionStore } from '@agentproto/session-registry'
import { createWorkspaces, createWorkspaceTrust } from '@agentproto/workspaces'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

/**
 * 12.C4: whatever is in a file of the home, its reader gives what it can, or refuses that one file by its name. Nothing else is
 * thrown, and what is beside the file is still read.
 */

const owner: Principal = { type: 'owner', name: 'owner' }

interface Reader {
  /** Below the home. */
  readonly file: string
  /** Reads the file with what is beside it. @returns entries that must be there whatever the file has */
  readonly read: () => Promise<readonly string[]>
  readonly beside: readonly string[]
}

/** A home with one of everything, made by the gateway itself, and two of what has entries of its own. */
async function fullHome(): Promise<{ readonly home: string; readonly readers: readonly Reader[] }> {
  const home = await temporaryHome()
  const layout = homeLayout(home)
  const work = join(home, 'work')
  mkdirSync(work)
  for (const name of ['demo', 'aider'])
    cpSync(join(catalogPath, name), join(layout.adapters, name), { recursive: true })
  const gateway = await testGateway({ home })
  await gateway.workspaces.add({ path: work, slug: 'work' }, owner)
  const spawned = [1, 2].map(() =>
    gateway.sessions.spawn({ adapter: 'demo', workspaceSlug: 'work', prompt: 'hello' }, owner),
  )
  const [one, two] = await Promise.all(spawned)
  if (one === undefined || two === undefined) throw new Error('unreachable')
  for (const { id } of [one, two]) await gateway.sessions.waitTurn(id, 1)
  await gateway.close()
  await createWorkspaceTrust({ home }).trust(work)
  await openTokens({ home, workspaces: createWorkspaces({ home, defaultCwd: home }) }).create(
    { name: 'reader', scope: 'read' },
    owner,
  )
  const redactor = createRedactor()
  const secrets = createSecrets({ home, env: {}, keyring: 'none', redactor })
  await secrets.set('acme/key', { kind: 'opaque', value: 'a-value-4711' })
  await secrets.set('login', { kind: 'oauth', accessToken: 'a-value-4712', expiresAt: '2026-11-22T00:00:00Z' })
  const rules = new FileRuleStore({ directory: layout.rules })
  const by = { createdAt: '2026-11-22T00:00:00Z', createdBy: 'owner' }
  await rules.save(work, [{ ruleId: 'a', decision: 'deny', lifetime: 'workspace', match: { toolKind: 'edit' }, ...by }])
  writeFileSync(layout.config, JSON.stringify({ port: 18_790, sandbox: 'warn' }))

  const sessions = async () => {
    const store = new FileSessionStore({
      directory: layout.sessions,
      indexPath: layout.sessionsIndex,
      clock: systemClock,
    })
    const loaded = await store.load()
    await store.close()
    return loaded.sessions.map(({ session }) => session.id)
  }
  // With it, a session whose own file is lost is made again.
  const withoutIndex = () => {
    rmSync(layout.sessionsIndex, { force: true })
    return sessions()
  }
  const catalog = () =>
    new ManifestCatalog({
      folders: async () => [{ path: layout.adapters, source: 'user' }],
      isInstalled: async () => false,
      onProblem: () => undefined,
    })
  const adapters = async () => (await catalog().list()).map(({ slug }) => slug)
  const host = { home, env: {}, secrets, redactor }
  const nothing = async (read: Promise<unknown>): Promise<readonly string[]> => (await read, [])
  const demo = await catalog().adapter('demo')
  const ledger = () => nothing(createProvisioner(demo, host).state())
  mkdirSync(layout.provisioning, { recursive: true })
  const auth = { state: 'authed', at: '2026-11-22T00:00:00Z' }
  const check = { ok: true, at: auth.at, file: '/x', changed: 1 }
  writeFileSync(join(layout.provisioning, 'demo.json'), JSON.stringify({ version: 1, setup: { '*': {} }, auth, check }))
  const rule = readdirSync(layout.rules)[0] ?? ''
  const at = (file: string, read: Reader['read'], beside: readonly string[] = []): Reader => ({ file, read, beside })
  return {
    home,
    readers: [
      at('workspaces.json', () => nothing(createWorkspaces({ home, defaultCwd: home }).list())),
      at('trusted.json', () => nothing(createWorkspaceTrust({ home }).list())),
      at('tokens.json', () =>
        nothing(openTokens({ home, workspaces: createWorkspaces({ home, defaultCwd: home }) }).list()),
      ),
      at('secrets.json', async () => {
        for (const { slug } of await secrets.list()) await secrets.resolve({ slug })
        return []
      }),
      at('config.json', () =>
        nothing(Promise.resolve(parseConfig(readFileSync(layout.config, 'utf8'), { path: 'c' }))),
      ),
      at('provisioning/demo.json', ledger),
      at(join('rules', rule), () => nothing(rules.load(work))),
      at('sessions.json', sessions, [one.id, two.id]),
      at(`sessions/${one.id}/meta.json`, withoutIndex, [two.id]),
      ...['AGENT-CLI.md', 'ACP.md', 'SECRETS.md', 'SANDBOX.md'].map((name) =>
        at(`adapters/demo/${name}`, adapters, ['aider']),
      ),
    ],
  }
}

const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  'x',
  '\0',
  '__proto__',
  [],
  {},
  [[]],
  [null],
  '9'.repeat(400),
  { toString: 1, valueOf: 2 },
  { length: -1 },
  [{ toJSON: 1 }],
  { constructor: 1 },
  '2026-13-45T99:00:00Z',
  '../../x',
]

/** A JSON text with one of its parts replaced, doubled or removed. */
function withOddPart(text: string, choose: (from: number) => number, odd: unknown): string {
  const parts = text.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g) ?? ['']
  const place = choose(parts.length)
  const by =
    [JSON.stringify(odd), '', `${parts[place]}${parts[place]}`, '"__proto__"', '{"toString":1}'][choose(5)] ?? ''
  return parts.with(place, by).join('')
}

/** What a file may have: any bytes, its own content cut or changed, and any JSON. */
const contents = (good: string): fc.Arbitrary<string | Uint8Array> =>
  fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.nat(good.length).map((end) => good.slice(0, end)),
    fc.json({ maxDepth: 4 }),
    fc.constantFrom(...ODD).map((odd) => JSON.stringify(odd)),
    fc.constantFrom('['.repeat(100_000), '{"a":'.repeat(50_000), '---\nname: !!merge <<\n---\n', '---\n&a [*a]\n---\n'),
    fc
      .record({ places: fc.array(fc.nat(), { minLength: 2, maxLength: 2 }), odd: fc.constantFrom(...ODD) })
      .map(({ places, odd }) => {
        const left = [...places]
        const json = good.startsWith('---') ? good : JSON.stringify(parseJson(good))
        return withOddPart(json, (from) => (left.shift() ?? 0) % from, odd)
      }),
    fc
      .record({
        line: fc.nat(),
        odd: fc.constantFrom('!!merge <<', '{toString: 1}', '!!binary aGk=', '&a *a', '[', '"'),
      })
      .map(({ line, odd }) => {
        const lines = good.split('\n')
        const place = line % lines.length
        return lines.with(place, `${/^\s*(?:- )?[\w-]+:/.exec(lines[place] ?? '')?.[0] ?? ''} ${odd}`).join('\n')
      }),
  )

const RUNS = Number(process.env['RUNS'] ?? 40)

test('12.C4 no reader of the home throws past the entry that it reads', { timeout: 120_000 }, async () => {
  const { home, readers } = await fullHome()
  for (const { file, read, beside } of readers) {
    const path = join(home, file)
    const good = readFileSync(path)
    await fc.assert(
      fc.asyncProperty(contents(good.toString('utf8')), async (content) => {
        writeFileSync(path, content)
        const found = await read().catch((thrown: unknown) => {
          if (isAgentprotoError(thrown) && `${thrown.message} ${String(thrown.parts.given)}`.includes(basename(file)))
            return beside
          throw thrown
        })
        expect({ file, found }).toEqual({ file, found: expect.arrayContaining([...beside]) as string[] })
        for (const name of readdirSync(dirname(path))) {
          if (/\.unreadable-/.test(name)) rmSync(join(dirname(path), name), { recursive: true })
        }
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, good)
      }),
      { numRuns: RUNS },
    )
    writeFileSync(path, good)
    expect({ file, found: await read() }).toEqual({ file, found: expect.arrayContaining([...beside]) as string[] })
  }
})

test('12.C4 no reader of the home throws for a folder in the place of its file', async () => {
  const { home, readers } = await fullHome()
  for (const { file, read, beside } of readers.filter((each) => each.file !== 'config.json')) {
    const path = join(home, file)
    rmSync(path)
    mkdirSync(path)
    const found = await read().catch((thrown: unknown) => {
      if (isAgentprotoError(thrown)) return beside
      throw thrown
    })
    expect({ file, found }).toEqual({ file, found: expect.arrayContaining([...beside]) as string[] })
  }
})
