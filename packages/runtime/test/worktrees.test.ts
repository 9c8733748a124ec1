import { execFileSync, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, lstat, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Session } from '@agentproto/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../tooling/needs.js'
import { type ServedGateway, servedGateway } from './fixtures/served-gateway.js'

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

async function folder(): Promise<string> {
  const made = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-worktrees-')))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

/** A repository with one commit on `main`. */
async function repository(at?: string): Promise<string> {
  const made = at ?? join(await folder(), 'shop')
  await mkdir(join(made, 'src'), { recursive: true })
  git(made, 'init', '-q', '-b', 'main')
  git(made, 'config', 'user.name', 'Ada')
  git(made, 'config', 'user.email', 'ada@example.com')
  await writeFile(join(made, 'a.txt'), 'a\n')
  await writeFile(join(made, 'src', 'b.txt'), 'b\n')
  await writeFile(join(made, '.gitignore'), '.env*\n')
  git(made, 'add', '-A')
  git(made, 'commit', '-q', '-m', 'first')
  return made
}

/** A session in a worktree, and what is there. */
interface Worker {
  readonly session: Session
  readonly path: string
  readonly work: (prompt: string) => Promise<void>
  readonly merge: (body?: object) => ReturnType<ServedGateway['call']>
  readonly discard: (body?: object) => ReturnType<ServedGateway['call']>
}

async function worker(served: ServedGateway, request: object): Promise<Worker> {
  const session = await served.spawn({ worktree: true, permissionMode: 'approve-all', ...request })
  const { id, worktree } = session
  if (worktree === undefined) throw new Error('The session has no worktree')
  return {
    session,
    path: worktree.path,
    async work(prompt) {
      const { turn } = await served.gateway.sessions.prompt(id, { prompt }, { type: 'owner', name: 'owner' })
      await served.gateway.sessions.waitTurn(id, turn)
    },
    merge: (body = {}) => served.call(`POST /sessions/${id}/worktree/merge`, body),
    discard: (body = {}) => served.call(`POST /sessions/${id}/worktree/discard`, body),
  }
}

test('13.4 two sessions in two worktrees of one repository work at once, and both merge', needs('git'), async () => {
  const served = await servedGateway()
  const repo = await repository()
  const [one, two] = await Promise.all([
    worker(served, { cwd: repo, worktree: { branch: 'feature/one' } }),
    worker(served, { cwd: join(repo, 'src') }),
  ])
  const home = await realpath(served.home)
  expect(one.session).toMatchObject({
    cwd: one.path,
    worktree: { branch: 'feature/one', base: 'main', repository: repo, folder: repo },
  })
  expect(one.path).toMatch(new RegExp(`^${home}/worktrees/shop-[0-9a-f]{8}/feature-one-[0-9a-f]{8}$`))
  expect(two.session.cwd).toBe(join(two.path, 'src'))
  for (const made of [join(home, 'worktrees'), join(one.path, '..')])
    expect((await lstat(made)).mode & 0o777).toBe(0o700)
  await Promise.all([
    one.work('write one.txt 1'),
    two.work('run git config user.name X && echo 2 > two.txt && git add -A && git commit -qm two'),
  ])
  expect(git(repo, 'status', '--porcelain')).toBe('')
  expect(await one.merge()).toMatchObject({ status: 200, body: { into: 'main', commits: 2 } })
  expect(await two.merge({ strategy: 'squash', message: 'the second' })).toMatchObject({
    status: 200,
    body: { commits: 1 },
  })
  expect(await readFile(join(repo, 'one.txt'), 'utf8')).toBe('1\n')
  expect(await readFile(join(repo, 'src/two.txt'), 'utf8')).toBe('2\n')
  expect(git(repo, 'log', '-1', '--format=%s', 'main')).toBe('the second')
  expect(git(repo, 'log', '--format=%b', 'feature/one', '-1')).toContain(`Agentproto-Session: ${one.session.id}`)
  expect(git(repo, 'status', '--porcelain')).toBe('')
  // Deleted with their sessions: nothing would be lost.
  for (const { session, path } of [one, two]) {
    expect((await served.call(`DELETE /sessions/${session.id}`)).body).toEqual({ ok: true, id: session.id })
    expect(existsSync(path)).toBe(false)
  }
  expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(1)
  expect(git(repo, 'branch', '--format=%(refname:short)')).toBe('main')
})

test(
  '13.4 a conflict and a changed checkout of the target are refused with the files, and nothing is half done',
  needs('git'),
  async () => {
    const served = await servedGateway()
    const repo = await repository()
    const it = await worker(served, { cwd: repo })
    await it.work('write a.txt mine')
    await writeFile(join(repo, 'a.txt'), 'not committed\n')
    const before = git(repo, 'rev-parse', 'main')
    expect((await it.merge()).body).toMatchObject({ code: 'checkout_dirty', folder: repo })
    git(repo, 'commit', '-qam', 'theirs')
    const theirs = git(repo, 'rev-parse', 'main')
    expect(theirs).not.toBe(before)
    for (const strategy of ['merge', 'squash', 'rebase'])
      expect((await it.merge({ strategy })).body).toMatchObject({ code: 'merge_conflict', files: ['a.txt'] })
    expect(git(repo, 'rev-parse', 'main')).toBe(theirs)
    expect(git(repo, 'status', '--porcelain')).toBe('')
    expect(await readFile(join(it.path, 'a.txt'), 'utf8')).toBe('mine\n')
    expect((await served.session(it.session.id)).state).toBe('idle')
  },
)

test(
  '13.4 a discard is refused while a session runs or work would be lost, and then forced',
  needs('git'),
  async () => {
    const served = await servedGateway()
    const repo = await repository()
    const it = await worker(served, { cwd: repo, worktree: { branch: 'try' } })
    await it.work('write new.txt x')
    expect((await it.discard({ force: true })).body).toMatchObject({ code: 'session_live', given: it.session.id })
    await served.call(`POST /sessions/${it.session.id}/kill`, {})
    expect((await it.discard()).body).toMatchObject({ code: 'worktree_unsaved', dirty: ['new.txt'] })
    expect((await it.discard({ force: true })).body).toEqual({ ok: true, id: it.session.id })
    expect(existsSync(it.path)).toBe(false)
    expect(git(repo, 'branch', '--list', 'try')).toBe('')
    // A branch of the same name that a person makes later is not this one.
    git(repo, 'branch', 'try')
    expect((await it.discard({ force: true })).body).toMatchObject({ code: 'repository_invalid' })
    expect(git(repo, 'branch', '--list', 'try')).toContain('try')
    expect((await served.call(`POST /sessions/${it.session.id}/resume`, { fresh: true })).body).toMatchObject({
      code: 'cwd_invalid',
      detail: expect.stringContaining('worktree of the session is gone'),
    })
  },
)

test('13.4 what is not saved is kept and named by a deletion and by a prune', needs('git'), async () => {
  const served = await servedGateway()
  const repo = await repository()
  const [one, two] = [await worker(served, { cwd: repo }), await worker(served, { cwd: repo })]
  await one.work('write new.txt x')
  await two.work('run echo y > y && git add -A && git -c user.name=A -c user.email=a@b commit -qm y')
  expect((await served.call(`DELETE /sessions/${one.session.id}`)).body).toMatchObject({ keptWorktree: one.path })
  await served.call(`POST /sessions/${two.session.id}/kill`, {})
  const pruned = await served.call('POST /sessions/prune', { olderThanMs: 0 })
  expect(pruned.body).toMatchObject({ pruned: [{ id: two.session.id, keptWorktree: two.path }] })
  expect(await readFile(join(one.path, 'new.txt'), 'utf8')).toBe('x\n')
  expect(git(two.path, 'log', '-1', '--format=%s')).toBe('y')
})

test('13.4 the rules of the workspace hold in a worktree, also those about a path', needs('git'), async () => {
  const served = await servedGateway()
  const repo = await repository()
  await served.call('POST /workspaces', { path: repo, slug: 'shop' })
  await served.call('POST /workspaces/shop/rules', { decision: 'allow', toolKind: 'edit' })
  await served.call('POST /workspaces/shop/rules', { decision: 'deny', path: 'src/**' })
  const { id, worktree } = await served.spawn({ cwd: undefined, workspaceSlug: 'shop', worktree: true })
  expect(await served.session(id)).toMatchObject({ workspaceSlug: 'shop' })
  const at = worktree?.path ?? ''
  const prompt = async (text: string): Promise<void> => {
    const { turn } = await served.gateway.sessions.prompt(id, { prompt: text }, { type: 'owner', name: 'owner' })
    await served.gateway.sessions.waitTurn(id, turn)
  }
  await prompt('ask c.txt allowed')
  await prompt('ask src/c.txt denied')
  expect(existsSync(join(at, 'c.txt'))).toBe(true)
  expect(existsSync(join(at, 'src/c.txt'))).toBe(false)
  const { body } = await served.call(`GET /sessions/${id}/rules`)
  expect(body['rules']).toContainEqual(expect.objectContaining({ match: { path: `${at}/src/**` } }))
  // What is remembered for the workspace is about the repository's own file.
  await served.call(`POST /sessions/${id}/rules`, { decision: 'deny', path: 'x/**', lifetime: 'session' })
  await served.gateway.sessions.kill(id, { type: 'owner', name: 'owner' })
})

test(
  '13.4 a token of another workspace neither sees nor touches a worktree; one of its own does',
  needs('git'),
  async () => {
    const served = await servedGateway()
    const { call } = served
    const root = await folder()
    const repo = await repository(join(root, 'shop'))
    await repository(join(root, 'bank'))
    for (const slug of ['shop', 'bank', 'shop/src'])
      await call('POST /workspaces', { path: join(root, slug), slug: slug.replace('/', '-') })
    const tokenOf = async (slug: string): Promise<string> =>
      String((await call('POST /tokens', { name: slug, scope: 'operate', workspaces: [slug] })).body['token'])
    const [shop, bank, inner] = [await tokenOf('shop'), await tokenOf('bank'), await tokenOf('shop-src')]
    const started = await call('POST /sessions/agent', { adapter: 'demo', cwd: repo, worktree: true }, shop)
    expect(started).toMatchObject({ status: 201, body: { workspaceSlug: 'shop' } })
    const session = started.body as unknown as Session
    const path = session.worktree?.path ?? ''
    for (const action of ['merge', 'discard'])
      expect((await call(`POST /sessions/${session.id}/worktree/${action}`, {}, bank)).status).toBe(404)
    expect((await call(`GET /sessions/${session.id}`, undefined, bank)).status).toBe(404)
    for (const asked of [{ cwd: path }, { cwd: repo, worktree: true }])
      expect((await call('POST /sessions/agent', { adapter: 'demo', ...asked }, bank)).body['code']).toBe(
        'cwd_not_allowed',
      )
    // A workspace that is a part of the repository gives no worktree, which would show all of it.
    const part = await call('POST /sessions/agent', { adapter: 'demo', cwd: join(repo, 'src'), worktree: true }, inner)
    expect(part.body).toMatchObject({ code: 'cwd_not_allowed' })
    expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(2)
    expect((await call(`POST /sessions/${session.id}/worktree/merge`, {}, shop)).body).toMatchObject({
      ok: true,
      commits: 0,
    })
    // Started in the worktree by its path, a session counts as the workspace's too.
    expect(await served.spawn({ cwd: join(path, 'src') })).toMatchObject({ workspaceSlug: 'shop', worktree: { path } })
  },
)

test(
  '13.4 names of branches that are options, steps or no names are refused, and leave nothing',
  needs('git'),
  async () => {
    const served = await servedGateway()
    const repo = await repository()
    for (const branch of ['-D', '--force', '../../x', 'a..b', 'x@{1}', '@{-1}', 'HEAD', 'a b', 'x.lock', 'main']) {
      const { body } = await served.call('POST /sessions/agent', { adapter: 'demo', cwd: repo, worktree: { branch } })
      expect([branch, body['code']]).toEqual([branch, 'branch_invalid'])
    }
    for (const base of ['-D', '--exec=x', 'nothing', 'main@{9}']) {
      const { body } = await served.call('POST /sessions/agent', { adapter: 'demo', cwd: repo, worktree: { base } })
      expect([base, body['code']]).toEqual([base, 'branch_invalid'])
    }
    expect(
      (await served.call('POST /sessions/agent', { adapter: 'demo', cwd: await folder(), worktree: true })).body,
    ).toMatchObject({
      code: 'repository_invalid',
    })
    expect(git(repo, 'branch', '--format=%(refname:short)')).toBe('main')
    expect((await served.call('GET /sessions')).body['sessions']).toEqual([])
  },
)

test('13.4 a start that fails leaves no worktree', needs('git'), async () => {
  const served = await servedGateway()
  const repo = await repository()
  const refused = await served.call('POST /sessions/agent', {
    adapter: 'demo',
    cwd: repo,
    worktree: true,
    mode: 'nope',
  })
  expect(refused.body).toMatchObject({ code: 'mode_unknown' })
  expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(1)
  expect(git(repo, 'branch', '--format=%(refname:short)')).toBe('main')
})

test('13.4 a resume, a wake after a restart and a fork find the worktree', needs('git'), async () => {
  const served = await servedGateway()
  const repo = await repository()
  const link = join(await folder(), 'link')
  await symlink(repo, link)
  const it = await worker(served, { cwd: link })
  expect(it.session.worktree).toMatchObject({ repository: repo, folder: repo })
  await it.work('write x.txt x')
  const forked = await served.call(`POST /sessions/${it.session.id}/fork`, {})
  expect(forked.body).toMatchObject({ cwd: it.path, worktree: { path: it.path } })
  const own = await served.call(`POST /sessions/${it.session.id}/fork`, { worktree: { branch: 'own' } })
  expect(own.body).toMatchObject({ worktree: { branch: 'own', base: it.session.worktree?.branch, repository: repo } })
  // A worktree that another session has stays.
  await served.call(`DELETE /sessions/${it.session.id}`)
  expect(existsSync(it.path)).toBe(true)
  const id = String(forked.body['id'])
  await served.call(`POST /sessions/${id}/kill`, {})
  await served.gateway.close()
  const next = await servedGateway({ home: served.home })
  expect((await next.call(`POST /sessions/${id}/resume`, {})).body).toMatchObject({
    cwd: it.path,
    worktree: { path: it.path },
  })
})

test(
  '13.3 13.4 a fork in a worktree starts with the files of a turn, and leaves those of the session',
  needs('git'),
  async () => {
    const served = await servedGateway()
    const repo = await repository()
    const { id } = await served.spawn({ cwd: repo, permissionMode: 'approve-all' })
    for (const text of ['run echo 1 > one.txt && rm a.txt', 'run echo 2 > one.txt && echo 2 > two.txt']) {
      const { turn } = await served.gateway.sessions.prompt(id, { prompt: text }, { type: 'owner', name: 'owner' })
      await served.gateway.sessions.waitTurn(id, turn)
      await expect.poll(async () => (await served.call(`GET /sessions/${id}/changes?turn=${turn}`)).status).toBe(200)
    }
    const forked = await served.call(`POST /sessions/${id}/fork`, { worktree: true, turn: 1 })
    const { worktree } = forked.body as unknown as Session
    expect(await readFile(join(worktree?.path ?? '', 'one.txt'), 'utf8')).toBe('1\n')
    for (const gone of ['a.txt', 'two.txt']) expect(existsSync(join(worktree?.path ?? '', gone))).toBe(false)
    expect(await readFile(join(repo, 'one.txt'), 'utf8')).toBe('2\n')
    expect(
      git(worktree?.path ?? '', 'status', '--porcelain')
        .split('\n')
        .toSorted(),
    ).toEqual(['?? one.txt', 'D a.txt'])
    const start = await served.call(`POST /sessions/${id}/fork`, { worktree: true, turn: 0 })
    expect(existsSync(join((start.body as unknown as Session).worktree?.path ?? '', 'a.txt'))).toBe(true)
    const count = git(repo, 'worktree', 'list').split('\n').length
    expect((await served.call(`POST /sessions/${id}/fork`, { worktree: true, turn: 9 })).body['code']).toBe(
      'checkpoint_not_found',
    )
    expect((await served.call(`POST /sessions/${id}/fork`, { turn: 1 })).body['code']).toBe('invalid_request')
    expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(count)
  },
)

test('13.4 hooks and filters of a hostile repository are not started', needs('git'), async () => {
  const served = await servedGateway()
  const repo = await repository()
  const trap = join(await folder(), 'sprung')
  const script = join(repo, '.git', 'trap.sh')
  await writeFile(script, `#!/bin/sh\ntouch ${trap}\ncat\n`)
  await chmod(script, 0o755)
  await writeFile(join(repo, '.gitattributes'), '* filter=evil diff=evil merge=evil\n')
  git(repo, 'add', '-A')
  git(repo, 'commit', '-qm', 'attributes')
  const keys = [
    'filter.evil.clean',
    'filter.evil.smudge',
    'core.fsmonitor',
    'diff.external',
    'merge.evil.driver',
    'core.sshCommand',
    'gpg.program',
  ]
  for (const key of keys) git(repo, 'config', key, script)
  git(repo, 'config', 'commit.gpgSign', 'true')
  for (const hook of [
    'post-checkout',
    'pre-commit',
    'post-commit',
    'post-merge',
    'reference-transaction',
    'prepare-commit-msg',
  ]) {
    await writeFile(join(repo, '.git/hooks', hook), `#!/bin/sh\ntouch ${trap}\n`)
    await chmod(join(repo, '.git/hooks', hook), 0o755)
  }
  await rm(trap, { force: true })
  const it = await worker(served, { cwd: repo })
  await it.work('write x.txt x')
  // A checkout whose files need a filter is not updated; the branch alone is.
  expect((await it.merge()).body).toMatchObject({ code: 'checkout_dirty', files: ['x.txt'] })
  git(repo, '-c', 'core.hooksPath=/dev/null', 'symbolic-ref', 'HEAD', 'refs/heads/other')
  for (const strategy of ['merge', 'squash', 'rebase'])
    expect((await it.merge({ strategy })).body).toMatchObject({ ok: true })
  await served.call(`DELETE /sessions/${it.session.id}`)
  expect(existsSync(it.path)).toBe(false)
  expect(existsSync(trap)).toBe(false)
})

async function settings(repo: string, content: object): Promise<void> {
  await mkdir(join(repo, '.agentproto'), { recursive: true })
  await writeFile(join(repo, '.agentproto/worktree.json'), JSON.stringify(content))
}

test(
  '13.4 files are copied, and the setup is run once and logged, only where the folder is trusted',
  needs('git'),
  async () => {
    const served = await servedGateway()
    const repo = await repository()
    await writeFile(join(repo, '.env'), 'KEY=1\n', { mode: 0o600 })
    await writeFile(join(repo, '.env.test'), 'KEY=2\n')
    const outside = join(await folder(), 'secret')
    await writeFile(outside, 'secret')
    await symlink(outside, join(repo, '.env.link'))
    await settings(repo, {
      copy: ['.env*', 'src/none', 'a.txt'],
      setup: ['sh', '-c', 'echo made > made.txt; echo done; echo $API_TOKEN'],
    })
    const messages = async (id: string): Promise<readonly string[]> =>
      (await served.gateway.sessions.events(id, 0, 100)).records
        .map(({ json }) => JSON.parse(json) as { type: string; message: string })
        .flatMap(({ type, message }) => (type === 'runtime-progress' ? [message] : []))
    const untrusted = await worker(served, { cwd: repo })
    expect(await readFile(join(untrusted.path, '.env'), 'utf8')).toBe('KEY=1\n')
    expect((await lstat(join(untrusted.path, '.env'))).mode & 0o777).toBe(0o600)
    expect([existsSync(join(untrusted.path, '.env.link')), existsSync(join(untrusted.path, 'made.txt'))]).toEqual([
      false,
      false,
    ])
    expect(await messages(untrusted.session.id)).toEqual([
      '.env is copied',
      '.env.test is copied',
      expect.stringContaining('is not trusted'),
    ])
    await writeFile(
      join(served.home, 'trusted.json'),
      JSON.stringify({ version: 1, trusted: [{ path: repo, trustedAt: '2026-01-01T00:00:00.000Z' }] }),
    )
    const trusted = await worker(served, { cwd: repo })
    expect(await readFile(join(trusted.path, 'made.txt'), 'utf8')).toBe('made\n')
    expect(await messages(trusted.session.id)).toContain('done')
    await rm(join(trusted.path, 'made.txt'))
    await served.call(`POST /sessions/${trusted.session.id}/kill`, {})
    await served.call(`POST /sessions/${trusted.session.id}/resume`, {})
    expect(existsSync(join(trusted.path, 'made.txt'))).toBe(false)
    // A setup that fails ends the start, and its worktree.
    await settings(repo, { setup: ['sh', '-c', 'echo no > unknown; exit 3'] })
    const failed = await served.call('POST /sessions/agent', {
      adapter: 'demo',
      cwd: repo,
      worktree: { branch: 'failed' },
    })
    expect(failed.body).toMatchObject({ code: 'worktree_setup_failed' })
    expect(git(repo, 'branch', '--list', 'failed')).toBe('')
  },
)

test('13.4 settings that would lead out of the repository are refused', needs('git'), async () => {
  const served = await servedGateway()
  const repo = await repository()
  const bad = [
    { copy: ['../x'] },
    { copy: ['/etc/passwd'] },
    { copy: ['.git/config'] },
    { copy: ['.GIT/config'] },
    { setup: 'npm ci' },
    { other: 1 },
  ]
  for (const content of bad) {
    await settings(repo, content)
    const { body } = await served.call('POST /sessions/agent', { adapter: 'demo', cwd: repo, worktree: true })
    expect([content, body['code']]).toEqual([content, 'worktree_setup_failed'])
  }
  expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(1)
})

function isSound(repo: string): boolean {
  try {
    git(repo, 'fsck', '--strict')
    return true
  } catch {
    return false
  }
}

/** Merges in a process of its own, which is killed after some milliseconds. */
async function killedWhileMerging(args: readonly string[], afterMs: number): Promise<void> {
  const child = fork(fileURLToPath(new URL('./fixtures/merging.mjs', import.meta.url)), [...args], { execArgv: [] })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  await new Promise((resolve) => child.once('message', resolve))
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs)
  await exited
  clearTimeout(timer)
}

test(
  '13.4 a gateway that is killed in the middle of a create or a merge leaves whole branches and no lost work',
  needs('git'),
  async () => {
    const repo = await repository()
    const root = await folder()
    for (let round = 0; round < 4; round++) {
      await killedWhileMerging([repo, root], 150 + round * 331)
      // A git that the killed process had started may still be writing.
      await expect.poll(() => isSound(repo)).toBe(true)
      const merged = git(repo, 'ls-tree', '--name-only', 'main').split('\n')
      for (const name of merged.filter((each) => each.length === 36))
        expect(git(repo, 'show', `main:${name}`)).toBe(name)
      // What was written to the checkout is what the branch says, or a merge that the next one finishes or undoes.
      const served = await servedGateway()
      const it = await worker(served, { cwd: repo })
      await it.work(`write after-${round}.txt x`)
      expect((await it.merge()).body).toMatchObject({ ok: true })
      expect(git(repo, 'show', `main:after-${round}.txt`)).toBe('x')
      await served.gateway.close()
    }
  },
)

test('13.4 a checkout in which another session works is not updated, unless forced', needs('git'), async () => {
  const served = await servedGateway()
  const repo = await repository()
  const one = await worker(served, { cwd: repo })
  await one.work('write one.txt 1')
  const main = await served.spawn({ cwd: join(repo, 'src'), permissionMode: 'approve-all' })
  const owner = { type: 'owner', name: 'owner' } as const
  await served.gateway.sessions.prompt(main.id, { prompt: 'hang' }, owner)
  // A session in another worktree is not in the way.
  const other = await worker(served, { cwd: repo })
  await served.gateway.sessions.prompt(other.session.id, { prompt: 'hang' }, owner)
  const before = git(repo, 'rev-parse', 'main', one.session.worktree?.branch ?? '')
  const refused = await one.merge()
  expect(refused).toMatchObject({ status: 409, body: { code: 'folder_in_use' } })
  expect(JSON.stringify(refused.body)).toContain(main.id)
  expect(git(repo, 'rev-parse', 'main', one.session.worktree?.branch ?? '')).toBe(before)
  expect(existsSync(join(repo, 'one.txt'))).toBe(false)
  expect(await one.merge({ force: true })).toMatchObject({ status: 200, body: { commits: 2 } })
  await one.work('write two.txt 2')
  expect(await one.merge()).toMatchObject({ status: 409 })
  await served.gateway.sessions.interrupt(main.id, owner)
  await served.gateway.sessions.waitTurn(main.id, 1)
  expect(await one.merge()).toMatchObject({ status: 200 })
})
