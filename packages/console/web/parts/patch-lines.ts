import { structuredPatch } from 'diff'

/** A run of lines with the same fate. `same`: context. `note`: what the patch says about itself, such as a hunk's position. */
export interface PatchRun {
  readonly kind: 'added' | 'removed' | 'same' | 'note'
  readonly lines: readonly string[]
  /** Number of the first line in the old text and in the new one; 0 for a note. */
  readonly oldStart: number
  readonly newStart: number
}

/** Two texts that differ more than this are shown as all of the old one and all of the new one. */
const DIFF_MS = 50

/** How one text becomes another, with a few equal lines around each change. */
export function runsOfTexts(before: string, after: string): readonly PatchRun[] {
  if (before === '') return after === '' ? [] : [wholeRun('added', after)]
  if (after === '') return [wholeRun('removed', before)]
  const patch = structuredPatch('', '', before, after, undefined, undefined, { context: 3, timeout: DIFF_MS })
  if (patch === undefined) return [wholeRun('removed', before), wholeRun('added', after)]
  return patch.hunks.flatMap((hunk) => [
    noteRun(`@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`),
    ...runsOf(hunk.lines, { old: hunk.oldStart, now: hunk.newStart }),
  ])
}

/**
 * The unified patch of one file or of several, as git writes it; every line of it is in a run, also of a patch that was cut or
 * that is not well-formed.
 */
export function runsOfPatch(patch: string): readonly PatchRun[] {
  const runs: PatchRun[] = []
  let hunk: string[] = []
  let from = { old: 0, now: 0 }
  let left = { old: 0, now: 0 }
  const endHunk = (): void => {
    runs.push(...runsOf(hunk, from))
    hunk = []
  }
  for (const line of patch.replace(/\n$/, '').split('\n')) {
    const isInHunk = left.old > 0 || left.now > 0 || line.startsWith('\\')
    if (isInHunk && /^[-+ \\]|^$/.test(line)) {
      hunk.push(line === '' ? ' ' : line)
      left = leftAfter(left, line)
      continue
    }
    endHunk()
    runs.push(noteRun(line))
    ;({ from, left } = hunkOf(line))
  }
  endHunk()
  return joinedNotes(runs)
}

interface Position {
  readonly old: number
  readonly now: number
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/** Where a hunk begins, and how many lines of each text it has; none for a line that begins no hunk. */
function hunkOf(line: string): { readonly from: Position; readonly left: Position } {
  const [, old = '0', oldCount = '1', now = '0', nowCount = '1'] = HUNK.exec(line) ?? ['', '0', '0', '0', '0']
  return { from: { old: Number(old), now: Number(now) }, left: { old: Number(oldCount), now: Number(nowCount) } }
}

/** How many lines of the hunk are left after this one. */
function leftAfter({ old, now }: Position, line: string): Position {
  const kind = kindOf(line)
  return {
    old: kind === 'same' || kind === 'removed' ? old - 1 : old,
    now: kind === 'same' || kind === 'added' ? now - 1 : now,
  }
}

function runsOf(lines: readonly string[], { old, now }: Position): PatchRun[] {
  const runs: { kind: PatchRun['kind']; lines: string[]; oldStart: number; newStart: number }[] = []
  let at = { old, now }
  for (const line of lines) {
    const kind = kindOf(line)
    const last = runs.at(-1)
    const text = kind === 'note' ? line : line.slice(1)
    if (last?.kind === kind) last.lines.push(text)
    else
      runs.push({ kind, lines: [text], oldStart: kind === 'note' ? 0 : at.old, newStart: kind === 'note' ? 0 : at.now })
    const rest = leftAfter({ old: 0, now: 0 }, line)
    at = { old: at.old - rest.old, now: at.now - rest.now }
  }
  return runs
}

function kindOf(line: string): PatchRun['kind'] {
  if (line.startsWith('+')) return 'added'
  if (line.startsWith('-')) return 'removed'
  return line.startsWith('\\') ? 'note' : 'same'
}

function wholeRun(kind: 'added' | 'removed', text: string): PatchRun {
  return { kind, lines: text.replace(/\n$/, '').split('\n'), oldStart: 1, newStart: 1 }
}

const noteRun = (line: string): PatchRun => ({ kind: 'note', lines: [line], oldStart: 0, newStart: 0 })

function joinedNotes(runs: readonly PatchRun[]): PatchRun[] {
  const joined: PatchRun[] = []
  for (const run of runs) {
    const last = joined.at(-1)
    if (run.kind === 'note' && last?.kind === 'note')
      joined.splice(-1, 1, { ...last, lines: [...last.lines, ...run.lines] })
    else joined.push(run)
  }
  return joined
}
