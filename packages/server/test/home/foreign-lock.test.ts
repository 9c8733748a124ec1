import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../../tooling/needs.ts'
import { openHome } from '../../src/home/open-home.js'
import { temporaryFolder } from '../fixtures/temporary-folder.js'

/** A home that an owner elsewhere has. @param ageMs since it touched its lock */
async function locked(ageMs: number, kernel = 'other-boot pid:[1] time:[1]'): Promise<{ root: string; lock: string }> {
  const root = await temporaryFolder()
  const lock = join(root, 'daemon.lock')
  writeFileSync(lock, JSON.stringify({ pid: process.pid, startTime: 'then', kernel, isBrief: false }))
  touch(lock, ageMs)
  return { root, lock }
}

function touch(lock: string, ageMs: number): void {
  const at = (Date.now() - ageMs) / 1_000
  utimesSync(lock, at, at)
}

test('17.3 a home whose gateway in another container touches its lock is refused', needs('linux'), async () => {
  const { root, lock } = await locked(4_000)
  const opening = openHome(root)
  const outcome = opening.catch((thrown: unknown) => thrown)
  // It is waited for: an owner of which nothing is known is not taken for dead at once.
  expect(await Promise.race([outcome, Promise.resolve('waits')])).toBe('waits')
  touch(lock, 0)
  expect(await outcome).toMatchObject({
    code: 'daemon_running',
    message: expect.stringContaining('of another container or machine') as string,
  })
  expect(JSON.parse(readFileSync(lock, 'utf8'))).toMatchObject({ startTime: 'then' })
})

test(
  '17.3 a lock of another container that is not touched any more is replaced, also by the same pid',
  needs('linux'),
  async () => {
    for (const ageMs of [3_600_000, 14_500, -3_600_000]) {
      const { root, lock } = await locked(ageMs)
      const held = await openHome(root)
      expect(held.isHeld()).toBe(true)
      expect(JSON.parse(readFileSync(lock, 'utf8'))).toMatchObject({
        pid: process.pid,
        kernel: expect.any(String) as string,
      })
      held.release()
    }
  },
)

test(
  '17.3 who lost a home to another container sees it, also where both have the same pid',
  needs('linux'),
  async () => {
    const root = await temporaryFolder()
    const held = await openHome(root)
    const lock = join(root, 'daemon.lock')
    const own = JSON.parse(readFileSync(lock, 'utf8')) as object
    writeFileSync(lock, JSON.stringify({ ...own, kernel: 'other-boot pid:[1] time:[1]' }))
    expect(held.isHeld()).toBe(false)
    held.release()
    expect(JSON.parse(readFileSync(lock, 'utf8'))).toMatchObject({ kernel: 'other-boot pid:[1] time:[1]' })
  },
)

const HOLD = `
import { openHome } from ${JSON.stringify(fileURLToPath(new URL('../../dist/home/open-home.js', import.meta.url)))}
await openHome(process.argv[1])
process.stdout.write('held')
setInterval(() => {}, 1e6)
`

test(
  '17.3 a gateway in another namespace of pids keeps a home, and leaves it when it is killed',
  { ...needs('bwrap', 'linux'), timeout: 60_000 },
  async () => {
    const root = await temporaryFolder()
    const args = ['--dev-bind', '/', '/', '--unshare-pid', '--proc', '/proc', '--die-with-parent']
    const holder = spawn('bwrap', [...args, process.execPath, '--input-type=module', '-e', HOLD, root], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void holder.kill('SIGKILL'))
    await once(holder.stdout, 'data')
    await expect(openHome(root)).rejects.toMatchObject({ code: 'daemon_running' })
    const ended = once(holder, 'close')
    holder.kill('SIGKILL')
    await ended
    const held = await openHome(root)
    expect(held.isHeld()).toBe(true)
    held.release()
  },
)
