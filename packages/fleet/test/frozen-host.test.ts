import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { compilePackage } from '../../../tooling/compiled-package.ts'
import { needs } from '../../../tooling/needs.ts'
import { keyFile } from './support/fleet-options.ts'
import { startNats } from './support/nats-servers.ts'
import { testSession } from './support/test-host.ts'

test(
  '17.3 a process that is stopped beyond its lease never acts for a session that was taken',
  needs('nats-server', 'linux'),
  async () => {
    const { url } = await startNats()
    const session = testSession('s1', { onHostLoss: 'move' })
    const a = startHost('a', url, JSON.stringify(session))
    const b = startHost('b', url)
    await expect.poll(() => [a.lines, b.lines].every((lines) => lines.some((line) => 'ready' in line))).toBe(true)
    await expect.poll(() => a.beliefs(1).length).toBeGreaterThan(10)
    a.child.kill('SIGSTOP')
    await expect
      .poll(
        () => {
          if (!b.lines.some((line) => 'taken' in line)) b.child.stdin.write('s1\n')
          return b.beliefs(2).length
        },
        { interval: 100 },
      )
      .toBeGreaterThan(10)
    a.child.kill('SIGCONT')
    await expect.poll(() => a.lines).toContainEqual({ fenced: 'b' })
    const lastOfA = a.beliefs(1).at(-1) ?? 0n
    const firstOfB = b.beliefs(2)[0] ?? 0n
    expect(lastOfA).toBeLessThan(firstOfB)
    expect(a.beliefs(2)).toEqual([])
  },
)

interface HostProcess {
  readonly child: ReturnType<typeof spawnHost>
  readonly lines: readonly Record<string, unknown>[]
  /** When it believed that it has the session in an epoch, by the monotonic clock of the machine. */
  beliefs(epoch: number): readonly bigint[]
}

function startHost(name: string, url: string, session?: string): HostProcess {
  const child = spawnHost([name, url, keyFile(), '400', ...(session === undefined ? [] : [session])])
  const lines: Record<string, unknown>[] = []
  createInterface(child.stdout).on('line', (line) => void lines.push(JSON.parse(line) as Record<string, unknown>))
  onTestFinished(async () => {
    if (child.exitCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const beliefs = (epoch: number): readonly bigint[] =>
    lines.flatMap((line) => (line['epoch'] === epoch ? [BigInt(String(line['at']))] : []))
  return { child, lines, beliefs }
}

function spawnHost(args: readonly string[]) {
  compilePackage(join(import.meta.dirname, '..'))
  const program = join(import.meta.dirname, 'support', 'host-process.mjs')
  return spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
}
