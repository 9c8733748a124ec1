import { expect, test } from 'vitest'
import { testOf } from './able.js'
import { leftovers } from './leftovers.js'
import { connect, open, startFailure, textOf, timed } from './opened.js'
import type { ArmSubject } from './subject.js'

/** An agent that never answers is given up after this, in milliseconds. */
const SOON = 400

export function testStarting(subject: ArmSubject): void {
  startsOf(subject)
  refusalsOf(subject)
  abortsOf(subject)
}

function startsOf(subject: ArmSubject): void {
  test('the agent gets the environment, the arguments and the folder that it was given, and nothing else', async () => {
    const { turn, launch } = await open(subject)
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

  testOf(subject, 'stderr-flood')(
    'an agent that writes two megabytes to stderr at its start still starts',
    async () => {
      const { turn } = await open(subject, { how: 'stderr-flood' })
      expect(textOf(await turn('echo', 'hi'))).toBe('echo hi')
    },
  )
}

/** What a shell or a runtime sets by itself. */
const SHELL_OWN: ReadonlySet<string> = new Set(['PWD', 'OLDPWD', 'SHLVL', '_', 'LINES', 'COLUMNS', 'TERM'])

function refusalsOf(subject: ArmSubject): void {
  test('F28 a missing executable and a missing folder are different errors', async () => {
    expect(await startFailure(subject, { launch: { command: '/no/such/agent' } })).toMatchObject({
      code: 'agent_not_installed',
    })
    expect(await startFailure(subject, { launch: { cwd: '/no/such/folder' } })).toMatchObject({ code: 'cwd_invalid' })
  })

  testOf(subject, 'dies-at-once')(
    'an agent that ends at once is a failed handshake with the end of its stderr',
    async () => {
      const error = await startFailure(subject, { how: 'dies-at-once' })
      expect(error).toMatchObject({ code: 'handshake_failed' })
      expect(error.message).toContain('no configuration found')
    },
  )

  testOf(subject, 'dies-in-handshake')('an agent that ends in the handshake is a failed one', async () => {
    expect(await startFailure(subject, { how: 'dies-in-handshake' })).toMatchObject({ code: 'handshake_failed' })
  })

  testOf(subject, 'refuses')('a refused handshake says why', async () => {
    const error = await startFailure(subject, { how: 'refuses' })
    expect(error).toMatchObject({ code: 'handshake_failed' })
    expect(error.message).toContain('not today')
  })

  testOf(subject, 'wrong-version')('an agent that speaks another version is refused', async () => {
    expect(await startFailure(subject, { how: 'wrong-version' })).toMatchObject({ code: 'handshake_failed' })
  })
}

function abortsOf(subject: ArmSubject): void {
  testOf(subject, 'silent')(
    'connecting to an agent that never answers ends within its limit, with nothing left',
    async () => {
      const limits = { handshakeMs: SOON }
      expect(await startFailure(subject, { how: 'silent', limits })).toMatchObject({ code: 'timeout' })
    },
  )

  testOf(subject, 'half-open')(
    'an agent that shakes hands and opens no session is given up within the limit',
    async () => {
      const limits = { openMs: SOON, handshakeMs: SOON * 8 }
      expect(await startFailure(subject, { how: 'half-open', limits })).toMatchObject({ code: 'timeout' })
    },
  )

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

  testOf(subject, 'orphan')(
    'F22 what a failed start has left running is gone before the caller hears of it',
    async () => {
      const { launch } = subject.start('orphan')
      const failing = connect(subject, { how: 'orphan', launch, limits: { handshakeMs: SOON * 4 } })
      await expect(failing).rejects.toMatchObject({ code: 'timeout' })
      expect(leftovers(launch.marker)).toEqual([])
    },
  )
}
