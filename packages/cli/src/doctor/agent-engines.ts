import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { asRecord, asString, parseJson } from '@agentproto/contracts'
import satisfies from 'semver/functions/satisfies.js'
import validRange from 'semver/ranges/valid.js'
import type { Finding } from './finding.js'

/** The part of the adapters that the check needs. */
interface InstalledAgents {
  list(): Promise<readonly { readonly slug: string; readonly installed: boolean }[]>
  state(slug: string): Promise<{ readonly executable?: string | undefined }>
}

/** Whether the packages of the installed agents accept this Node, which runs them. Runs none of them. */
export async function checkEngines(adapters: InstalledAgents, node = process.versions.node): Promise<Finding> {
  const wrong: string[] = []
  for (const { slug, installed } of await adapters.list()) {
    if (!installed) continue
    const { executable } = await adapters.state(slug)
    const range = executable === undefined ? undefined : await engineOf(executable)
    if (range !== undefined && validRange(range) !== null && !satisfies(node, range))
      wrong.push(`${slug} requires ${range}`)
  }
  if (wrong.length === 0) return { verdict: 'ok', detail: `${node} is what all of them accept` }
  return {
    verdict: 'warn',
    detail: `this Node is ${node}: ${wrong.join(', ')}`,
    hint: 'Install a Node that they accept, then: agentproto stop && agentproto serve --detach',
  }
}

/** Of the npm package that a program belongs to. */
async function engineOf(file: string): Promise<string | undefined> {
  for (let folder = dirname(file); folder.includes('node_modules'); folder = dirname(folder)) {
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '')
    const content = asRecord(parseJson(text))
    // Folders of a package may have a package.json that only says how its modules are read.
    if ('name' in content && 'version' in content) return asString(asRecord(content['engines'])['node'])
  }
  return undefined
}
