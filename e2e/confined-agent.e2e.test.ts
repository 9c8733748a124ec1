import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogPath } from '@agentproto/adapters'
import { expect, onTestFinished, test } from 'vitest'
import { startDaemon } from './support/daemon.js'
import { temporaryFolder } from './support/temporary-folder.js'
import { needs } from '../tooling/needs.ts'

// It looks with `test -w`, which asks the kernel as a write would, and never writes a kernel setting.
const LOOK = `
for file in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/vm/drop_caches /proc/sysrq-trigger /proc/irq/default_smp_affinity \\
  /sys/kernel/uevent_helper /sys/kernel/mm/ksm/run /sys/power/state /sys/fs/cgroup "$1" "$1/token" "$1/config.json"
do test -w "$file" && echo "$file is writable"; done
test -r "$1/token" && echo "the token is readable"
ls "$1" | grep -vx -e agents -e homes
grep -E '^Cap(Inh|Prm|Eff|Amb):.*[1-9a-f]|^NoNewPrivs:.*0' /proc/self/status
grep -e : /proc/net/dev | grep -v lo:
kill -0 "$2" 2>/dev/null && echo "the gateway can be signalled"
echo looked
`

const PROFILES = {
  'a network block alone': 'provider: local\nnetwork: { egress: [] }\n',
  mounts: 'provider: local\nmounts: [{ source: workspace, at: /workspace, mode: read-write }]\n',
}
const isRoot = process.getuid?.() === 0
const NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
const USERS = { 'its own user': [], ...(isRoot ? { nobody: NOBODY } : {}) }
const cases = Object.entries(USERS).flatMap(([user, through]) =>
  Object.entries(PROFILES).map(([profile, text]) => ({ user, through, profile, text })),
)

test.each(cases)(
  '12.A2 an agent of $user with $profile cannot see the home or change the kernel',
  needs('linux', 'bwrap'),
  async ({ through, text }) => {
    const home = through.length > 0 ? sharedFolder() : temporaryFolder('home')
    const [own, cwd] = [join(home, '.agentproto'), join(home, 'work')]
    mkdirSync(join(own, 'adapters'), { recursive: true, mode: 0o700 })
    mkdirSync(cwd)
    cpSync(join(catalogPath, 'demo'), join(own, 'adapters/demo'), { recursive: true })
    const file = join(own, 'adapters/demo/SANDBOX.md')
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^provider: local\n/m, text))
    writeFileSync(join(cwd, 'look.sh'), LOOK)
    if (through.length > 0) execFileSync('chown', ['-R', '65534:65534', home])
    const { client, pid } = await startDaemon({ home, through, env: { TMPDIR: home } })
    const { id, sandbox } = await client.sessions.start({ adapter: 'demo', cwd, permissionMode: 'approve-all' })
    expect(sandbox).toEqual({ provider: 'local', enforced: true })
    await client.sessions.promptAndWait(id, { prompt: `run sh look.sh ${own} ${pid} > looked 2> /dev/null` })
    expect(existsSync(join(own, 'token'))).toBe(true)
    expect(readFileSync(join(cwd, 'looked'), 'utf8')).toBe('looked\n')
    await client.sessions.kill(id)
  },
)

/** Another user cannot go through the folder of the run. */
function sharedFolder(): string {
  const folder = mkdtempSync('/tmp/agentproto-e2e-nobody-')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  return folder
}

const ATTACK = `
git config user.name Agent && git config user.email agent@example.com 2> /dev/null
mkdir -p "$1/.git/hooks"
for file in "$1/.git/hooks/post-merge" "$1/.git/config" "$1/.git/worktrees/$3/HEAD" "$(git rev-parse --git-common-dir)/hooks/pre-commit"
do (echo attacked >> "$file") 2> /dev/null && echo "$file is writable"; done
# In the sandbox these may be in a folder of its own: whether the files are changed is looked at from outside.
(echo attacked >> "$1/a.txt") 2> /dev/null
(echo attacked >> "$2/a.txt") 2> /dev/null
git worktree add -f "$1/more" 2> /dev/null && echo "a worktree was made in the checkout"
true
`

test(
  '13.4 a confined agent commits in its worktree, writes nothing else of the repository, and its work is merged',
  needs('linux', 'bwrap'),
  async () => {
    const home = temporaryFolder('confined')
    const own = join(home, '.agentproto')
    mkdirSync(join(own, 'adapters'), { recursive: true, mode: 0o700 })
    cpSync(join(catalogPath, 'demo'), join(own, 'adapters/demo'), { recursive: true })
    const file = join(own, 'adapters/demo/SANDBOX.md')
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^provider: local\n/m, PROFILES.mounts))
    const repository = join(home, 'shop')
    mkdirSync(repository)
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
    git('init', '-q', '-b', 'main')
    git('config', 'user.name', 'Ada')
    git('config', 'user.email', 'ada@example.com')
    writeFileSync(join(repository, 'a.txt'), 'a\n')
    git('add', '-A')
    git('commit', '-q', '-m', 'first')
    const { client } = await startDaemon({ home, env: { TMPDIR: home } })
    const start = { adapter: 'demo', cwd: repository, permissionMode: 'approve-all', worktree: true } as const
    const [{ id, sandbox, worktree }, other] = [await client.sessions.start(start), await client.sessions.start(start)]
    expect(sandbox).toEqual({ provider: 'local', enforced: true })
    const before = [git('config', '--list', '--local'), git('for-each-ref', 'refs/heads/main')]
    writeFileSync(join(worktree?.path ?? '', 'attack.sh'), ATTACK)
    const otherPath = other.worktree?.path ?? ''
    const name = readFileSync(join(otherPath, '.git'), 'utf8').trim().split('/').at(-1) ?? ''
    await client.sessions.promptAndWait(id, {
      prompt: `run sh attack.sh ${repository} ${otherPath} ${name} > result 2> /dev/null`,
    })
    expect(readFileSync(join(worktree?.path ?? '', 'result'), 'utf8')).toBe('')
    await client.sessions.promptAndWait(id, {
      prompt:
        'run rm attack.sh result && echo work > b.txt && git add -A && GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@x.org git commit -qm work',
    })
    expect(git('log', '-1', '--format=%s', worktree?.branch ?? '')).toBe('work')
    expect([git('config', '--list', '--local'), git('for-each-ref', 'refs/heads/main')]).toEqual(before)
    expect(existsSync(join(repository, '.git/hooks/post-merge'))).toBe(false)
    expect(readFileSync(join(repository, 'a.txt'), 'utf8')).toBe('a\n')
    expect(readFileSync(join(otherPath, 'a.txt'), 'utf8')).toBe('a\n')
    await client.sessions.kill(id)
    expect(await client.sessions.merge(id)).toMatchObject({ into: 'main' })
    expect(readFileSync(join(repository, 'b.txt'), 'utf8')).toBe('work\n')
    expect(git('status', '--porcelain')).toBe('')
    await client.sessions.discard(id)
    expect(existsSync(worktree?.path ?? '')).toBe(false)
  },
)
