import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AgentprotoError } from '@agentproto/contracts'
import { extract } from 'tar-stream'
import { type Entry, openPromise } from 'yauzl'

/** How many paths of an archive an error names. */
const NAMED_MAX = 20
/** Of a zip entry's external attributes, where they are Unix: the type of the file. */
const TYPE_MASK = 0o170000
const LINK = 0o120000

/**
 * The first regular file of a tar archive that has the path, or for a name without a slash the name. Links, devices and
 * folders are passed over, and nothing is written anywhere.
 * @throws `install_failed` with the paths that are there
 */
export async function readTarMember<T>(
  stream: AsyncIterable<Buffer>,
  member: string,
  read: (content: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const entries = extract()
  const feeding = pipeline(stream, entries)
  // A failure of the stream reaches the loop below through the entries.
  feeding.catch(() => undefined)
  const paths: string[] = []
  try {
    for await (const entry of entries) {
      const { name, type } = entry.header
      if (type === 'file' && isMember(name, member)) return await read(entry as AsyncIterable<Buffer>)
      if (type === 'file') paths.push(name)
      entry.resume()
    }
    // An archive that is cut off fails here, and not as one without the file.
    await feeding
    throw notFound(member, paths)
  } finally {
    entries.destroy()
  }
}

/** The same for a zip archive. Encrypted entries, and names that lead out of a folder, are errors. */
export async function readZipMember<T>(
  file: string,
  member: string,
  read: (content: Readable) => Promise<T>,
): Promise<T> {
  const zip = await openPromise(file, { autoClose: false })
  const paths: string[] = []
  try {
    for await (const entry of zip.eachEntry()) {
      if (!isRegular(entry)) continue
      if (isMember(entry.fileName, member)) return await read(await zip.openReadStreamPromise(entry))
      paths.push(entry.fileName)
    }
    throw notFound(member, paths)
  } finally {
    zip.close()
  }
}

const isRegular = (entry: Entry): boolean => entryType(entry) === 'file'

/** What an entry of a zip archive is. Archives that were not made on Unix do not say it, and have no links. */
export function entryType({ fileName, externalFileAttributes }: Entry): 'file' | 'folder' | 'link' {
  if (fileName.endsWith('/')) return 'folder'
  return ((externalFileAttributes >>> 16) & TYPE_MASK) === LINK ? 'link' : 'file'
}

function isMember(path: string, member: string): boolean {
  const plain = path.replace(/^\.\//, '')
  return plain === member.replace(/^\.\//, '') || (!member.includes('/') && plain.endsWith(`/${member}`))
}

const notFound = (member: string, paths: readonly string[]): AgentprotoError =>
  new AgentprotoError('install_failed', 'The download does not hold the file that the manifest names', {
    expected: member,
    given: paths.slice(0, NAMED_MAX).join(', '),
  })
