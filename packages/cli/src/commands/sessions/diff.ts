import { defined } from '@agentproto/contracts'
import { CHANGE_BOUNDS, type PatchQuery, type SessionChanges } from '@agentproto/contracts/wire'
import type { Client } from '@agentproto/client'
import type { CommandResult, Define } from '../../cli-command.js'
import { paintFor, warn, type CliContext } from '../../cli-context.js'
import { toCount } from '../../command-definition.js'
import { changeStat } from '../../render/change-stat.js'
import { oneLine } from '../../render/printable.js'
import { openSession } from '../../session-ref.js'

interface DiffOptions {
  readonly turn?: number
  readonly sinceReview?: boolean
  readonly stat?: boolean
  readonly nameOnly?: boolean
  readonly json?: boolean
}

export const define: Define = (command) =>
  command
    .description('show what a session changed in its folder: since its start, in a turn or since the last review')
    .argument('<id>')
    .argument('[path...]', 'only these files and folders, relative to the folder of the session')
    .option('--turn <number>', 'only what this turn changed', toCount)
    .option('--since-review', 'only since the last review')
    .option('--stat', 'only the files and their counts')
    .option('--name-only', 'only the names of the files')
    .json('the files and their counts as JSON')
    .examples('sessions diff try', 'sessions diff try --turn 2 --stat', 'sessions diff try --since-review src')
    .run(diff)

async function diff(
  context: CliContext,
  ...[ref, paths, options]: [string, readonly string[], DiffOptions]
): Promise<CommandResult | void> {
  const { client, session } = await openSession(context, ref)
  const query = defined({ turn: options.turn, from: options.sinceReview === true ? 'reviewed' : undefined })
  const all = await client.changes.list(session.id, query)
  const changes = { ...all, files: all.files.filter(({ path, oldPath }) => isWanted(paths, [path, oldPath ?? path])) }
  reportDoubts(context, changes)
  if (options.json === true) return { json: changes }
  if (changes.files.length === 0) return { note: 'Nothing was changed.' }
  if (options.nameOnly === true) return { text: changes.files.map(({ path }) => oneLine(path)) }
  if (options.stat === true) return { text: changeStat(changes.files, paintFor(context, context.stdout)) }
  const { showPatch } = await import('../../patch-output.js')
  await showPatch(context, patches(client, session.id, { query, paths }))
}

/** What the reader would not guess from the list. */
function reportDoubts(context: CliContext, { shared, leftOut }: SessionChanges): void {
  if (shared) warn(context, 'another session worked in the folder meanwhile: its changes are among these')
  for (const { path, reason } of leftOut.slice(0, 10)) warn(context, `not recorded: ${oneLine(path)} (${reason})`)
  if (leftOut.length > 10) warn(context, `not recorded: ${leftOut.length - 10} more; --json lists them`)
}

async function* patches(
  client: Client,
  id: string,
  { query, paths }: { readonly query: PatchQuery; readonly paths: readonly string[] },
): AsyncGenerator<Uint8Array> {
  if (paths.length === 0) yield* client.changes.diff(id, query)
  for (const path of requestsOf(paths)) yield* client.changes.diff(id, { ...query, path })
}

/** A URL has room for so much. */
const MAX_URL_BYTES = 6_000

/** As many paths in each request as it has room for. */
function requestsOf(paths: readonly string[]): string[][] {
  const requests: string[][] = []
  let bytes = Infinity
  for (const path of paths) {
    bytes += encodeURIComponent(path).length + '&path='.length
    const last = requests.at(-1)
    if (last !== undefined && bytes <= MAX_URL_BYTES && last.length < CHANGE_BOUNDS.patchPaths) last.push(path)
    else {
      requests.push([path])
      bytes = encodeURIComponent(path).length
    }
  }
  return requests
}

const isWanted = (paths: readonly string[], names: readonly string[]): boolean =>
  paths.length === 0 || paths.some((path) => path === '.' || names.some((name) => isAt(name, path.replace(/\/+$/, ''))))

const isAt = (name: string, path: string): boolean => name === path || name.startsWith(`${path}/`)
