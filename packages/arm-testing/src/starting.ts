import { expect, test } from 'vitest'
import { textOf } from './cases/turn-signals.js'
import { leftovers } from './leftovers.js'
import { connect, type OnTurn, open, startFailure, testOf, timed } from './opened.js'
import type { ArmSubject, StartName } from './subject.js'

/** An agent that never answers is given up after this, in milliseconds. */
const SOON = 400

export function testStarting(subject: ArmSubject, on: OnTurn): void {
  testStarts(subject, on)
  testRefusals(subject)
  testAborts(subject)
}

function testStarts(subject: ArmSubject, on: OnTurn): void {
  on('env', 'the agent gets the environment, arguments and folder given, and no more', async ({ turn, launch }) => {
    // An executable may set variables of its own; none of the host's may come through.
    const env = JSON.parse(textOf(await turn('env'))) as Record<string, string>
    expect(env).toMatchObject(launch.env)
    expect(
      Object.keys(env).filter((name) => !(name in launch.env) && name in process.env && !SHELL_OWN.has(name)),
    ).toEqual([])
    const place = JSON.parse(textOf(await turn('place'))) as { cwd: string }
    expect(place.cwd).toBe(launch.cwd)
  })

  testOf(subject, 'noisy')('banners, blank lines and broken JSON before the handshake do no harm', async () => {
    const { turn } = await open(subject, { how: 'noisy' })
    expect(textOf(await turn('echo', 'hi'))).toBe('echo hi')
  })

  testOf(subject, 'stderr-flood')('an agent that starts with two megabytes of stderr still starts', async () => {
    const { turn } = await open(subject, { how: 'stderr-flood' })
    expect(textOf(await turn('echo', 'hi'))).toBe('echo hi')
  })
}

/** What a shell or a runtime sets by itself. */
const SHELL_OWN: ReadonlySet<string> = new Set(['PWD', 'OLDPWD', 'SHLVL', '_', 'LINES', 'COLUMNS', 'TERM'])

function testRefusals(subject: ArmSubject): void {
  testOf(subject, 'missing')('F28 a missing executable and a missing folder are different errors', async () => {
    expect(await startFailure(subject, { launch: { command: '/no/such/agent' } })).toMatchObject({
      code: 'agent_not_installed',
    })
    expect(await startFailure(subject, { launch: { cwd: '/no/such/folder' } })).toMatchObject({ code: 'cwd_invalid' })
  })

  for (const { how, title, says = '' } of FAILED_HANDSHAKES) {
    testOf(subject, how)(title, async () => {
      const error = await startFailure(subject, { how })
      expect(error).toMatchObject({ code: 'handshake_failed' })
      expect(error.message).toContain(says)
    })
  }
}

const FAILED_HANDSHAKES: readonly { readonly how: StartName; readonly title: string; readonly says?: string }[] = [
  { how: 'dies-at-once', title: 'an agent that ends at once fails with its stderr', says: 'no configuration found' },
  { how: 'dies-in-handshake', title: 'an agent that ends in the handshake is a failed one' },
  { how: 'refuses', title: 'a refused handshake says why', says: 'not today' },
  { how: 'wrong-version', title: 'an agent that speaks another version is refused' },
]

function testAborts(subject: ArmSubject): void {
  testOf(subject, 'silent')('connecting to a silent agent ends within its limit, with nothing left', async () => {
    const limits = { handshakeMs: SOON }
    expect(await startFailure(subject, { how: 'silent', limits })).toMatchObject({ code: 'timeout' })
  })

  testOf(subject, 'half-open')('an agent that opens no session is given up within the limit', async () => {
    const limits = { openMs: SOON, handshakeMs: SOON * 8 }
    expect(await startFailure(subject, { how: 'half-open', limits })).toMatchObject({ code: 'timeout' })
  })

  testOf(subject, 'silent')('an abort ends the start at once', async () => {
    const aborting = new AbortController()
    setTimeout(() => aborting.abort(), SOON).unref()
    const failing = startFailure(subject, { how: 'silent', signal: aborting.signal })
    expect(await timed(failing)).toBeLessThan(10_000)
    expect(await failing).toMatchObject({ code: 'cancelled' })
  })

  test('a start that was aborted before it began spawns nothing', async () => {
    const error = await startFailure(subject, { signal: AbortSignal.abort() })
    expect(error).toMatchObject({ code: 'cancelled' })
  })

  testOf(subject, 'orphan')('F22 what a failed start left running is gone before it rejects', async () => {
    const { launch } = subject.start('orphan')
    const failing = connect(subject, { how: 'orphan', launch, limits: { handshakeMs: SOON * 4 } })
    await expect(failing).rejects.toMatchObject({ code: 'timeout' })
    expect(leftovers(launch.marker)).toEqual([])
  })
}
