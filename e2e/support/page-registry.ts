import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startAgentRegistry } from './agent-registry.js'
import { archiveOf, binaryFor, packageVariables, publishNpm } from './packed-agents.js'

/**
 * A registry of agents for the commands of a page: names as the public one has them, and behind each of them the demo agent, from npm
 * or from a download.
 * @param home Folder of agentproto's state, whose settings get the address
 * @returns variables for npm
 */
export async function putPageRegistry(home: string): Promise<Readonly<Record<string, string>>> {
  const registry = await startAgentRegistry()
  await publishNpm(registry, { name: '@augmentcode/auggie', versions: ['0.35.0', '0.36.0'] })
  await publishNpm(registry, { name: 'my-agent', versions: ['1.0.0'] })
  const archive = registry.put('/stakpak-linux.tar.gz', await archiveOf('tar.gz'))
  const facts = { description: 'A coding agent', license: 'proprietary' }
  registry.list(
    { ...facts, id: 'auggie', name: 'Auggie CLI', version: '0.36.0', distribution: AUGGIE },
    {
      ...facts,
      id: 'stakpak',
      name: 'Stakpak',
      version: '0.3.88',
      distribution: binaryFor({ archive, cmd: 'bin/agent' }),
    },
  )
  mkdirSync(home, { recursive: true, mode: 0o700 })
  writeFileSync(join(home, 'config.json'), JSON.stringify({ registry: { url: registry.document } }), { mode: 0o600 })
  return packageVariables(registry, join(home, '..', '.npm-cache'))
}

const AUGGIE = { npx: { package: '@augmentcode/auggie@0.36.0' } }
