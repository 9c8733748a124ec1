import { deepEqual, equal } from 'node:assert/strict'
import { chmod, lstat, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { FolderChanges } from '@agentproto/contracts/agent'
import fc from 'fast-check'
import { test } from 'vitest'
import { read, subject, take } from './folders.ts'

type Edit =
  | { readonly kind: 'write'; readonly path: string; readonly content: string; readonly isProgram: boolean }
  | { readonly kind: 'link'; readonly path: string; readonly to: string }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'move'; readonly path: string; readonly to: string }
  | { readonly kind: 'turn' }
  | { readonly kind: 'rewind'; readonly turn: number }

// Few names, so that files, links and folders take each other's places.
const path = fc
  .array(fc.constantFrom('a', 'b', 'c', 'A', 'ж', 'x y', 'n\nl'), { minLength: 1, maxLength: 3 })
  .map((names) => names.join('/'))

const edit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      path,
      content: fc.oneof(fc.string(), fc.constantFrom('', 'a\r\nb\n', 'a\nb', '$Id$', '\0\u0001')),
      isProgram: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('link' as const),
      path,
      to: fc.constantFrom('a', '../b', '/nowhere', 'b/c'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), path }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('move' as const), path, to: path }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('turn' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rewind' as const), turn: fc.nat(20) }) },
)

test('13 random edits and turns: checkpoints and rewinds agree with a copy of the folder', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 5, maxLength: 25 }), async (edits) => {
      const { folder, changes } = await subject()
      await new Model(folder, changes).run(edits)
    }),
    { numRuns: 6 },
  )
}, 120_000)

/** Keeps a copy of the files of each checkpoint. */
class Model {
  readonly #folder: string
  readonly #changes: FolderChanges
  readonly #copies: { readonly id: string; readonly files: Readonly<Record<string, string>> }[] = []

  constructor(folder: string, changes: FolderChanges) {
    this.#folder = folder
    this.#changes = changes
  }

  async run(edits: readonly Edit[]): Promise<void> {
    await this.#turn()
    for (const each of edits) await this.#apply(each)
    await this.#turn()
    const recorded = this.#copies.length
    for (let index = 0; index < recorded; index += 4) await this.#rewind(index)
  }

  async #apply(each: Edit): Promise<void> {
    switch (each.kind) {
      case 'turn':
        return this.#turn()
      case 'rewind':
        return this.#rewind(each.turn)
      default:
        // A parent that is a file or a link makes some edits impossible.
        return editFolder(this.#folder, each).catch(() => undefined)
    }
  }

  async #turn(): Promise<void> {
    const files = await read(this.#folder)
    const { id, files: count } = await take(this.#changes)
    const before = this.#copies.at(-1)
    if (before !== undefined) equal(count === 0, isDeepStrictEqual(before.files, files))
    this.#copies.push({ id, files })
  }

  async #rewind(turn: number): Promise<void> {
    const copy = this.#copies[turn % this.#copies.length]
    if (copy === undefined) return
    const files = await read(this.#folder)
    const { before, kept } = await this.#changes.rewind({ session: 'ses_1', to: copy.id })
    deepEqual(kept, [])
    deepEqual(await read(this.#folder), copy.files)
    this.#copies.push({ id: before?.id ?? '', files })
    await this.#turn()
  }
}

async function editFolder(folder: string, each: Exclude<Edit, { kind: 'turn' | 'rewind' }>): Promise<void> {
  const at = join(folder, each.path)
  // Never through a link that leads out.
  if ((await outside(folder, each.path)) || ('to' in each && each.kind === 'move' && (await outside(folder, each.to))))
    return
  switch (each.kind) {
    case 'write':
      await mkdir(dirname(at), { recursive: true })
      await writeFile(at, each.content, { flag: 'w' })
      return chmod(at, each.isProgram ? 0o755 : 0o644)
    case 'link':
      await mkdir(dirname(at), { recursive: true })
      await rm(at, { recursive: true, force: true })
      return symlink(each.to, at)
    case 'remove':
      return rm(at, { recursive: true, force: true })
    case 'move':
      await mkdir(dirname(join(folder, each.to)), { recursive: true })
      return rename(at, join(folder, each.to))
  }
}

async function outside(folder: string, below: string): Promise<boolean> {
  const parts = below.split('/')
  for (let count = 1; count <= parts.length; count++) {
    const stats = await lstat(join(folder, ...parts.slice(0, count))).catch(() => undefined)
    if (stats?.isSymbolicLink() === true) return true
  }
  return false
}
