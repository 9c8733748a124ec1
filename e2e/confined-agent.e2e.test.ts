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
