import { execFileSync } from 'node:child_process'
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionEvent } from '@agentproto/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../tooling/needs.js'
import { type ServedGateway, servedGateway } from './fixtures/served-gateway.js'
import { temporaryHome } from './fixtures/temporary-home.js'

/** A repository with two files, in which sessions run. */
async function repository(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-changes-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  execFileSync('git', ['init', '-q', folder])
  await mkdir(join(folder, 'src'))
  await writeFile(join(folder, 'README.md'), 'one\ntwo\nthree\n')
  await writeFile(join(folder, 'src', 'main.ts'), 'export const a = 1\nexport const b = 2\nexport const c = 3\n')
  return folder
}

interface Worker {
  readonly served: ServedGateway
  readonly folder: string
  readonly id: string
  /** One turn; resolves when its checkpoint is logged. */
  readonly work: (prompt: string) => Promise<void>
  readonly changes: (query?: string) => Promise<Listed>
}

interface Listed {
  readonly files: { path: string; oldPath?: string; status: string; additions: number; deletions: number }[]
  readonly totals: { files: number; additions: number; deletions: number }
  readonly shared: boolean
  readonly code?: string
}

async function worker(folder?: string, served?: ServedGateway): Promise<Worker> {
  const gateway = served ?? (await servedGateway())
  const cwd = folder ?? (await repository())
  const { id } = await gateway.spawn({ cwd })
  async function work(prompt: string): Promise<void> {
    const { turn } = await gateway.gateway.sessions.prompt(id, { prompt }, { type: 'owner', name: 'owner' })
    await gateway.gateway.sessions.waitTurn(id, turn)
    await logged(gateway, id, (event) => event.type === 'checkpoint' && event.turn === turn)
  }
  const changes: Worker['changes'] = async (query = '') =>
    (await gateway.call(`GET /sessions/${id}/changes${query}`)).body as unknown as Listed
  return { served: gateway, folder: cwd, id, work, changes }
}

async function logged({ gateway }: ServedGateway, id: string, isIt: (event: SessionEvent) => boolean) {
  const reader = await gateway.sessions.follow(id, 0)
  try {
    for (let batch = await reader.next(); batch !== undefined; batch = await reader.next()) {
      const found = batch.records.map(({ json }) => JSON.parse(json) as SessionEvent).find(isIt)
      if (found !== undefined) return found
    }
  } finally {
    reader.close()
  }
  throw new Error('The session ended before the event came')
}

/** All of a folder but `.git`: contents, modes and links. */
async function tree(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(folder.length + 1)
    if (name.startsWith('.git/') || name === '.git' || entry.isDirectory()) continue
    const { mode } = await lstat(path)
    found[name] = entry.isSymbolicLink() ? `-> ${await readlink(path)}` : `${mode} ${await readFile(path, 'latin1')}`
  }
  return found
}

const summary = ({ files }: Listed): string[] =>
  files.map(({ path, oldPath, status }) => `${status} ${oldPath === undefined ? '' : `${oldPath} `}${path}`)

/** Three turns that add, change, delete and rename. */
async function threeTurns({ work }: Worker): Promise<void> {
  await work('write notes.md hello')
  await work('run rm README.md && mkdir lib && mv src/main.ts lib/main.ts')
  await work('run printf "more\\n" >> notes.md && chmod +x lib/main.ts && ln -s notes.md link')
}

test(
  '13.2 three turns that add, change, delete and rename: their changes by turn and since the review are exactly those',
  needs('git'),
  async () => {
    const it = await worker()
    await it.work('write notes.md hello')
    expect(summary(await it.changes())).toEqual(['added notes.md'])
    const review = await it.served.call(`POST /sessions/${it.id}/changes/reviewed`, {})
    expect(review).toMatchObject({ status: 200, body: { checkpoint: expect.any(String), at: expect.any(String) } })
    await it.work('run rm README.md && mkdir lib && mv src/main.ts lib/main.ts')
    await it.work('run printf "more\\n" >> notes.md')
    expect(summary(await it.changes('?turn=1'))).toEqual(['added notes.md'])
    const second = ['deleted README.md', 'renamed src/main.ts lib/main.ts']
    expect(summary(await it.changes('?turn=2')).toSorted()).toEqual(second)
    expect(summary(await it.changes('?from=1&to=2')).toSorted()).toEqual(second)
    const third = await it.changes('?turn=3')
    expect(third).toMatchObject({ files: [{ path: 'notes.md', status: 'modified', additions: 1 }], shared: false })
    expect(summary(await it.changes('?from=reviewed')).toSorted()).toEqual([...second, 'modified notes.md'].toSorted())
    const { body: turn } = await it.served.call(`GET /sessions/${it.id}/turns/3`)
    expect(turn['changes']).toEqual({ files: 1, additions: 1, deletions: 0 })
    const session = await it.served.session(it.id)
    expect(session.changes).toEqual((await it.changes()).totals)
    expect(session.reviewed).toEqual(review.body)
  },
)

test('13.2 the patch of a turn applies with git, for one file and for all', needs('git'), async () => {
  const it = await worker()
  const copy = await mkdtemp(join(tmpdir(), 'agentproto-changes-'))
  onTestFinished(() => rm(copy, { recursive: true, force: true }))
  execFileSync('cp', ['-r', `${it.folder}/.`, copy])
  await threeTurns(it)
  const response = await it.served.open(`/sessions/${it.id}/changes/diff?path=notes.md&turn=3`)
  expect(response.headers.get('content-type')).toBe('text/x-diff')
  expect(await response.text()).toContain('+more')
  const all = await (await it.served.open(`/sessions/${it.id}/changes/diff`)).text()
  execFileSync('git', ['apply', '-'], { cwd: copy, input: all })
  expect(await tree(copy)).toEqual(await tree(it.folder))
})

test(
  '13.3 a rewind to turn 1 and forward again leaves the tree byte for byte, and can be rewound',
  needs('git'),
  async () => {
    const it = await worker()
    const { served, id, folder } = it
    await it.work('write notes.md hello')
    const afterOne = await tree(folder)
    await it.work(
      'run rm README.md && mkdir lib && mv src/main.ts lib/main.ts && printf "x" > run.sh && chmod +x run.sh',
    )
    await it.work('run printf "more\\n" >> notes.md && ln -s notes.md link')
    const afterThree = await tree(folder)
    const dry = await served.call(`POST /sessions/${id}/rewind`, { turn: 1, dryRun: true })
    expect(dry).toMatchObject({ status: 200, body: { dryRun: true, changedCount: 6 } })
    expect(await tree(folder)).toEqual(afterThree)
    const back = await served.call(`POST /sessions/${id}/rewind`, { turn: 1 })
    expect(back).toMatchObject({ status: 200, body: { dryRun: false, to: { turn: 1 }, changedCount: 6, kept: [] } })
    expect(await tree(folder)).toEqual(afterOne)
    await logged(served, id, (event) => event.type === 'rewound')
    expect((await served.session(id)).changes).toEqual({ files: 1, additions: 1, deletions: 0 })
    // What the next turn changed is counted from the rewound files.
    await it.work('write extra.md one')
    expect(summary(await it.changes('?turn=4'))).toEqual(['added extra.md'])
    await served.call(`POST /sessions/${id}/rewind`, { turn: 3 })
    expect(await tree(folder)).toEqual(afterThree)
    await served.call(`POST /sessions/${id}/rewind`, { checkpoint: back.body['before'] })
    expect(await tree(folder)).toEqual(afterThree)
    // Also after the end of the session, which adds nothing to its log.
    await served.call(`POST /sessions/${id}/kill`, {})
    const { lastSeq } = await served.session(id)
    expect(await served.call(`POST /sessions/${id}/rewind`, { turn: 0, paths: ['README.md'] })).toMatchObject({
      status: 200,
    })
    expect(await readFile(join(folder, 'README.md'), 'utf8')).toBe('one\ntwo\nthree\n')
    expect((await served.session(id)).lastSeq).toBe(lastSeq)
  },
)

test(
  '13.3 a rewind is refused while a turn runs, and while another session runs in the folder unless forced',
  needs('git'),
  async () => {
    const it = await worker()
    const { served, id, folder } = it
    await it.work('write notes.md hello')
    await served.call(`POST /sessions/${id}/prompt`, { prompt: 'hang' })
    expect(await served.call(`POST /sessions/${id}/rewind`, { turn: 0 })).toMatchObject({
      status: 409,
      body: { code: 'turn_in_progress' },
    })
    await served.call(`POST /sessions/${id}/interrupt`, {})
    const other = await worker(join(folder, 'src'), served)
    await other.work('write inner.ts x')
    expect(await it.changes('?from=1')).toMatchObject({ shared: true })
    expect(await it.changes('?turn=1')).toMatchObject({ shared: false })
    expect(await served.call(`POST /sessions/${id}/rewind`, { turn: 0 })).toMatchObject({
      status: 409,
      body: { code: 'folder_in_use' },
    })
    expect(Object.keys(await tree(folder))).toContain('notes.md')
    expect(await served.call(`POST /sessions/${id}/rewind`, { turn: 0, force: true })).toMatchObject({ status: 200 })
    expect(Object.keys(await tree(folder)).toSorted()).toEqual(['README.md', 'src/main.ts'])
  },
)

test(
  '13.3 a token that may only read sees changes and rewinds nothing; one of another workspace sees no session',
  needs('git'),
  async () => {
    const it = await worker()
    const { served, id } = it
    await it.work('write notes.md hello')
    const other = await temporaryHome()
    await served.call('POST /workspaces', { slug: 'other', path: other })
    const token = async (body: object) => String((await served.call('POST /tokens', body)).body['token'])
    const reader = await token({ name: 'reader', scope: 'read' })
    const stranger = await token({ name: 'stranger', scope: 'operate', workspaces: ['other'] })
    expect(await served.call(`GET /sessions/${id}/changes`, undefined, reader)).toMatchObject({ status: 200 })
    for (const [path, body] of [
      ['rewind', { turn: 0 }],
      ['changes/reviewed', {}],
    ] as const)
      expect(await served.call(`POST /sessions/${id}/${path}`, body, reader)).toMatchObject({
        body: { code: 'forbidden' },
      })
    for (const route of [`GET /sessions/${id}/changes`, `GET /sessions/${id}/changes/diff`])
      expect(await served.call(route, undefined, stranger)).toMatchObject({ body: { code: 'session_not_found' } })
    expect(await served.call(`POST /sessions/${id}/rewind`, { turn: 0 }, stranger)).toMatchObject({
      body: { code: 'session_not_found' },
    })
    const line = await readFile(join(served.home, 'logs', 'audit.jsonl'), 'utf8')
    expect(line).not.toContain('"action":"rewind"')
  },
)

test(
  '13.2 a path that leads out, or that git would take for something else, finds nothing but itself',
  needs('git'),
  async () => {
    const it = await worker()
    await it.work('run printf a > "--output=x" && printf b > ":(exclude)y" && printf secret > ../outside-of-it')
    onTestFinished(() => rm(join(it.folder, '..', 'outside-of-it'), { force: true }))
    const open = (path: string) => it.served.open(`/sessions/${it.id}/changes/diff?path=${encodeURIComponent(path)}`)
    for (const path of ['../outside-of-it', '/etc/passwd', 'src/../../outside-of-it', 'a\0b', '.git/config', '.git']) {
      const response = await open(path)
      const text = await response.text()
      expect([path, response.status === 200 ? text : JSON.parse(text).code]).toEqual([
        path,
        path.startsWith('.git') && response.status === 200 ? '' : 'path_invalid',
      ])
    }
    expect(await (await open('--output=x')).text()).toContain('+a')
    expect(await (await open(':(exclude)y')).text()).toContain('+b')
    expect(await (await open('*')).text()).toBe('')
    expect(Object.keys(await tree(it.folder)).toSorted()).toEqual([
      '--output=x',
      ':(exclude)y',
      'README.md',
      'src/main.ts',
    ])
    for (const query of ['?from=../../x', '?to=--upload-pack=x', '?from=HEAD', '?turn=99', '?from=99'])
      expect((await it.changes(query)).code).toBe('checkpoint_not_found')
    for (const query of ['?turn=0', '?turn=x', '?from=1&turn=1', '?from='])
      expect((await it.changes(query)).code).toBe('invalid_request')
    const rewind = (body: object) => it.served.call(`POST /sessions/${it.id}/rewind`, body)
    for (const body of [{}, { turn: 0, checkpoint: 'x' }, { turn: -1 }, { checkpoint: 'now' }, { turn: 0, paths: [] }])
      expect(await rewind(body)).toMatchObject({ body: { code: 'invalid_request' } })
    expect(await rewind({ turn: 0, paths: ['../outside-of-it'] })).toMatchObject({ body: { code: 'path_invalid' } })
  },
)

test('13.3 a rewind through a link that took the place of a folder writes nothing outside', needs('git'), async () => {
  const it = await worker()
  const outside = await temporaryHome()
  await it.work('run printf "changed\\n" > src/main.ts')
  await rm(join(it.folder, 'src'), { recursive: true })
  await symlink(outside, join(it.folder, 'src'))
  const { body } = await it.served.call(`POST /sessions/${it.id}/rewind`, { turn: 1, paths: ['src/main.ts'] })
  expect(await readdir(outside)).toEqual([])
  expect(body).toMatchObject({ changed: [], kept: [{ path: 'src/main.ts', reason: 'in_the_way' }] })
})

test(
  '13.1 two prompts at once during a snapshot: both are sent, in order, and nothing is lost',
  needs('git'),
  async () => {
    const it = await worker()
    const { served, id } = it
    const prompts = ['write a.md a', 'write b.md b', 'write c.md c']
    await Promise.all(
      prompts.map((prompt) => served.call(`POST /sessions/${id}/prompt`, { prompt, whenBusy: 'queue' })),
    )
    await served.turnEnded(id, 3)
    await logged(served, id, (event) => event.type.startsWith('checkpoint') && event.turn === 3)
    expect(summary(await it.changes())).toEqual(['added a.md', 'added b.md', 'added c.md'])
  },
)

test('13.1 a gateway without checkpoints says so, and its sessions are as before', needs('git'), async () => {
  const served = await servedGateway({ checkpoints: { enabled: false } })
  const { id } = await served.spawn({ cwd: await temporaryHome(), prompt: 'hello' })
  await served.turnEnded(id)
  expect(await served.call(`GET /sessions/${id}/changes`)).toMatchObject({
    status: 501,
    body: { code: 'not_supported' },
  })
  expect(await served.call(`POST /sessions/${id}/rewind`, { turn: 0 })).toMatchObject({
    body: { code: 'not_supported' },
  })
  const { body } = await served.call(`GET /sessions/${id}/events`)
  expect(JSON.stringify(body)).not.toContain('checkpoint')
})
