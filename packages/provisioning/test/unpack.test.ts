import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack, type Header } from 'tar-stream'
import { expect, test } from 'vitest'
import { unpack } from '../src/archive/unpack.ts'
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

async function tar(
  ...entries: readonly (readonly [Partial<Header> & Pick<Header, 'name'>, string?])[]
): Promise<Buffer> {
  const archive = pack()
  for (const [header, content] of entries) archive.entry(header, content ?? '')
  archive.finalize()
  return buffer(Readable.from(archive))
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

/** A zip archive of stored entries, written as the format's own fields, so that it can lie. */
function zip(...entries: readonly { name: string; content: string; mode?: number; size?: number }[]): Buffer {
  const locals: Buffer[] = []
  const central: Buffer[] = []
  let at = 0
  for (const { name, content, mode = 0o100755, size = content.length } of entries) {
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt32LE(size, 18)
    local.writeUInt32LE(size, 22)
    local.writeUInt16LE(name.length, 26)
    const record = Buffer.alloc(46)
    record.writeUInt32LE(0x02014b50, 0)
    record.writeUInt16LE(3 << 8, 4)
    record.writeUInt32LE(size, 20)
    record.writeUInt32LE(size, 24)
    record.writeUInt16LE(name.length, 28)
    record.writeUInt32LE((mode << 16) >>> 0, 38)
    record.writeUInt32LE(at, 42)
    locals.push(local, Buffer.from(name + content))
    central.push(record, Buffer.from(name))
    at += 30 + name.length + content.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, directory, end])
}

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
