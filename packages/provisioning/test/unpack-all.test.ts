import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { bunzip2 } from '../src/archive/archive-content.ts'
import { unpackAll } from '../src/archive/unpack-all.ts'
import { tar, zip } from './archives.ts'
import { folder } from './test-host.ts'

interface Unpacked {
  /** The folder that it was unpacked into. */
  readonly to: string
  readonly files: readonly string[]
}

/** Unpacks an archive; fails if anything is beside it and its folder. */
async function unpacked(archive: Uint8Array, more: { maxBytes?: number; path?: string } = {}): Promise<Unpacked> {
  const at = folder('unpack-all')
  const [file, to] = [join(at, 'archive'), join(at, 'out')]
  writeFileSync(file, archive)
  const options = { archive: file, to, single: 'bin/tool', maxBytes: 10_000, path: process.env['PATH'] ?? '', ...more }
  const unpacking = unpackAll(options)
  const isDone = await unpacking.then(
    () => true,
    () => false,
  )
  expect(readdirSync(at).toSorted()).toEqual(isDone ? ['archive', 'out'] : ['archive'])
  await unpacking
  return { to, files: readdirSync(to, { recursive: true }).map(String).toSorted() }
}

const textIn = ({ to }: Unpacked, path: string): string => readFileSync(join(to, path), 'utf8')
const modeIn = ({ to }: Unpacked, path: string): string => (statSync(join(to, path)).mode & 0o7777).toString(8)

const FILES = ['app', 'app/lib.js', 'app/tool']

test('18.2 a tar archive is unpacked with its folders, without setuid and write permission for others', async () => {
  const archive = await tar(
    [{ name: './app/', type: 'directory' }],
    [{ name: './app/tool', mode: 0o6777 }, 'the tool'],
    [{ name: 'app/lib.js', mode: 0o666 }, 'the library'],
  )
  for (const form of [archive, gzipSync(archive)]) {
    const got = await unpacked(form)
    expect([got.files, textIn(got, 'app/tool')]).toEqual([FILES, 'the tool'])
    expect([modeIn(got, 'app/tool'), modeIn(got, 'app/lib.js')]).toEqual(['755', '644'])
  }
})

test('18.2 a zip archive is unpacked the same way', async () => {
  const got = await unpacked(
    zip(
      { name: 'app/', content: '', mode: 0o040755 },
      { name: 'app/tool', content: 'the tool' },
      { name: 'app/lib.js', content: 'the library', mode: 0o100644 },
    ),
  )
  expect([got.files, textIn(got, 'app/lib.js')]).toEqual([FILES, 'the library'])
  expect([modeIn(got, 'app/tool'), modeIn(got, 'app/lib.js')]).toEqual(['755', '644'])
})

test('18.2 what is no archive is the program, whatever its name says', async () => {
  for (const content of [Buffer.from('#!/bin/sh\necho'), gzipSync('#!/bin/sh\necho')]) {
    const got = await unpacked(content)
    expect([got.files, textIn(got, 'bin/tool'), modeIn(got, 'bin/tool')]).toEqual([
      ['bin', 'bin/tool'],
      '#!/bin/sh\necho',
      '755',
    ])
  }
})

test('18.2 links inside of the archive are kept, a hard link is a copy, and a link to nothing is left out', async () => {
  const got = await unpacked(
    await tar(
      [{ name: 'Current', type: 'symlink', linkname: 'versions/1' }],
      [{ name: 'versions/1/tool' }, 'the tool'],
      [{ name: 'versions/1/same', type: 'link', linkname: 'versions/1/tool' }],
      [{ name: 'bin/tool', type: 'symlink', linkname: '../Current/tool' }],
      [{ name: 'bin/nothing', type: 'symlink', linkname: 'gone' }],
    ),
  )
  expect([textIn(got, 'bin/tool'), textIn(got, 'versions/1/same')]).toEqual(['the tool', 'the tool'])
  expect(lstatSync(join(got.to, 'versions/1/same')).nlink).toBe(1)
  expect(existsSync(join(got.to, 'bin/nothing'))).toBe(false)
})

const OUT = 'leads out of its folder'
const tool = { name: 'tool' } as const

test.each([
  ['a path with dots', [[{ name: '../tool' }, 'x']]],
  ['dots in the middle', [[{ name: 'a/../../tool' }, 'x']]],
  ['an absolute path', [[{ name: '/tmp/tool' }, 'x']]],
  ['backslashes', [[{ name: '..\\tool' }, 'x']]],
  ['a drive', [[{ name: 'C:\\tool' }, 'x']]],
  ['a folder above', [[{ name: '../out2/', type: 'directory' }]]],
  ['a link to a path above', [[{ name: 'a', type: 'symlink', linkname: '../..' }]]],
  ['a link to an absolute path', [[{ name: 'a', type: 'symlink', linkname: '/etc/passwd' }]]],
  ['a hard link to a path above', [[{ name: 'a', type: 'link', linkname: '../archive' }]]],
  ['a hard link to an absolute path', [[{ name: 'a', type: 'link', linkname: '/etc/passwd' }]]],
  [
    'links that lead out together',
    [[{ name: 'd/b', type: 'symlink', linkname: '..' }], [{ name: 'a', type: 'symlink', linkname: 'd/b/../..' }]],
  ],
  ...['p', 'P'].map(
    (again) =>
      [
        `a link below a link, called ${again}`,
        [
          [{ name: 'p', type: 'symlink', linkname: 'q/..' }],
          [{ name: 'q', type: 'symlink', linkname: '.' }],
          [{ name: `${again}/x/y`, type: 'symlink', linkname: 'z' }],
        ],
      ] as const,
  ),
] as const)('18.2 %s: nothing of the archive is left, and nothing is written elsewhere', async (_what, entries) => {
  const archive = await tar([tool, 'first'], ...entries)
  await expect(unpacked(archive)).rejects.toMatchObject({
    code: 'install_failed',
    message: expect.stringContaining(OUT),
  })
})

test('18.2 nothing is written through a link of the archive', async () => {
  const archive = await tar([{ name: 'a', type: 'symlink', linkname: 'b' }], [{ name: 'a/tool' }, 'x'])
  await expect(unpacked(archive)).rejects.toMatchObject({ code: 'install_failed' })
})

test.each([
  ['a path with dots', { name: '../tool', content: 'x' }],
  ['an absolute path', { name: '/tmp/tool', content: 'x' }],
  ['a link to an absolute path', { name: 'a', content: '/etc/passwd', mode: 0o120777 }],
  ['a link to a path above', { name: 'a', content: '../../x', mode: 0o120777 }],
  ['a link with a long target', { name: 'a', content: 'x'.repeat(5_000), mode: 0o120777 }],
  ['a size that is a lie', { name: 'a', content: 'x', size: 2 ** 31 }],
])('18.2 a zip archive with %s is refused', async (_what, entry) => {
  await expect(unpacked(zip({ name: 'tool', content: 'first' }, entry))).rejects.toMatchObject({
    code: 'install_failed',
  })
})

test('18.2 an archive that is too large unpacked is refused: one file, many files, and names of one file', async () => {
  const large = [{ name: 'a' }, 'x'.repeat(6_000)] as const
  const archives = [
    gzipSync(await tar([{ name: 'a' }, 'x'.repeat(5_000_000)])),
    await tar(large, [{ name: 'b' }, 'x'.repeat(6_000)]),
    await tar(large, [{ name: 'b', type: 'link', linkname: 'a' }]),
    gzipSync(Buffer.alloc(5_000_000)),
    zip({ name: 'a', content: 'x'.repeat(20_000) }),
  ]
  for (const archive of archives)
    await expect(unpacked(archive)).rejects.toMatchObject({ code: 'install_failed', message: /too large/ })
})

test('18.2 an archive that is cut off, damaged, or has two files of one path is refused', async () => {
  const whole = await tar([{ name: 'a' }, 'x'.repeat(3_000)], [{ name: 'b' }, 'x'.repeat(3_000)])
  const archives = [
    whole.subarray(0, 5_000),
    gzipSync(whole).subarray(0, 60),
    Buffer.from('PK\u0003\u0004 nothing'),
    await tar([{ name: 'a' }, '1'], [{ name: 'a' }, '2']),
    await tar([{ name: 'a' }, '1'], [{ name: 'a/b' }, '2']),
    await tar([{ name: 'a' }, '1'], [{ name: 'b' }, '2'], [{ name: 'b', type: 'link', linkname: 'a' }]),
  ]
  for (const archive of archives) await expect(unpacked(archive)).rejects.toMatchObject({ code: 'install_failed' })
})

test('18.2 devices and pipes of an archive are passed over', async () => {
  const got = await unpacked(
    await tar([{ name: 'pipe', type: 'fifo' }], [{ name: 'disk', type: 'block-device' }], [{ name: 'tool' }, 'x']),
  )
  expect(got.files).toEqual(['tool'])
})

/** Packs with the library of Python: Node has none that packs. */
const bzip2 = (input: Uint8Array): Buffer =>
  execFileSync('python3', ['-c', 'import bz2, sys; sys.stdout.buffer.write(bz2.compress(sys.stdin.buffer.read()))'], {
    input,
  })

/** With another checksum of its first block. */
const damaged = (packed: Buffer): Buffer => Buffer.from(packed).fill(packed.readUInt8(12) ^ 0xff, 12, 13)

test('18.2 bzip2 that is cut off or damaged is refused, and no bomb is unpacked', needs('python3'), async () => {
  const packed = bzip2(await tar([{ name: 'goose' }, 'x'.repeat(5_000)]))
  const got = await unpacked(packed)
  expect([got.files, textIn(got, 'goose').length]).toEqual([['goose'], 5_000])
  for (const archive of [
    packed.subarray(0, packed.length - 20),
    damaged(packed),
    damaged(bzip2(Buffer.from('program'))),
  ])
    await expect(unpacked(archive)).rejects.toMatchObject({ code: 'install_failed' })
  const bomb = bzip2(await tar([{ name: 'a' }, 'x'.repeat(5_000_000)]))
  await expect(unpacked(bomb)).rejects.toMatchObject({ message: /too large/ })
})

test('18.2 where there is no bzip2, a library unpacks the same and refuses the same', needs('python3'), async () => {
  const text = Buffer.from('the program\n'.repeat(100_000))
  const packed = bzip2(text)
  const read = async (bytes: Buffer): Promise<Buffer> => {
    const halves = [bytes.subarray(0, bytes.length / 2), bytes.subarray(bytes.length / 2)]
    return buffer(bunzip2(Readable.from(halves)))
  }
  expect((await read(packed)).equals(text)).toBe(true)
  for (const bad of [packed.subarray(0, packed.length - 20), damaged(packed), packed.subarray(0, 4)])
    await expect(read(bad)).rejects.toMatchObject({ code: 'install_failed' })
  const bomb = Buffer.concat(Array(100).fill(bzip2(Buffer.alloc(10_000_000))))
  await expect(read(bomb)).rejects.toMatchObject({ code: 'install_failed', message: /too large/ })
})
