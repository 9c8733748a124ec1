import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { asRecord, asString, parseJson } from '@agentproto/contracts'
import { expect, onTestFinished } from 'vitest'
import { type AgentRegistry, startAgentRegistry } from './agent-registry.js'
import { type CliUser, createCliUser } from './cli-user.mjs'
import { packageVariables } from './packed-agents.js'
import { temporaryFolder } from './temporary-folder.js'

/** A user of the command line whose registry of agents, npm and PyPI are on loopback. */
export interface RegistryUser extends CliUser {
  readonly registry: AgentRegistry
  /** Runs a command that must succeed. @returns what it printed with `--json`, and its stderr */
  done(
    ...args: readonly string[]
  ): Promise<{ readonly json: Readonly<Record<string, unknown>>; readonly notes: string }>
  /**
   * Runs a command that must fail, and leave the home as it was: no adapter, agent, process or file more, and a list that works.
   * @returns its problem document
   */
  refused(...args: readonly string[]): Promise<Problem>
  /** The manifest of an adapter in the home. */
  manifest(slug: string): string
}

export interface Problem {
  readonly code: string
  readonly detail: string
}

export async function createRegistryUser(...entries: readonly object[]): Promise<RegistryUser> {
  const registry = await startAgentRegistry(...entries)
  const user = createCliUser({ env: packageVariables(registry, temporaryFolder('npm-cache')) })
  onTestFinished(() => user.end())
  await user.run('config', 'set', 'registry.url', registry.document)

  async function done(...args: readonly string[]) {
    const { code, stdout, stderr } = await user.run(...args, '--json')
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    return { json: asRecord(parseJson(stdout)), notes: stderr }
  }

  async function refused(...args: readonly string[]) {
    const before = [...user.left(), ...user.ownFiles(), ...contentOf(user.home)]
    const { code, stdout, stderr } = await user.run(...args, '--json')
    expect({ failed: code > 0 && code < 128, stdout, stderr }).toMatchObject({ failed: true, stdout: '' })
    expect([...user.left(), ...user.ownFiles(), ...contentOf(user.home)]).toEqual(before)
    await done('adapters', 'list')
    const problem = asRecord(parseJson(stderr.trim().split('\n').at(-1) ?? ''))
    return { code: asString(problem['code']) ?? '', detail: asString(problem['detail']) ?? stderr }
  }

  const manifest = (slug: string): string => readFileSync(join(user.home, 'adapters', slug, 'AGENT-CLI.md'), 'utf8')
  return { ...user, registry, done, refused, manifest }
}

/** Everything below the adapters and agents of a home, but for what npm installed. */
const contentOf = (home: string): readonly string[] =>
  ['adapters', 'agents']
    .map((name) => join(home, name))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))))
    .filter((path) => !path.includes('node_modules'))
