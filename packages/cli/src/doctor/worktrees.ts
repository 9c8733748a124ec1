import { readdir, readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { asRecord, asString, parseJson } from '@agentproto/contracts'
import type { HomeLayout } from '@agentproto/contracts/agent'
import type { Finding } from './finding.js'

/** Worktrees that no session has any more: each was kept for work that is not merged. */
export async function checkWorktrees({ worktrees, sessions }: HomeLayout): Promise<Finding> {
  const found = await worktreesIn(worktrees)
  const known = new Set(found.length === 0 ? [] : await worktreesOfSessions(sessions))
  const left = found.filter((path) => !known.has(path))
  if (left.length === 0) return { verdict: 'ok', detail: `${found.length} in use` }
  return {
    verdict: 'warn',
    detail: `${left.length} without a session: ${left.slice(0, 20).join(', ')}`,
    hint: 'Merge what you need, then delete each with: git worktree remove --force <folder>',
  }
}

async function worktreesIn(root: string): Promise<readonly string[]> {
  const real = await realpath(root).catch(() => undefined)
  if (real === undefined) return []
  const found: string[] = []
  for (const repository of await foldersIn(real)) found.push(...(await foldersIn(repository)))
  return found
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))
}

/** By their records, which are newer than the index. */
async function worktreesOfSessions(sessions: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const folder of await foldersIn(sessions)) {
    const record = parseJson(await readFile(join(folder, 'meta.json'), 'utf8').catch(() => ''))
    const path = asString(asRecord(asRecord(asRecord(record)['session'])['worktree'])['path'])
    if (path !== undefined) found.push(path)
  }
  return found
}
