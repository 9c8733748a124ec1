import { deepEqual, equal } from 'node:assert/strict'
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { SessionEvent } from '@agentproto/contracts'
import type { RewoundFiles, SessionChanges } from '@agentproto/contracts/wire'
import fc from 'fast-check'
import { onTestFinished, test } from 'vitest'
import { needs } from '../../../tooling/needs.js'
import { type ServedGateway, servedGateway } from './fixtures/served-gateway.js'

type Edit =
  | { readonly kind: 'write'; readonly path: string; readonly lines: readonly string[] }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'move'; readonly path: string; readonly to: string }

type Step =
  | { readonly kind: 'turn'; readonly prompt: string; readonly edits: readonly Edit[] }
  | { readonly kind: 'review' }
  | { readonly kind: 'rewind'; readonly turn: number }

/** A file's bytes by its path. */
type Files = ReadonlyMap<string, string>

// Few names, so that files and folders take each other's places.
const path = fc
  .array(fc.constantFrom('a', 'b', 'ж', 'x y', 'ü"'), { minLength: 1, maxLength: 2 })
  .map((names) => names.join('/'))
const lines = fc.array(fc.constantFrom('one', 'two', 'three\r', '', '\0'), { maxLength: 6 })

const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('write' as const), path, lines }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), path }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), path, to: path }) },
)

/** What the agent does, after a person has edited the folder. */
const prompt = fc.oneof(
  fc.constantFrom(
    'hello',
    'write a/agent.txt',
    'write notes.md of the agent',
    'run rm -rf a',
    'run mv b c',
    'run cp -R a d',
  ),
  fc.constantFrom('write ж one', 'run printf two >> notes.md'),
)

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('turn' as const), prompt, edits: fc.array(edit, { maxLength: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('review' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rewind' as const), turn: fc.nat(20) }) },
)

// What each run has, whatever is drawn.
const FIRST: Step = { kind: 'turn', prompt: 'write first.txt', edits: [] }
const REVIEW: Step = { kind: 'review' }

test(
  '13 random edits and turns: what the routes and events say of changes and rewinds agrees with copies of the folder',
  needs('git'),
  async () => {
    const served = await servedGateway()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 4 }), async (steps) => {
        const model = await Model.start(served)
        for (const each of [FIRST, REVIEW, ...steps, FIRST]) await model.apply(each)
        await model.end()
      }),
      { numRuns: 2 },
    )
  },
)

/** A session, and a copy of its folder from the start and after each turn. */
class Model {
  readonly #served: ServedGateway
  readonly #folder: string
  readonly #id: string
  readonly #copies: Files[] = []
  #reviewed: Files = new Map()

  private constructor(served: ServedGateway, { folder, id }: { readonly folder: string; readonly id: string }) {
    this.#served = served
    this.#folder = folder
    this.#id = id
  }

  static async start(served: ServedGateway): Promise<Model> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-model-')))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await editFolder(folder, { kind: 'write', path: 'a/b', lines: ['one', 'two'] })
    const { id } = await served.spawn({ cwd: folder, permissionMode: 'approve-all' })
    const model = new Model(served, { folder, id })
    model.#reviewed = await filesOf(folder)
    model.#copies.push(model.#reviewed)
    return model
  }

  async apply(each: Step): Promise<void> {
    switch (each.kind) {
      case 'turn':
        return this.#turn(each)
      case 'review':
        this.#reviewed = await filesOf(this.#folder)
        return void (await this.#call('POST', 'changes/reviewed', {}))
      case 'rewind':
        return this.#rewind(each.turn % this.#copies.length)
    }
  }

  /** Back to the start, forward to the end, and the states between, which were recorded before the rewinds. */
  async end(): Promise<void> {
    const last = this.#copies.length - 1
    for (const turn of [0, last]) await this.#rewind(turn)
    for (let turn = 1; turn <= last; turn += 1)
      await this.#agrees(`from=${turn - 1}&to=${turn}`, [this.#copy(turn - 1), this.#copy(turn)])
    await this.#call('POST', 'kill', {})
  }

  async #turn({ prompt: asked, edits }: Extract<Step, { kind: 'turn' }>): Promise<void> {
    for (const each of edits) await editFolder(this.#folder, each)
    const turn = Number((await this.#call('POST', 'prompt', { prompt: asked }))['turn'])
    const recorded = await this.#recorded(turn)
    const now = await filesOf(this.#folder)
    this.#copies[turn] = now
    const start = this.#copy(0)
    await this.#agrees(`from=start`, [start, now])
    await this.#agrees(`from=reviewed`, [this.#reviewed, now])
    const { totals } = await this.#changes('from=start')
    deepEqual(recorded.total, totals)
    const { changes, turnCount } = await this.#served.session(this.#id)
    deepEqual({ changes, turnCount }, { changes: totals, turnCount: turn })
    const { files, additions, deletions } = recorded
    deepEqual({ files, additions, deletions }, (await this.#changes(`turn=${turn}`)).totals)
  }

  async #rewind(turn: number): Promise<void> {
    const before = await filesOf(this.#folder)
    const dry = await this.#rewound({ turn, dryRun: true })
    deepEqual(await filesOf(this.#folder), before)
    const done = await this.#rewound({ turn })
    deepEqual([done.changed, done.kept], [dry.changed, []])
    deepEqual(await filesOf(this.#folder), this.#copy(turn))
    deepEqual(done.changed.map((change) => change.path).toSorted(), differing(before, this.#copy(turn)).toSorted())
    deepEqual((await this.#changes(`from=${turn}`)).files, [])
  }

  async #rewound(request: object): Promise<RewoundFiles> {
    return (await this.#call('POST', 'rewind', request)) as unknown as RewoundFiles
  }

  async #changes(query: string): Promise<SessionChanges> {
    return (await this.#call('GET', `changes?${query}`)) as unknown as SessionChanges
  }

  async #call(method: 'GET' | 'POST', route: string, request?: object): Promise<Record<string, unknown>> {
    const { status, body } = await this.#served.call(`${method} /sessions/${this.#id}/${route}`, request)
    equal(status < 300, true, JSON.stringify(body))
    return body
  }

  async #agrees(query: string, [from, to]: readonly [Files, Files]): Promise<void> {
    const { files, totals, leftOut } = await this.#changes(query)
    deepEqual({ leftOut, count: totals.files }, { leftOut: [], count: files.length })
    const touched = files.flatMap(({ path: at, oldPath }) => (oldPath === undefined ? [at] : [oldPath, at]))
    deepEqual(touched.toSorted(), differing(from, to).toSorted())
    for (const { path: at, oldPath, status } of files) {
      const was = status === 'renamed' ? oldPath : at
      deepEqual([status, from.has(was ?? ''), to.has(at)], [status, status !== 'added', status !== 'deleted'])
    }
  }

  /** The event of the checkpoint after a turn. */
  async #recorded(turn: number): Promise<Extract<SessionEvent, { type: 'checkpoint' }>> {
    const reader = await this.#served.gateway.sessions.follow(this.#id, 0)
    try {
      for (let batch = await reader.next(); batch !== undefined; batch = await reader.next()) {
        const events = batch.records.map(({ json }) => JSON.parse(json) as SessionEvent)
        const found = events.flatMap((event) => (event.type === 'checkpoint' && event.turn === turn ? [event] : []))[0]
        if (found !== undefined) return found
      }
    } finally {
      reader.close()
    }
    throw new Error('The session ended before the event came')
  }

  #copy(turn: number): Files {
    return this.#copies[turn] ?? new Map()
  }
}

/** The paths of which the bytes or modes differ. */
const differing = (from: Files, to: Files): string[] =>
  [...new Set([...from.keys(), ...to.keys()])].filter((each) => !isDeepStrictEqual(from.get(each), to.get(each)))

async function filesOf(folder: string): Promise<Files> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const pairs = found.toSorted().map(async (at) => {
    const { mode } = await lstat(at)
    return [
      at.slice(folder.length + 1),
      `${mode & 0o111 ? 'program' : 'file'} ${await readFile(at, 'latin1')}`,
    ] as const
  })
  return new Map(await Promise.all(pairs))
}

/** A file that is in the way makes some edits impossible. */
async function editFolder(folder: string, each: Edit): Promise<void> {
  const at = join(folder, each.path)
  try {
    if (each.kind === 'remove') return await rm(at, { recursive: true, force: true })
    if (each.kind === 'move') {
      await mkdir(dirname(join(folder, each.to)), { recursive: true })
      return await rename(at, join(folder, each.to))
    }
    await mkdir(dirname(at), { recursive: true })
    await writeFile(at, each.lines.map((line) => `${line}\n`).join(''))
  } catch {
    // The folder is as it was, or has one empty folder more.
  }
}
