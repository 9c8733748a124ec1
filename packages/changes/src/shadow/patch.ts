import type { Patch } from '@agentproto/contracts/agent'
import type { Git } from '../git/git.js'
import { pathspec } from '../git/path-text.js'
import type { Snapshot } from './shadow-repository.js'

export interface PatchParts {
  readonly states: readonly [Snapshot, Snapshot]
  readonly paths: readonly string[] | undefined
  readonly signal: AbortSignal
}

/** The unified patch of two states, as git writes it. */
export function patchOf(git: Git, { states: [from, to], paths, signal }: PatchParts): AsyncGenerator<Buffer> {
  const limits = paths === undefined ? [] : ['--', ...paths.map(pathspec)]
  return git.stream({ args: [...PATCH, from.tree, to.tree, ...limits], signal })
}

const PATCH = [
  'diff-tree',
  '-r',
  '-p',
  '-M',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--src-prefix=a/',
  '--dst-prefix=b/',
]

/** Reads pieces until there are enough bytes. */
export function boundedPatch(maxBytes: number, pieces: () => AsyncGenerator<Buffer>): Patch {
  let truncated = false
  async function* read(): AsyncGenerator<Uint8Array> {
    let room = maxBytes
    for await (const piece of pieces()) {
      if (piece.length > room) {
        truncated = true
        if (room > 0) yield piece.subarray(0, room)
        return
      }
      room -= piece.length
      yield piece
    }
  }
  return {
    [Symbol.asyncIterator]: read,
    get truncated() {
      return truncated
    },
  }
}
