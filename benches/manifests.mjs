// `agentproto manifest validate` on a thousand manifests with all that they refer to, against the YAML library alone on their front matter.
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { now } from './measure.mjs'
import { ms, row } from './table.mjs'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const cli = at('../packages/cli/bin/agentproto.mjs')
const catalog = at('../packages/adapters/catalog')

export function manifests({ home: folder, manifestCount }) {
  const slugs = readdirSync(catalog)
  const texts = []
  for (let index = 0; index < manifestCount; index += 1) {
    const slug = slugs[index % slugs.length]
    cpSync(join(catalog, slug), join(folder, String(index), slug), { recursive: true })
    for (const name of readdirSync(join(catalog, slug))) texts.push(readFileSync(join(catalog, slug, name), 'utf8'))
  }
  const fronts = texts.map((text) => text.slice(4, text.indexOf('\n---', 4)))
  const yamlMs = timed(() => fronts.forEach((front) => parse(front)))
  const cliMs = timed(() => {
    const { status } = spawnSync(process.execPath, [cli, 'manifest', 'validate', folder], { stdio: 'ignore' })
    if (status !== 0) throw new Error(`manifest validate ended with ${status}`)
  })
  return [
    row(`the YAML library alone, ${fronts.length} files`, yamlMs, { unit: ms }),
    row(`manifest validate, ${manifestCount} manifests`, cliMs, { most: 2 * manifestCount, unit: ms, of: yamlMs }),
  ]
}

/** The best of three: what it takes when nothing else runs. */
function timed(run) {
  const times = [0, 1, 2].map(() => {
    const began = now()
    run()
    return now() - began
  })
  return Math.min(...times)
}
