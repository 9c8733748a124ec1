// A checkpoint of a large folder with a few changed files, beside `git status` and `git add -A` on the same tree; the list of a large change.
import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createChangeStore } from '@agentproto/changes'
import { watchEventLoop } from './event-loop.mjs'
import { now } from './measure.mjs'
import { ms, row } from './table.mjs'

const CHANGED = 20
const ROUNDS = 5

export async function changes({ home, treeFiles, changedFiles }) {
  const folder = join(home, 'tree')
  const copy = join(home, 'copy')
  const paths = writeTree(folder, treeFiles)
  cpSync(folder, copy, { recursive: true })
  const store = createChangeStore({ home: join(home, 'home') })
  const opened = await store.open(folder)
  const watch = watchEventLoop()
  const first = await watch.during(() => timed(() => take(opened)))
  const firstHeld = watch.longest()
  await watch.during(() => setTimeout(1_000))
  const idle = watch.longest()
  const edited = (round) => edit(folder, paths, { round, count: CHANGED })
  const next = await best(edited, () => watch.during(() => take(opened)))
  const before = await take(opened)
  edit(folder, paths, { round: ROUNDS, count: changedFiles })
  const after = await take(opened)
  const list = await best(
    () => undefined,
    () => watch.during(() => opened.changes(before, after)),
  )
  const held = watch.longest()
  const git = await besideGit(copy, paths)
  const tree = `${treeFiles} files`
  return [
    row(`git add -A, ${tree}, first`, git.first, { unit: ms }),
    row(`checkpoint, ${tree}, first`, first, { unit: ms, of: git.first }),
    row(`git status, ${tree}, ${CHANGED} changed`, git.status, { unit: ms }),
    row(`git add -A, ${tree}, ${CHANGED} changed`, git.add, { unit: ms }),
    row(`checkpoint, ${tree}, ${CHANGED} changed`, next, { most: 500, unit: ms, of: git.add }),
    row(`list of a change of ${changedFiles} files`, list, { most: 300, unit: ms }),
    row('longest work of the event loop, first checkpoint', firstHeld.work, { most: 10, unit: ms }),
    row('longest work of the event loop, the others and the lists', held.work, { most: 10, unit: ms }),
    row('longest pause of the event loop, idle', idle.pause, { unit: ms }),
    row('longest pause of the event loop, first checkpoint', firstHeld.pause, { unit: ms }),
    row('longest pause of the event loop, the others and the lists', held.pause, { most: 10, unit: ms }),
  ]
}

async function besideGit(folder, paths) {
  const git = (...args) => {
    const { status, stderr } = spawnSync('git', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${String(stderr)}`)
  }
  git('init', '-q')
  const first = await timed(() => git('add', '-A'))
  const change = (round) => edit(folder, paths, { round, count: CHANGED })
  const status = await best(change, () => git('status', '--porcelain'))
  const add = await best(change, () => git('add', '-A'))
  return { first, status, add }
}

async function take(opened) {
  const result = await opened.checkpoint({ session: 'bench' })
  if (result.kind === 'skipped') throw new Error(`skipped: ${result.detail}`)
  return result.checkpoint.id
}

function writeTree(folder, count) {
  const paths = []
  for (let index = 0; index < count; index += 1) {
    const below = join(folder, `d${index % 50}`, `e${Math.floor(index / 50) % 40}`)
    if (index < 2_000) mkdirSync(below, { recursive: true })
    const path = join(below, `f${index}.txt`)
    writeFileSync(
      path,
      Array.from({ length: 40 }, (_, line) => `${index} ${line * 7919} some text of this line\n`).join(''),
    )
    paths.push(path.slice(folder.length + 1))
  }
  return paths
}

function edit(folder, paths, { round, count }) {
  for (let index = 0; index < count; index += 1)
    appendFileSync(join(folder, paths[(index * 17 + round) % paths.length]), `changed in ${round}\n`)
}

/** The best of some rounds: what it takes when nothing else runs. */
async function best(prepare, run) {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round += 1) {
    prepare(round)
    least = Math.min(least, await timed(run))
  }
  return least
}

async function timed(run) {
  const began = now()
  await run()
  return now() - began
}
