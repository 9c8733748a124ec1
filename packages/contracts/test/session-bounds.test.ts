import { NO_WORKSPACE, type Session } from '@agentproto/contracts'
import { isInFolder, isWithinBounds, type SessionBounds } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'

type Line = Parameters<typeof isWithinBounds>[0]

const line = (id: string, parts: Partial<Session> = {}): Line => ({ id, workspaceSlug: 'work', cwd: '/a/b', ...parts })

const none = (): undefined => undefined

/** A session of the workspace `work`, in a folder. */
const isBound = (cwd: string, folder: string): boolean =>
  isWithinBounds(line('s', { cwd }), { workspaces: ['work'], folders: { work: folder } }, none)

interface FolderCase {
  readonly path: string
  readonly folder: string
  readonly inside: boolean
}

const FOLDERS: readonly FolderCase[] = [
  { path: '/a/b', folder: '/a/b', inside: true },
  { path: '/a/b/c', folder: '/a/b', inside: true },
  { path: '/a', folder: '/a/b', inside: false },
  { path: '/a/bc', folder: '/a/b', inside: false },
  { path: '/a/b.d', folder: '/a/b', inside: false },
  { path: '/A/B', folder: '/a/b', inside: false },
  { path: '/a/b/', folder: '/a/b', inside: true },
  { path: '/a/b', folder: '/a/b/', inside: true },
  { path: '/a/b/c', folder: '/a/b/', inside: true },
  { path: '/a/bc', folder: '/a/b/', inside: false },
  { path: '/a', folder: '/', inside: true },
  { path: '/', folder: '/', inside: true },
  { path: '/', folder: '/a', inside: false },
  // A folder of another name for the same place cannot be decided by its text.
  { path: '/a/b/../c', folder: '/a/b', inside: false },
  { path: '/a/b/..', folder: '/a/b', inside: false },
  { path: '/a/b/..c', folder: '/a/b', inside: true },
  { path: '/a/b/c..', folder: '/a/b', inside: true },
  { path: '/a\\b', folder: '/a', inside: false },
  // The session may be of a host that runs Windows.
  { path: 'C:\\a\\b', folder: 'C:\\a', inside: true },
  { path: 'C:\\ab', folder: 'C:\\a', inside: false },
  { path: 'C:\\a\\..\\b', folder: 'C:\\a', inside: false },
  { path: 'C:\\a', folder: 'C:\\', inside: true },
  { path: 'D:\\a', folder: 'C:\\', inside: false },
  { path: 'C:\\a', folder: 'C:\\a\\', inside: true },
  { path: '\\\\host\\share\\a', folder: '\\\\host\\share', inside: true },
  { path: '\\\\host\\shared', folder: '\\\\host\\share', inside: false },
  // A folder that is not absolute is that of no workspace.
  { path: '/a', folder: '', inside: false },
  { path: '', folder: '', inside: false },
  { path: '', folder: '/a', inside: false },
  { path: '', folder: '/', inside: false },
  { path: 'a/b', folder: 'a', inside: false },
  { path: 'a/b', folder: '/', inside: false },
]

test.for(FOLDERS)('17.7 a session in $path is in the folder $folder: $inside', ({ path, folder, inside }) => {
  expect(isInFolder(path, folder)).toBe(inside)
  expect(isBound(path, folder)).toBe(inside)
})

interface BoundsCase {
  readonly what: string
  readonly session?: Line
  readonly bounds: SessionBounds | undefined
  readonly within: boolean
}

const WORKTREE: Partial<Session> = {
  cwd: '/home/worktrees/s',
  worktree: { path: '/home/worktrees/s', branch: 'agentproto/s', base: 'main', repository: '/a/b', folder: '/a/b/c' },
}

const BOUNDS: readonly BoundsCase[] = [
  { what: 'no bounds', bounds: undefined, within: true },
  { what: 'bounds without a condition', bounds: {}, within: true },
  { what: 'its workspace', bounds: { workspaces: ['other', 'work'] }, within: true },
  { what: 'another workspace', bounds: { workspaces: ['other'] }, within: false },
  { what: 'no workspace at all', bounds: { workspaces: [] }, within: false },
  { what: 'its workspace, in the folder that it had', bounds: bound('/a/b'), within: true },
  { what: 'its workspace, which is another folder by now', bounds: bound('/a/c'), within: false },
  { what: 'its workspace, without a folder', bounds: { workspaces: ['work'], folders: {} }, within: false },
  {
    what: 'a workspace named as a member of every object',
    session: line('s', { workspaceSlug: 'constructor' }),
    bounds: { workspaces: ['constructor'], folders: {} },
    within: false,
  },
  {
    what: 'a session in no workspace, although its slug is named',
    session: line('s', { workspaceSlug: NO_WORKSPACE }),
    bounds: { workspaces: [NO_WORKSPACE], folders: { [NO_WORKSPACE]: '/a/b' } },
    within: false,
  },
  {
    what: 'a session in no workspace, without bounds',
    session: line('s', { workspaceSlug: NO_WORKSPACE }),
    bounds: undefined,
    within: true,
  },
  {
    what: 'a worktree, by the folder that its start named',
    session: line('s', WORKTREE),
    bounds: bound('/a/b'),
    within: true,
  },
  {
    what: 'a worktree, by its own folder',
    session: line('s', WORKTREE),
    bounds: bound('/home/worktrees'),
    within: false,
  },
  { what: 'the session itself', bounds: { under: 's', itself: true }, within: true },
  { what: 'the session itself, which may only be read', bounds: { under: 's', itself: false }, within: false },
  { what: 'the session itself, without a word of it', bounds: { under: 's' }, within: false },
  { what: 'another session, itself', bounds: { under: 'other', itself: true }, within: false },
  { what: 'a child', session: line('child', { parentSessionId: 's' }), bounds: { under: 's' }, within: true },
  {
    what: 'a grandchild',
    session: line('grandchild', { parentSessionId: 'child' }),
    bounds: { under: 's' },
    within: true,
  },
  {
    what: 'a child of an unknown session',
    session: line('x', { parentSessionId: 'gone' }),
    bounds: { under: 's' },
    within: false,
  },
  { what: 'its parent', session: line('s'), bounds: { under: 'child', itself: true }, within: false },
  {
    what: 'a session that is its own parent',
    session: line('ring', { parentSessionId: 'ring' }),
    bounds: { under: 's' },
    within: false,
  },
  {
    what: 'a child in another workspace',
    session: line('child', { parentSessionId: 's', workspaceSlug: 'other' }),
    bounds: { workspaces: ['work'], under: 's' },
    within: false,
  },
]

function bound(folder: string): SessionBounds {
  return { workspaces: ['work'], folders: { work: folder } }
}

const LINES: Readonly<Record<string, Line>> = {
  s: line('s'),
  child: line('child', { parentSessionId: 's' }),
  ring: line('ring', { parentSessionId: 'ring' }),
}

test.for(BOUNDS)('17.7 bounds: $what: $within', ({ session = line('s'), bounds, within }) => {
  expect(isWithinBounds(session, bounds, (id) => LINES[id])).toBe(within)
})

test('17.7 a line of descent is followed 64 sessions up, and no further', () => {
  const find = (id: string): Line => line(id, { parentSessionId: `s${Number(id.slice(1)) - 1}` })
  expect(isWithinBounds(find('s64'), { under: 's0' }, find)).toBe(true)
  expect(isWithinBounds(find('s65'), { under: 's0' }, find)).toBe(false)
})
