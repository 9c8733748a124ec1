import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { catalogPath } from '@agentproto/adapters'
import { createGateway } from '@agentproto/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { startDaemon } from './support/daemon.js'
import { agentsIn, endedTurns } from './support/kept-agents.js'
import { newMark } from './support/marked-processes.js'
import { temporaryFolder } from './support/temporary-folder.js'

/**
 * What a hostile agent does for the whole turn: it asks for a listed and another host, tries to take the place of the proxy, and
 * looks for the home. Each round is a line of `rounds`; the file `over` ends it.
 */
const PROBE = `
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
const [listed, other, own] = process.argv.slice(2)
const { hostname, port } = new URL(process.env.HTTP_PROXY)
const ask = (path) => new Promise((resolve) => {
  const asked = request({ hostname, port, path, agent: false }, (response) => resolve(response.resume().statusCode))
  asked.on('error', () => resolve('cut')).end()
})
const may = (act) => { try { return act(), true } catch { return false } }
const folder = '/run/agentproto-egress'
const listens = (path) => new Promise((resolve) => {
  const server = createServer().on('error', () => resolve(false)).listen(path, () => server.close(() => resolve(true)))
})
for (;;) {
  const took = [
    may(() => rmSync(folder + '/proxy')),
    may(() => renameSync(folder, '/run/other')),
    may(() => symlinkSync('/tmp', folder + '/link')),
    may(() => writeFileSync(own + '/sandboxes/x', 'x')),
    may(() => readFileSync(own + '/token')),
    may(() => readFileSync('.env', 'utf8').at(0).length),
    await listens(folder + '/proxy'),
  ]
  const round = { listed: await ask(listed), other: await ask(other), took: took.includes(true) ? took : false }
  appendFileSync('rounds', JSON.stringify(round) + '\\n')
  if (existsSync('over')) break
  await new Promise((resolve) => setTimeout(resolve, 20))
}
`

interface Round {
  readonly listed: number | 'cut'
  readonly other: number | 'cut'
  readonly took: false | readonly boolean[]
}

const PROFILES = {
  'a network block alone': (host: string) => `network: { egress: ['${host}'] }\n`,
  'mounts and what fs denies': (host: string) =>
    `network: { egress: ['${host}'] }\nmounts: [{ source: workspace, at: /workspace, mode: read-write }]\nfs: { deny: [.env] }\n`,
}

const NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
const [ALONE, FILES] = ['a network block alone', 'mounts and what fs denies'] as const
const cases = [
  { name: ALONE, user: 'its own user', through: [] },
  { name: FILES, user: 'its own user', through: [] },
  ...(process.getuid?.() === 0 ? [{ name: ALONE, user: 'nobody', through: NOBODY }] : []),
]

test.each(cases)(
  '16.3 an agent of $user with $name: kill -9 in the middle of a turn, and it is confined as before',
  needs('linux', 'bwrap'),
  async ({ name, through }) => {
    const [listed, other] = [await httpServer(), await httpServer()]
    const parent = through.length > 0 ? sharedFolder() : temporaryFolder('confined')
    const { home, own, cwd } = confinedHome(parent, PROFILES[name](new URL(listed).host))
    writeFileSync(join(cwd, 'probe.mjs'), PROBE)
    // Without a block of files, those of the host are the agent's to read.
    writeFileSync(join(cwd, '.env'), name === FILES ? 'secret' : '')
    if (through.length > 0) execFileSync('chown', ['-R', '65534:65534', home])
    const rounds = (): readonly Round[] => roundsIn(cwd)
    const mark = newMark()
    const env = { TMPDIR: home, ...mark.env }
    const first = await startDaemon({ home, through, env })
    const { id, sandbox } = await first.client.sessions.start({ adapter: 'demo', cwd, permissionMode: 'approve-all' })
    expect(sandbox).toEqual({ provider: 'local', enforced: true })
    expect(await first.client.sessions.get(id)).toMatchObject({ kept: true, warnings: [] })
    const command = `${process.execPath} probe.mjs ${listed} ${other} ${own}`
    await first.client.sessions.prompt(id, { prompt: `run ${command}` })
    await expect.poll(() => rounds().length, { timeout: 20_000 }).toBeGreaterThan(1)
    const agents = agentsIn(mark.living(), id).filter((line) => !line.includes('probe'))
    await first.crash()
    const before = rounds().length
    expect(agentsIn(mark.living(), id)).toEqual(expect.arrayContaining([...agents]))

    const { client } = await startDaemon({ home, through, env })
    expect(agentsIn(mark.living(), id)).toEqual(expect.arrayContaining([...agents]))
    expect(await client.sessions.get(id)).toMatchObject({ status: 'running', kept: true, sandbox, warnings: [] })
    await expect.poll(() => rounds().length, { timeout: 30_000 }).toBeGreaterThan(before + 3)
    writeFileSync(join(cwd, 'over'), '')
    await expect.poll(() => endedTurns(client, id), { timeout: 20_000 }).toBe(1)
    expect(rounds().filter(({ took }) => took !== false)).toEqual([])
    expect(rounds().filter((round) => round.listed !== 200 && round.listed !== 'cut')).toEqual([])
    expect(rounds().filter((round) => round.other !== 403 && round.other !== 'cut')).toEqual([])
    expect(rounds().at(-1)).toEqual({ listed: 200, other: 403, took: false })
    await client.sessions.kill(id)
    expect(agentsIn(mark.living(), id)).toEqual([])
    expect(readdirSync(join(own, 'sandboxes'))).toEqual([])
  },
)

test(
  '16.5 a gateway that leaves its agents closes their network, and the next one in the same process opens it',
  needs('linux', 'bwrap'),
  async () => {
    const [listed, other] = [await httpServer(), await httpServer()]
    const { home, own, cwd } = confinedHome(temporaryFolder('left'), PROFILES[ALONE](new URL(listed).host))
    writeFileSync(join(cwd, 'probe.mjs'), PROBE)
    writeFileSync(join(cwd, '.env'), '')
    const mark = newMark()
    const env = { ...process.env, HOME: home, ...mark.env }
    const options = { home: own, cwd, keeper: true, env }
    const owner = { type: 'owner', name: 'owner' } as const
    const first = await createGateway(options)
    const prompt = `run ${process.execPath} probe.mjs ${listed} ${other} ${own}`
    const { id } = await first.sessions.spawn({ adapter: 'demo', cwd, permissionMode: 'approve-all', prompt }, owner)
    await expect.poll(() => roundsIn(cwd).at(-1), { timeout: 20_000 }).toMatchObject({ listed: 200, other: 403 })
    await first.close({ keepAgents: true })
    const before = roundsIn(cwd).length
    const second = await createGateway(options)
    onTestFinished(() => second.close())
    await expect.poll(() => roundsIn(cwd).length, { timeout: 30_000 }).toBeGreaterThan(before + 2)
    writeFileSync(join(cwd, 'over'), '')
    expect(await second.sessions.waitTurn(id, 1)).toMatchObject({ reason: 'end_turn' })
    expect(roundsIn(cwd).at(-1)).toEqual({ listed: 200, other: 403, took: false })
    await second.close()
    expect([agentsIn(mark.living(), id), readdirSync(join(own, 'sandboxes'))]).toEqual([[], []])
  },
)

test(
  '16.6 the keeper and the gateway of a confined agent are killed: it is gone, and the session can be resumed',
  needs('linux', 'bwrap'),
  async () => {
    const { home, own, cwd } = confinedHome(temporaryFolder('confined'), PROFILES[ALONE]('example.test'))
    const mark = newMark()
    const first = await startDaemon({ home, env: mark.env })
    const { id } = await first.client.sessions.start({ adapter: 'demo', cwd, permissionMode: 'approve-all' })
    await first.client.sessions.promptAndWait(id, { prompt: 'stubborn; fork' })
    await first.client.sessions.prompt(id, { prompt: 'hang!' })
    expect(agentsIn(mark.living(), id).length).toBeGreaterThan(2)
    const keeper = parentOf(agentsIn(mark.living(), id)[0] ?? '')
    await first.crash()
    process.kill(keeper, 'SIGKILL')
    // Its sandbox dies with the keeper, before any gateway looks for it.
    await expect.poll(() => agentsIn(mark.living(), id), { timeout: 10_000 }).toEqual([])
    expect(readdirSync(join(own, 'sandboxes'))).toEqual([id])

    const { client } = await startDaemon({ home, env: mark.env })
    expect(await client.sessions.get(id)).toMatchObject({ status: 'error', wakeable: true })
    expect(readdirSync(join(own, 'sandboxes'))).toEqual([])
    await client.sessions.resume(id)
    expect(await client.sessions.get(id)).toMatchObject({ status: 'running', kept: true })
    await client.sessions.kill(id)
    expect(agentsIn(mark.living(), id)).toEqual([])
  },
)

interface Home {
  readonly home: string
  /** agentproto's own folder. */
  readonly own: string
  readonly cwd: string
}

/** A home whose gateway keeps agents, and whose demo agent is confined. */
function confinedHome(home: string, profile: string): Home {
  const [own, cwd] = [join(home, '.agentproto'), join(home, 'work')]
  mkdirSync(join(own, 'adapters'), { recursive: true, mode: 0o700 })
  mkdirSync(cwd)
  const config = JSON.stringify({ keeper: true, checkpoints: { enabled: false } })
  writeFileSync(join(own, 'config.json'), config, { mode: 0o600 })
  cpSync(join(catalogPath, 'demo'), join(own, 'adapters/demo'), { recursive: true })
  const file = join(own, 'adapters/demo/SANDBOX.md')
  const local = /^provider: local\n/m
  writeFileSync(file, readFileSync(file, 'utf8').replace(local, `provider: local\n${profile}`))
  return { home, own, cwd }
}

/** Another user cannot go through the folder of the run. */
function sharedFolder(): string {
  const folder = mkdtempSync('/tmp/agentproto-e2e-nobody-')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  return folder
}

/** @param line of a living process */
function parentOf(line: string): number {
  const status = readFileSync(`/proc/${Number.parseInt(line, 10)}/status`, 'utf8')
  return Number(/^PPid:\t(\d+)$/m.exec(status)?.[1])
}

function roundsIn(cwd: string): readonly Round[] {
  const file = join(cwd, 'rounds')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  return lines.map((line) => JSON.parse(line) as Round)
}

async function httpServer(): Promise<string> {
  const server = createServer((_request, response) => response.end('reached'))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
