import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { pack, type Header } from 'tar-stream'

/** A tar archive of entries with their contents. */
export async function tar(
  ...entries: readonly (readonly [Partial<Header> & Pick<Header, 'name'>, string?])[]
): Promise<Buffer> {
  const archive = pack()
  for (const [header, content] of entries) archive.entry(header, content ?? '')
  archive.finalize()
  return buffer(Readable.from(archive))
}

/** A zip archive of stored entries, written as the format's own fields, so that it can lie. */
export function zip(...entries: readonly { name: string; content: string; mode?: number; size?: number }[]): Buffer {
  const locals: Buffer[] = []
  const central: Buffer[] = []
  let at = 0
  for (const { name, content, mode = 0o100755, size = content.length } of entries) {
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt32LE(crc32(content), 14)
    local.writeUInt32LE(size, 18)
    local.writeUInt32LE(size, 22)
    local.writeUInt16LE(name.length, 26)
    const record = Buffer.alloc(46)
    record.writeUInt32LE(0x02014b50, 0)
    record.writeUInt16LE(3 << 8, 4)
    record.writeUInt32LE(crc32(content), 16)
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
