import { fileURLToPath } from 'node:url'
import { requireInstalled } from './driven-agent.js'
import { finished, type Finished } from './finished-process.js'
import type { TestGateway } from './gateway.js'
import { newMark, type Mark } from './marked-processes.js'
import { temporaryFolder } from './temporary-folder.js'

const CLI = fileURLToPath(new URL('../../packages/cli/bin/agentproto.mjs', import.meta.url))

export interface AcpxRun extends Finished {
  /** The ACP messages, with `--format json`. */
  readonly messages: readonly Readonly<Record<string, unknown>>[]
}

export interface Acpx {
  /** In the environment of acpx and of the process that keeps its session. */
  readonly mark: Mark
  /** Runs acpx to its end, with `agentproto acp` and these flags as its agent. */
  run(flags: string, args: readonly string[]): Promise<AcpxRun>
}

/** The ACP client `acpx` with its own home; its agent is the gateway under test. */
export function acpxOf({ url, token, cwd }: TestGateway): Acpx {
  return acpxIn(cwd, '', { AGENTPROTO_URL: url, AGENTPROTO_TOKEN: token })
}

/** The same on another machine: in a folder of its own, and with `agentproto acp --remote`. */
export function remoteAcpxOf({ url, token }: Pick<TestGateway, 'url' | 'token'>): Acpx {
  const home = temporaryFolder('elsewhere')
  return acpxIn(home, `--remote ${url}`, { AGENTPROTO_HOME: home, AGENTPROTO_TOKEN: token })
}

function acpxIn(cwd: string, always: string, gateway: Readonly<Record<string, string>>): Acpx {
  const executable = requireInstalled('acpx')
  const mark = newMark()
  const own = { HOME: temporaryFolder('acpx'), NO_COLOR: '1', ...gateway }
  const env = { ...process.env, ...own, ...mark.env }
  return {
    mark,
    async run(flags, args) {
      const agent = `${process.execPath} ${CLI} acp ${always} ${flags}`
      const run = await finished([executable, '--agent', agent, '--cwd', cwd, ...args], { cwd, env })
      return { ...run, messages: run.stdout.split('\n').flatMap(messageOf) }
    },
  }
}

function messageOf(line: string): Readonly<Record<string, unknown>>[] {
  try {
    const message: unknown = JSON.parse(line)
    return typeof message === 'object' && message !== null ? [message as Readonly<Record<string, unknown>>] : []
  } catch {
    return []
  }
}
