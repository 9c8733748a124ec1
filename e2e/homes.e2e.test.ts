import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@agentproto/client'
import { asRecord } from '@agentproto/contracts'
import { createGateway, type Gateway } from '@agentproto/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { EARLIER_HOMES, type EarlierHome, unpackHome } from './support/earlier-home.js'
import { newMark } from './support/marked-processes.js'

interface Opened {
  readonly gateway: Gateway
  readonly url: string
}

async function open({ home, userHome, work }: EarlierHome): Promise<Opened> {
  const { AGENTPROTO_DEMO_HOME: _, ...env } = process.env
  const own = { HOME: userHome, XDG_STATE_HOME: join(userHome, '.local', 'state') }
  const gateway = await createGateway({ home, cwd: work, env: { ...env, ...own, ...newMark().env } })
  onTestFinished(() => gateway.close())
  const { url } = await gateway.listen({ port: 0 })
  return { gateway, url }
}

/** The files of a folder, with a digest of the content of each. */
function digestsOf(root: string): ReadonlyMap<string, string> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(root, name)).isFile(),
  )
  return new Map(
    files.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(root, name)))
        .digest('hex'),
    ]),
  )
}

const recordOf = (home: string): unknown => JSON.parse(readFileSync(join(home, 'home.json'), 'utf8'))

test.each(EARLIER_HOMES)('16 a home that an earlier commit wrote is opened whole: %s', async (archive) => {
  const earlier = unpackHome(archive)
  const { home, expected } = earlier
  const before = digestsOf(home)
  const logs = [...before.keys()].filter((name) => name.endsWith('events.jsonl'))
  const texts = new Map(logs.map((name) => [name, readFileSync(join(home, name), 'utf8')]))
  const { gateway, url } = await open(earlier)
  expect(recordOf(home)).toMatchObject({ format: 1, upgrades: [{ from: 0, to: 1 }] })
  // The owner's token is the same.
  const client = createClient({ url, token: expected.owner })

  const { sessions } = await client.sessions.list()
  const listed = sessions.map(({ id, label, turnCount, status }) => ({ id, label, turnCount, status }))
  const wanted = expected.sessions.map(({ id, label, turnCount }) => ({ id, label, turnCount, status: 'killed' }))
  expect(listed.toSorted(byId)).toEqual(wanted.toSorted(byId))
  expect(new Set(sessions.map(({ workspaceSlug }) => workspaceSlug))).toEqual(new Set(['work']))
  const { workspaces } = await client.workspaces.list()
  expect(workspaces.map(({ slug, path }) => [slug, path])).toEqual([['work', earlier.work]])

  for (const { id, events, turnCount } of expected.sessions) {
    const page = await client.sessions.eventsPage(id, 0, 10_000)
    expect(page.gap).toBeUndefined()
    expect(page.events.slice(0, events.length).map(({ seq, type }) => `${seq} ${type}`)).toEqual(events)
    expect(page.events.map(({ seq }) => seq)).toEqual(page.events.map((_, index) => index + 1))
    expect(await client.sessions.turns(id)).toHaveLength(turnCount)
    expect((await client.sessions.output(id)).length).toBeGreaterThan(0)
  }

  expect((await sessionsFor(url, expected.tokens['ci'] ?? expected.owner)).length).toBe(expected.sessions.length)
  // The folders of its workspaces were recorded later: without them a bound token is listed as lost, and covers nothing.
  const bound = (await client.tokens.list()).find(({ name }) => name === 'bound')
  expect(await sessionsFor(url, expected.tokens['bound'] ?? expected.owner)).toHaveLength(
    bound?.lost === undefined ? expected.sessions.length : 0,
  )

  const { id, turnCount } = expected.sessions[0] ?? { id: '', turnCount: 0 }
  const resumed = await client.sessions.promptAndWait(id, { prompt: 'recall' }).catch((thrown: unknown) => thrown)
  // The first commits could not resume, and stored nothing to resume from.
  const isResumable = sessions.some(({ resumable }) => resumable)
  const said = resumed as { text?: string; code?: string; message?: string }
  expect(said.code).toBe(isResumable ? undefined : 'session_ended')
  expect(isResumable ? said.text : said.message).toContain(
    isResumable ? '1: write notes.txt of the first turn' : 'Start a new one',
  )
  expect((await client.sessions.get(id)).turnCount).toBe(isResumable ? turnCount + 1 : turnCount)

  await gateway.close()
  // Nothing is lost: each file is still there, and a log is what it was and more.
  const after = digestsOf(home)
  expect([...before.keys()].filter((name) => !after.has(name))).toEqual([])
  for (const [name, text] of texts) expect(readFileSync(join(home, name), 'utf8').startsWith(text), name).toBe(true)
  expect([...after.keys()].filter((name) => /unreadable|torn/.test(name))).toEqual([])
})

const sessionsFor = async (url: string, token: string): Promise<readonly unknown[]> =>
  (await createClient({ url, token }).sessions.list()).sessions

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1)

test('16 a request that waited in an earlier home, its budget and its checkpoints are found again', async () => {
  const earlier = unpackHome(EARLIER_HOMES.at(-1) ?? '')
  const { url } = await open(earlier)
  const { owner, pending, sessions } = earlier.expected
  const [one, two] = sessions.map(({ id }) => id)
  const client = createClient({ url, token: owner })
  const requests = await client.sessions.requests(two ?? '')
  expect(requests.map(({ requestId }) => requestId)).toContain(pending)
  expect(await client.sessions.get(one ?? '')).toMatchObject({ budget: { turns: 40 } })
  const changes = await client.changes.list(one ?? '')
  expect(changes.files.map(({ path }) => path)).toEqual(expect.arrayContaining(['notes.txt', 'asked.txt']))
})

test('16 a home of this commit is refused by an agentproto that knows only an older format, and is not changed', async () => {
  const earlier = unpackHome(EARLIER_HOMES.at(-1) ?? '')
  const { gateway } = await open(earlier)
  await gateway.close()
  const record = asRecord(recordOf(earlier.home))
  // As a newer one would have left it.
  const newer = { ...record, format: 2, writtenBy: { version: '99.0.0' }, somethingNew: true }
  writeFileSync(join(earlier.home, 'home.json'), JSON.stringify(newer))
  writeFileSync(join(earlier.home, 'sessions.json'), 'a format of its own')
  const before = digestsOf(earlier.home)
  await expect(createGateway({ home: earlier.home })).rejects.toMatchObject({
    code: 'home_newer',
    message: expect.stringMatching(/99\.0\.0, in format 2.*at most format 1/s) as string,
  })
  await expect(createGateway({ home: earlier.home, store: 'memory' })).rejects.toMatchObject({ code: 'home_newer' })
  expect(digestsOf(earlier.home)).toEqual(before)
})
