import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** The path of a file that does not exist, in a folder that is gone after the test. */
export async function tempFile(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-json-file-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'home', 'names.json')
}
