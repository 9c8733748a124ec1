import type { FileChange } from '@agentproto/contracts/agent'
import { changeCounts } from './change-counts.js'
import type { Paint } from './paint.js'
import { oneLine } from './printable.js'

const LETTERS: Readonly<Record<FileChange['status'], string>> = {
  added: 'A',
  modified: 'M',
  deleted: 'D',
  renamed: 'R',
  type_changed: 'T',
}

/** The changed files with their counts, one on each line, then the sum. */
export function changeStat(files: readonly FileChange[], paint: Paint): string[] {
  const sum = (of: 'additions' | 'deletions'): number => files.reduce((total, file) => total + file[of], 0)
  const counts = changeCounts({ additions: sum('additions'), deletions: sum('deletions') })
  return [
    ...files.map((file) => fileLine(file, paint)),
    `${files.length} file${files.length === 1 ? '' : 's'} ${counts}`,
  ]
}

/** A file that is changed, with the letter of its status. */
export const statusLine = ({ path, status }: Pick<FileChange, 'path' | 'status'>, paint: Paint): string =>
  `${paint.cyan(LETTERS[status])}  ${oneLine(path)}`

function fileLine(file: FileChange, paint: Paint): string {
  const { oldPath, binary, additions, deletions } = file
  const from = oldPath === undefined ? '' : ` ${paint.dim(`from ${oneLine(oldPath)}`)}`
  const counts = binary ? 'binary' : `${paint.green(`+${additions}`)} ${paint.red(`−${deletions}`)}`
  return `${statusLine(file, paint)}${from}  ${counts}`
}
