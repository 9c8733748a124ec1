import type { Git, GitCall } from '../git/git.js'
import { pathBytes } from '../git/path-text.js'
import { recordBatches } from '../git/records.js'
import { ContainedFolder } from '../rewind/contained-folder.js'
import { blobId, readRecordable } from '../rewind/file-content.js'
import { someAtOnce } from '../some-at-once.js'

export interface ContainedEntries {
  readonly git: Git
  /** With the work tree and its index. */
  readonly call: (args: readonly string[], input?: Iterable<Buffer>) => GitCall
  readonly workTree: string
  readonly paths: readonly string[]
  readonly fileBytes: number
}

/** Makes the index agree with what these paths are when no link on the way is followed. */
export async function correctEntries({ git, call, workTree, paths, fileBytes }: ContainedEntries): Promise<void> {
  const recorded = await entriesOf(git, call, new Set(paths))
  const files = new ContainedFolder(workTree)
  const corrections: Buffer[] = []
  await someAtOnce(paths, async (path) => {
    const before = recorded.get(path)
    const found = await files.inParent({ path }, ({ at }) => readRecordable(at, fileBytes)).catch(() => undefined)
    const entry = found === undefined ? undefined : `${found.mode} ${blobId(found.content)}`
    if (entry === before) return
    if (found === undefined) corrections.push(pathBytes(`0 ${ABSENT}\t${path}\0`))
    else {
      const oid = await git.text(call(['hash-object', '-w', '--stdin', '--no-filters'], [found.content]))
      corrections.push(pathBytes(`${found.mode} ${oid}\t${path}\0`))
    }
  })
  if (corrections.length > 0) await git.run(call(['update-index', '-z', '--index-info'], corrections))
}

const ABSENT = '0'.repeat(40)

/** Mode and object of some paths of the index. */
async function entriesOf(git: Git, call: ContainedEntries['call'], wanted: ReadonlySet<string>) {
  const found = new Map<string, string>()
  for await (const batch of recordBatches(git.stream(call(['ls-files', '-z', '--stage']))))
    for (const record of batch) {
      const tab = record.indexOf('\t')
      const path = record.slice(tab + 1)
      // Mode, object and stage, which is 0.
      if (wanted.has(path)) found.set(path, record.slice(0, tab - 2))
    }
  return found
}
