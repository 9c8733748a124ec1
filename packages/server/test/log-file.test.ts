import { mkdir, readdir, readFile, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock as clock } from '@agentproto/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { LogFile } from '../src/telemetry/log-file.js'
import { temporaryFolder } from './fixtures/temporary-folder.js'

test('a file that cannot be opened costs its lines, and the next line tries again', async () => {
  const path = join(await temporaryFolder(), 'log.jsonl')
  // A folder is in its place.
  await mkdir(path)
  const errors: Error[] = []
  const file = new LogFile({ path, maxBytes: 1_024, files: 2, clock, onError: (error) => errors.push(error) })
  file.append('lost\n')
  await expect.poll(() => errors.length).toBe(1)
  await rmdir(path)
  file.append('kept\n')
  await file.close()
  expect(await readFile(path, 'utf8')).toBe('kept\n')
})

test('one file is one file: what was rotated is removed', async () => {
  const folder = await temporaryFolder()
  const file = new LogFile({ path: join(folder, 'log.jsonl'), maxBytes: 100, files: 1, clock })
  for (let at = 0; at < 20; at++) file.append(`${'x'.repeat(40_000)}\n`)
  await file.close()
  expect(await readdir(folder)).toEqual(['log.jsonl'])
})

test('a file that is full when it is opened is rotated first', async () => {
  const folder = await temporaryFolder()
  for (const text of ['first\n', 'second\n']) {
    const file = new LogFile({ path: join(folder, 'log.jsonl'), maxBytes: 5, files: 3, clock })
    file.append(text)
    await file.close()
  }
  const names = (await readdir(folder)).toSorted()
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  expect(texts.join('')).toContain('second\n')
  expect(texts.join('')).toContain('first\n')
  expect(names.length).toBeLessThanOrEqual(3)
})

test('lines are collected for a moment, and written together', async () => {
  const path = join(await temporaryFolder(), 'log.jsonl')
  const timers: (() => void)[] = []
  const after = (_: number, run: () => void) => {
    timers.push(run)
    return { cancel: () => undefined }
  }
  const file = new LogFile({ path, maxBytes: 1_024, files: 2, clock: { now: clock.now, after } })
  onTestFinished(() => file.close())
  file.append('one\n')
  file.append('two\n')
  expect(timers).toHaveLength(1)
  timers[0]?.()
  await expect.poll(() => readFile(path, 'utf8').catch(() => '')).toBe('one\ntwo\n')
})
