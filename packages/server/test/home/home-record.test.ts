import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assertHomeReadable, homeRecordText, readHomeRecord } from '../../src/home/home-record.js'
import { HOME_FORMAT } from '../../src/home/home-steps.js'
import { openHome } from '../../src/home/open-home.js'
import { temporaryFolder } from '../fixtures/temporary-folder.js'

const BY = { version: '1.2.3', build: 'abc' }

async function homeWith(text: string): Promise<string> {
  const root = await temporaryFolder()
  writeFileSync(join(root, 'home.json'), text)
  return root
}

test('16 a home without home.json has no record, nor has one that does not exist', async () => {
  const root = await temporaryFolder()
  expect(readHomeRecord(root)).toBeUndefined()
  expect(readHomeRecord(join(root, 'none'))).toBeUndefined()
})

test('16 a home of a newer agentproto is refused with both versions and what to do, whatever else its file says', async () => {
  const format = HOME_FORMAT + 1
  const root = await homeWith(
    JSON.stringify({ format, writtenBy: { version: '7.1.0', build: 'f00' }, upgrades: 'x', pending: 7 }),
  )
  const refused = {
    code: 'home_newer',
    message: expect.stringMatching(
      /was written by agentproto 7\.1\.0 \(f00\), in format 2.*at most format 1, which this agentproto 1\.2\.3 \(abc\) knows.*Use that agentproto/s,
    ) as string,
  }
  expect(() => assertHomeReadable(root, BY)).toThrow(expect.objectContaining(refused) as Error)
  await expect(openHome(root, { by: BY })).rejects.toMatchObject(refused)
  // It is not even locked.
  expect(readdirSync(root)).toEqual(['home.json'])
})

const RECORD = { format: 1, writtenBy: BY, writtenAt: '2026-11-22T12:00:00.000Z', upgrades: [] }

test.each([
  ['empty', ''],
  ['no JSON', '{"format":'],
  ['no object', '[1]'],
  ['without a format', '{}'],
  ['a negative format', JSON.stringify({ ...RECORD, format: -1 })],
  ['format 0', JSON.stringify({ ...RECORD, format: 0 })],
  ['a broken number', JSON.stringify({ ...RECORD, format: 1.5 })],
  ['a huge number', '{"format":1e99}'],
  ['a larger one', '{"format":1e999}'],
  ['a text', '{"format":"1"}'],
  ['a list', '{"format":[1]}'],
  ['a prototype', '{"__proto__":{"format":1}}'],
  ['a large file', JSON.stringify({ ...RECORD, padding: 'x'.repeat(64 * 1024) })],
  ['deep nesting', `{"format":${'['.repeat(30_000)}`],
])('16 a home.json that is not valid is refused, never taken for an old home: %s', async (_, text) => {
  const root = await homeWith(text)
  await expect(openHome(root)).rejects.toMatchObject({ code: 'home_invalid' })
  expect(readdirSync(root)).toEqual(['home.json'])
})

test('16 a home.json that is a link, a folder or a pipe is refused', async () => {
  const outside = await homeWith(homeRecordText(RECORD))
  const kinds: readonly ((path: string) => unknown)[] = [
    (path) => symlinkSync(join(outside, 'home.json'), path),
    (path) => symlinkSync(join(outside, 'none'), path),
    (path) => mkdirSync(path),
    ...(process.platform === 'win32' ? [] : [(path: string) => execFileSync('mkfifo', [path])]),
    (path) => symlinkSync('/dev/zero', path),
  ]
  for (const make of kinds) {
    const root = await temporaryFolder()
    make(join(root, 'home.json'))
    await expect(openHome(root)).rejects.toMatchObject({ code: 'home_invalid' })
  }
})

test('16 texts of a home.json cannot control a terminal, and are cut', async () => {
  const root = await homeWith(
    JSON.stringify({ ...RECORD, format: 9, writtenBy: { version: `\u001b[31m${'x'.repeat(1_000)}\n` } }),
  )
  const error: unknown = await openHome(root, { by: BY }).catch((thrown: unknown) => thrown)
  expect(String(error)).toMatch(/^AgentprotoError: [\x20-\x7e]{100,700}$/)
})
