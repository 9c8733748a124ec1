import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { EXIT } from '@agentproto/contracts'
import { adaptersOf } from '../adapters/adapters-of.js'
import { print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'

/** `agentproto adapters add`: a folder where there is one of that name, else an npm package. */
export async function addAdapter(io: Io, source: string, { json }: JsonOption): Promise<number> {
  const path = resolve(io.cwd, source)
  const isPath = isAbsolute(source) || source.startsWith('.') || existsSync(path)
  const added = await (await adaptersOf(io)).add(isPath ? path : source)
  if (json === true) printJson(io, added)
  else print(io.stdout, added.slug)
  if (json !== true && !added.installed) print(io.stderr, `Next: agentproto adapters install ${added.slug}`)
  return EXIT.ok
}
