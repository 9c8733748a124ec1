import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@agentproto/contracts'
import { expect, onTestFinished, test, vi } from 'vitest'
import { processesMarked } from '../../../tooling/process-table.ts'
import { OBSERVATION_LIMITS, observeLaunch } from '../src/observe/observe-launch.ts'
import { inScratchFolder, scratchVariables } from '../src/observe/scratch-folder.ts'

const fixture = fileURLToPath(new URL('fixtures/observed.mjs', import.meta.url))

/** Observes the fixture agent, which may have little; afterwards nothing of it may be there. */
async function observe(word: string): Promise<unknown> {
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'agentproto-bounds-')))
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(() => void vi.unstubAllEnvs())
  let path = ''
  try {
    return await inScratchFolder(systemClock, (scratch) => {
      ;({ path } = scratch)
      const { work: cwd, marker } = scratch
      const variables = scratchVariables(scratch, { metadata: {} })
      const env = { PATH: process.env['PATH'] ?? '', AGENTPROTO_SESSION_ID: marker, ...variables }
      return observeLaunch({
        launch: { command: process.execPath, args: [fixture, word], cwd, env, marker },
        scratch,
        most: { files: 50, bytes: 1 << 20, processes: 20 },
        limits: { ...OBSERVATION_LIMITS, handshakeMs: 30_000 },
        clock: systemClock,
        signal: new AbortController().signal,
        client: { name: 'test', version: '1.0.0' },
      })
    })
  } finally {
    expect([processesMarked(temporary), existsSync(path)]).toEqual([[], false])
  }
}

test('18.3 an agent that fills its home with one file is ended at a bound', async () => {
  await expect(observe('bytes')).rejects.toMatchObject({
    code: 'handshake_failed',
    message: expect.stringContaining('more than 1 MiB'),
  })
})

test('18.3 an agent that fills its home with small files is ended at a bound', async () => {
  await expect(observe('files')).rejects.toMatchObject({ message: expect.stringContaining('more than 50 files') })
})

test('18.3 an agent that starts one process after the other is ended at a bound, with all of them', async () => {
  await expect(observe('forks')).rejects.toMatchObject({ message: expect.stringContaining('more than 20 processes') })
})
