import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { unpack } from '../src/archive/unpack.ts'
import { tar, zip } from './archives.ts'
import { folder, textAt } from './test-host.ts'

/** Unpacks `tool` from an archive; returns the text of what came of it. */
async function unpacked(archive: Buffer, maxBytes = 1_000): Promise<string> {
  const at = folder('unpack')
  const [file, to] = [join(at, 'archive'), join(at, 'out')]
  writeFileSync(file, archive)
  await unpack({ archive: file, member: 'tool', to, maxBytes, path: process.env['PATH'] ?? '' })
  expect(readdirSync(at).toSorted()).toEqual(['archive', 'out'])
  return textAt(to)
}

test('a link or a folder that is called like the file is passed over', async () => {
  const archive = await tar(
    [{ name: 'a/tool', type: 'symlink', linkname: '/etc/passwd' }],
    [{ name: 'b/tool', type: 'link', linkname: '../../outside' }],
    [{ name: 'tool', type: 'directory' }],
    [{ name: 'c/tool' }, 'the file'],
  )
  expect(await unpacked(archive)).toBe('the file')
})

test('paths that lead out are never written to, of two files the first is taken, and case counts', async () => {
  const archive = await tar(
    [{ name: '/tmp/TOOL' }, 'other case'],
    [{ name: '../../tool' }, 'first'],
    [{ name: '/usr/bin/tool' }, 'second'],
    [{ name: 'tool' }, 'third'],
  )
  expect(await unpacked(archive)).toBe('first')
  expect(existsSync('/usr/bin/tool')).toBe(false)
})

test('a file that is too large unpacked is refused, and so is one that is cut off', async () => {
  const bomb = gzipSync(await tar([{ name: 'tool' }, 'x'.repeat(5_000_000)]))
  await expect(unpacked(bomb)).rejects.toMatchObject({ code: 'install_failed', message: /too large/ })
  await expect(unpacked(gzipSync(Buffer.alloc(5_000_000)))).rejects.toMatchObject({ message: /too large/ })
  const whole = await tar([{ name: 'other' }, 'x'.repeat(5_000)], [{ name: 'tool' }, 'the file'])
  await expect(unpacked(whole.subarray(0, 3_000))).rejects.toMatchObject({ code: 'install_failed' })
})

test('a header that claims to be huge is refused before it is read', async () => {
  const header = (await tar([{ name: 'x' }])).subarray(0, 512)
  header.write('x', 156)
  header.write('77777777777\0', 124)
  header.write(' '.repeat(8), 148)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  await expect(unpacked(Buffer.concat([header, Buffer.alloc(4_096)]))).rejects.toMatchObject({ message: /max size/ })
})

test('a zip archive is held to the same', async () => {
  const link = { name: 'a/tool', content: '/etc/passwd', mode: 0o120777 }
  const upper = { name: 'b/TOOL', content: 'other case' }
  expect(await unpacked(zip(link, upper, { name: 'c/tool', content: 'first' }, { name: 'tool', content: '2' }))).toBe(
    'first',
  )
  const large = zip({ name: 'tool', content: 'x'.repeat(2_000) })
  await expect(unpacked(large)).rejects.toMatchObject({ code: 'install_failed', message: /too large/ })
  for (const name of ['../tool', '/usr/bin/tool'])
    await expect(unpacked(zip({ name, content: 'x' }))).rejects.toMatchObject({ code: 'install_failed' })
  await expect(unpacked(zip({ name: 'tool', content: 'x', size: 2 ** 31 }))).rejects.toMatchObject({
    code: 'install_failed',
  })
})
