import { type ArchiveFile, readContent } from './archive-content.js'
import { readTarMember, readZipMember } from './archive-member.js'
import { writeBounded } from './write-bounded.js'

/** Which file to extract, from which archive, and where to. */
export interface Unpacking extends ArchiveFile {
  /** Path in the archive; one without a slash may be in any folder of it. */
  readonly member: string
  /** Where to; must not exist. Executable by its owner and readable by others. */
  readonly to: string
}

/**
 * Extracts one file: from a tar archive, plain or compressed with gzip, xz or bzip2; from a zip archive; from a single
 * compressed file; or copies a file that is no archive. The first bytes say which it is. No path of the archive is ever
 * written to.
 * @throws `install_failed`
 */
export async function unpack({ member, to, ...file }: Unpacking): Promise<void> {
  const write = async (content: AsyncIterable<Buffer>): Promise<void> => {
    await writeBounded(content, { to, mode: 0o755, maxBytes: file.maxBytes })
  }
  await readContent(file, {
    zip: () => readZipMember(file.archive, member, write),
    tar: (bytes) => readTarMember(bytes, member, write),
    single: write,
  })
}
