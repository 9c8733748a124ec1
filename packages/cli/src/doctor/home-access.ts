import { constants } from 'node:fs'
import { access, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { HomeLayout } from '@agentproto/contracts/agent'
import type { Finding } from './finding.js'

/** Whether the home can be written: also what is in it, which another user may have created. Writes nothing. */
export async function checkHome({ root }: HomeLayout): Promise<Finding> {
  const above = await existingFolder(root)
  if (above !== root) return checkNewHome(root, above)
  if (!(await stat(root)).isDirectory())
    return fail(`${root} is not a folder`, 'Move the file away, or set AGENTPROTO_HOME to a folder')
  const names = await readdir(root)
  const closed: string[] = []
  for (const path of [root, ...names.map((name) => join(root, name))]) if (!(await isWritable(path))) closed.push(path)
  if (closed.length === 0) return { verdict: 'ok', detail: root }
  const hint = 'Give them to your user with chown and chmod u+rwX, or set AGENTPROTO_HOME to another folder'
  return fail(`this user cannot write ${closed.slice(0, 10).join(', ')}`, hint)
}

/** The first start of a gateway creates it. */
const checkNewHome = async (root: string, above: string): Promise<Finding> =>
  (await isWritable(above))
    ? { verdict: 'ok', detail: `${root} does not exist yet; the first start of the gateway creates it` }
    : fail(`${root} cannot be created: this user cannot write ${above}`, 'Set AGENTPROTO_HOME to a folder of yours')

/** The path, or the nearest folder above it that exists. */
export async function existingFolder(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    const exists = await stat(folder).then(
      () => true,
      () => false,
    )
    if (exists || dirname(folder) === folder) return folder
  }
}

const fail = (detail: string, hint: string): Finding => ({ verdict: 'fail', detail, hint })

/** What was deleted meanwhile needs no access. */
const isWritable = (path: string): Promise<boolean> =>
  access(path, constants.R_OK | constants.W_OK).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  )
