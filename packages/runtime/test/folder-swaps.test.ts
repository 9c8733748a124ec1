import { existsSync, lstatSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { isAgentprotoError, type Principal, type Session } from '@agentproto/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agentOf, type Located, locatedAgents, owner, tokenFor } from './fixtures/located-agents.js'

/**
 * 12.A1: whatever is started, resumed, forked, woken, imported, renamed and delegated, in whatever order, while folders are replaced by
 * links or by each other, moved, registered again and removed from the register, before the start and in the middle of it: no
 * agent runs outside of what its caller may use, none in another folder than its session's first one, no fork elsewhere than its
 * origin, and no imported session at all, also under the id of one that ran.
 *
 * A failure names its seed and path. More runs: `RUNS=300 npx vitest run --project unit folder-swaps`, another seed: `SEED=…`.
 */
const SEED = Number(process.env['SEED'] ?? 20_261_122)
const RUNS = Number(process.env['RUNS'] ?? 16)

const SLUGS = ['work', 'shop', 'work/deep'] as const
const FOLDERS = [
  'work',
  'work/a',
  'work/a/c',
  'work/deep',
  'work/deep/c',
  'shop',
  'shop/a',
  'shop/a/c',
  'out',
  'out/c',
] as const
const [work, deep, shop] = [tokenFor('work'), tokenFor('deep'), tokenFor('shop')]
const CALLERS: readonly Principal[] = [owner, owner, work, work, deep, shop, tokenFor('work', 'shop')]

/** The sessions of the beginning: who starts one where. */
const FIRST = [
  [work, 'work/a'],
  [deep, 'work/deep/c'],
  [owner, 'shop/a'],
] as const

/** What has happened; it knows where agents may be only from what was asked of whom. */
class World {
  readonly located: Located
  readonly sessions: string[] = []
  /** The first place of each session. */
  readonly #first = new Map<string, string>()
  /** Where a further folder of a session led when it was created. */
  readonly #further = new Map<string, string>()
  readonly #starts = new Map<string, number>()
  readonly #imported = new Set<string>()
  readonly #deleted = new Set<string>()
  starts = 0
  #moves = 0

  constructor(located: Located) {
    this.located = located
  }

  /** The id of a session, unless it was deleted. */
  session(which: number): string | undefined {
    const id = this.sessions[which]
    return id === undefined || this.#deleted.has(id) ? undefined : id
  }

  async delete(id: string): Promise<void> {
    await this.located.registry.forget(id, owner)
    this.#deleted.add(id)
  }

  at(path: string): string {
    return join(this.located.root, path)
  }

  /** @param id The session that may start, or `origin` the one that a new one must not leave */
  async call(
    by: Principal,
    run: () => Promise<Session | { turn: number }>,
    { id, origin }: { readonly id?: string; readonly origin?: string } = {},
  ): Promise<void> {
    const allowed = await this.#allowedTo(by)
    const known = new Set(this.sessions)
    const leads = new Map(
      FOLDERS.filter((each) => existsSync(this.at(each))).map((each) => [this.at(each), realpathSync(this.at(each))]),
    )
    try {
      await run()
    } catch (thrown) {
      if (!isAgentprotoError(thrown) || thrown.code === 'internal') throw thrown
    }
    this.located.during.checked = this.located.during.located = () => undefined
    const { sessions } = await this.located.registry.list()
    for (const session of sessions) {
      const isNew = !known.has(session.id)
      if (isNew) this.#add(session, leads)
      await this.#check(session, session.id === id || isNew ? allowed : undefined)
      if (isNew && origin !== undefined) this.#checkFork(session.id, origin)
    }
  }

  #add({ id, additionalDirectories: [further] = [] }: Session, leads: ReadonlyMap<string, string>): void {
    this.sessions.push(id)
    if (further !== undefined) this.#further.set(id, leads.get(further) ?? '/nowhere')
  }

  /** From now on it must not start, even if its id is one that did. */
  imported({ id }: Session): void {
    this.#imported.add(id)
    this.#deleted.delete(id)
  }

  /** Puts a link in the place of a folder, moves it away, or puts a folder there. Where links loop, nothing changes. */
  change(path: string, target: string | undefined): void {
    const at = this.at(path)
    if (!existsSync(join(at, '..'))) return
    const isThere = lstatSync(at, { throwIfNoEntry: false })
    if (isThere?.isSymbolicLink() === true) rmSync(at)
    else if (isThere !== undefined) renameSync(at, `${at}~${(this.#moves += 1)}`)
    // The path may have led through what is gone now.
    if (!existsSync(join(at, '..'))) return
    if (target !== undefined) symlinkSync(this.at(target), at)
    else if (isThere?.isSymbolicLink() !== false) mkdirSync(at)
  }

  /** Moves a folder to the place of another one, which is moved away. Where links lead it into itself, nothing changes. */
  move(from: string, to: string): void {
    if (!existsSync(this.at(from)) || !existsSync(join(this.at(to), '..'))) return
    const [real, parent] = [realpathSync(this.at(from)), realpathSync(join(this.at(to), '..'))]
    if (isIn(parent, real) || isIn(real, join(parent, basename(to)))) return
    this.change(to, undefined)
    rmSync(this.at(to), { recursive: true, force: true })
    renameSync(this.at(from), this.at(to))
  }

  /** In the next launch: when the registry has decided where, or when the driver has looked too. */
  changeDuring(when: 'checked' | 'located', change: () => void): void {
    const { during } = this.located
    during[when] = () => {
      delete during[when]
      change()
    }
  }

  /** A folder of the test that a session is in: its first one, or one above. */
  folderOf(id: string, level: number): string | undefined {
    const first = this.#first.get(id)
    const around = FOLDERS.filter((each) => first !== undefined && isIn(first, this.at(each)))
    return around[level % Math.max(1, around.length)]
  }

  /** Real folders that a caller may use now, each with its test; by the paths alone. */
  async #allowedTo(by: Principal): Promise<(place: string) => boolean> {
    if (by.type === 'owner') return () => true
    if (by.type === 'session') {
      const parent = this.#first.get(by.sessionId) ?? '/nowhere'
      const further = this.#further.get(by.sessionId) ?? parent
      return (place) => isIn(place, parent) || isIn(place, further)
    }
    const { workspaces } = await this.located.workspaces.list()
    const nearest = (place: string) =>
      workspaces.filter(({ path }) => isIn(place, path)).toSorted((a, b) => b.path.length - a.path.length)[0]?.slug
    return (place) => by.workspaces?.includes(nearest(place) ?? '') === true
  }

  async #check({ id }: Session, allowed: ((place: string) => boolean) | undefined): Promise<void> {
    const places = (await this.located.places(id)).map(named)
    const fresh = places.slice(this.#starts.get(id) ?? 0)
    this.#starts.set(id, places.length)
    this.starts += fresh.length
    const [first] = places
    if (first !== undefined) this.#first.set(id, first)
    for (const place of fresh) {
      if (this.#imported.has(id)) throw new Error(`${id} was started in ${place}, and it is imported`)
      if (place !== first) throw new Error(`${id} was started in ${first} and then in ${place}`)
      if (allowed?.(place) !== true) throw new Error(`${id} was started in ${place}, which its caller may not use`)
    }
  }

  #checkFork(fork: string, origin: string): void {
    const [place, expected] = [this.#first.get(fork), this.#first.get(origin)]
    if (place !== undefined && place !== expected)
      throw new Error(`${fork} was started in ${place}, and its origin ${origin} in ${expected}`)
  }
}

/** A folder that was moved away after its agent had started is still the folder. */
const named = (place: string): string => place.replaceAll(/~\d+/g, '')
const isIn = (place: string, folder: string): boolean => place === folder || place.startsWith(`${folder}/`)

type Command = fc.AsyncCommand<object, World>
const command = (name: string, run: (world: World) => Promise<unknown>): Command => ({
  check: () => true,
  run: async (_, world) => void (await run(world)),
  toString: () => name,
})

const folder = fc.constantFrom(...FOLDERS)
const caller = fc.constantFrom(...CALLERS)
const swap = fc.record({ path: folder, target: fc.option(folder, { nil: undefined }) })
const some = fc.nat(4)

const spawn = fc
  .record({
    by: caller,
    cwd: fc.option(folder),
    slug: fc.constantFrom('work', 'shop', 'deep'),
    more: fc.option(folder),
  })
  .map(({ by, cwd, slug, more }) =>
    command(`spawn ${by.name} ${cwd ?? slug} ${more}`, (world) =>
      world.call(by, () =>
        world.located.registry.spawn(
          {
            adapter: 'located',
            delegation: { maxDepth: 2 },
            ...(cwd === null ? { workspaceSlug: slug } : { cwd: world.at(cwd) }),
            ...(more === null ? {} : { additionalDirectories: [world.at(more)] }),
          },
          by,
        ),
      ),
    ),
  )
const delegate = fc.record({ which: some, cwd: fc.option(folder) }).map(({ which, cwd }) =>
  command(`delegate ${which} ${cwd}`, async (world) => {
    const id = world.session(which)
    if (id === undefined) return
    const place = cwd === null ? {} : { cwd: world.at(cwd) }
    const by = agentOf({ id })
    await world.call(by, () => world.located.registry.spawn({ adapter: 'located', ...place }, by))
  }),
)
type How = 'resume' | 'fresh' | 'wake' | 'fork'
const ways = fc.constantFrom<How[]>('resume', 'fresh', 'wake', 'fork')
const again = fc
  .record({ by: caller, which: some, how: ways })
  .map((start) =>
    command(`${start.how} ${start.which} ${start.by.name}`, (world) =>
      startAgain(world, world.session(start.which), start),
    ),
  )

async function startAgain(
  world: World,
  id: string | undefined,
  { how, by }: { readonly how: How; readonly by: Principal },
): Promise<void> {
  const { registry, leave } = world.located
  if (id === undefined) return
  const run = (): Promise<Session | { turn: number }> => {
    if (how === 'fork') return registry.fork(id, {}, by)
    if (how === 'wake') return registry.prompt(id, { prompt: 'x' }, by)
    return registry.resume(id, how === 'fresh' ? { fresh: true } : {}, by)
  }
  if (how !== 'fork') await leave(id)
  await world.call(by, run, how === 'fork' ? { origin: id } : { id })
}

/** The folder of a session, or one above, is replaced by a link, before it starts again or in the middle of that. */
const trap = fc
  .record({
    by: caller,
    which: fc.nat(2),
    how: ways,
    level: fc.nat(2),
    target: folder,
    when: fc.constantFrom('first' as const, 'checked' as const, 'located' as const),
    restored: fc.boolean(),
  })
  .map(({ which, level, target, when, restored, ...start }) =>
    command(`link folder ${level} of ${which} to ${target} ${when}, ${start.how} ${start.by.name}`, async (world) => {
      const id = world.session(which)
      const path = id && world.folderOf(id, level)
      if (id === undefined || path === undefined) return
      if (start.how !== 'fork') await world.located.leave(id)
      if (when === 'first') world.change(path, target)
      else world.changeDuring(when, () => world.change(path, target))
      await startAgain(world, id, start)
      if (restored) world.change(path, undefined)
    }),
  )
/** As it was exported, or with the folder of another one; where the original is deleted, under its id. */
const imported = fc
  .record({ which: some, cwd: fc.option(folder), deleted: fc.boolean(), by: caller, how: ways })
  .map(({ which, cwd, deleted, ...start }) =>
    command(
      `import ${which} in ${cwd}${deleted ? ' after its deletion' : ''}, ${start.how} ${start.by.name}`,
      async (world) => {
        const { archive } = world.located.registry
        const id = world.session(which)
        if (id === undefined) return
        const text = await textOf(Readable.from(await archive.export(id, 'jsonl')))
        const given = cwd === null ? text : text.replace(/"cwd":"[^"]*"/, `"cwd":${JSON.stringify(world.at(cwd))}`)
        if (deleted) await world.delete(id)
        const session = await archive.import(Readable.from([given]), owner)
        world.imported(session)
        await startAgain(world, session.id, start)
      },
    ),
  )
/** It starts nothing. */
const rename = fc.record({ which: some, by: caller }).map(({ which, by }) =>
  command(`rename ${which} ${by.name}`, async (world) => {
    const id = world.session(which)
    if (id !== undefined) await world.call(by, () => world.located.registry.rename(id, { title: 'another' }, by))
  }),
)
const change = swap.map(({ path, target }) =>
  command(`change ${path} ${target}`, async (world) => world.change(path, target)),
)
const move = fc
  .tuple(folder, folder)
  .map(([from, to]) => command(`move ${from} to ${to}`, async (world) => world.move(from, to)))
/** In the middle of the next launch. */
const changeDuring = fc
  .tuple(swap, fc.constantFrom('checked' as const, 'located' as const))
  .map(([{ path, target }, when]) =>
    command(`change ${path} ${target} when ${when}`, async (world) => {
      world.changeDuring(when, () => world.change(path, target))
    }),
  )
const register = fc.tuple(fc.constantFrom('work', 'shop', 'deep'), folder).map(([slug, path]) =>
  command(`register ${slug} ${path}`, async ({ located: { workspaces, root } }) => {
    // The slug goes to another folder, or is free.
    await workspaces.remove(slug).catch(() => undefined)
    await workspaces.add({ slug, path: join(root, path) }).catch(() => undefined)
  }),
)

const unregister = fc.constantFrom('work', 'shop', 'deep').map((slug) =>
  command(`unregister ${slug}`, async ({ located: { workspaces } }) => {
    await workspaces.remove(slug).catch(() => undefined)
  }),
)

test('12.A1 no sequence of starts and swapped folders leads an agent out of its folders', async () => {
  const starting = [spawn, delegate, delegate, again, again, again, trap, trap, trap, imported, rename]
  const changing = [change, move, changeDuring, register, unregister]
  const commands = fc.commands([...starting, ...changing], { maxCommands: 25, size: 'max' })
  let starts = 0
  const sequences = fc.asyncProperty(commands, async (each) => {
    const located = await locatedAgents(SLUGS)
    for (const path of FOLDERS) mkdirSync(join(located.root, path), { recursive: true })
    const world = new World(located)
    const begin = (by: Principal, cwd: string) => () =>
      located.registry.spawn({ adapter: 'located', cwd: world.at(cwd), delegation: { maxDepth: 2 } }, by)
    for (const [by, cwd] of FIRST) await world.call(by, begin(by, cwd))
    await fc.asyncModelRun(() => ({ model: {}, real: world }), each)
    await located.registry.close()
    starts += world.starts
  })
  await fc.assert(sequences, { seed: SEED, numRuns: RUNS })
  // The three of the beginning, and of the others at least one in two runs.
  expect(starts).toBeGreaterThan(3.5 * RUNS)
}, 120_000)
