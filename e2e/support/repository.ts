import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@agentproto/client'
import { temporaryFolder } from './temporary-folder.js'

export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, encoding: 'utf8' }).trim()

/** A repository with one commit of `one.txt` on `main`, which is the active workspace `repo`. */
export async function repository({ client }: { readonly client: Client }): Promise<string> {
  const folder = join(temporaryFolder('work'), 'repo')
  mkdirSync(folder)
  git(folder, 'init', '-q', '-b', 'main')
  git(folder, 'config', 'user.name', 'Ada')
  git(folder, 'config', 'user.email', 'ada@example.com')
  writeFileSync(join(folder, 'one.txt'), 'first\n')
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '-m', 'first')
  await client.workspaces.add({ path: folder, slug: 'repo', use: true })
  return folder
}
