import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { AdapterState, DoctorCheck } from '@agentproto/contracts/wire'
import { expect, onTestFinished, test } from 'vitest'
import { agentFolder } from './agent-cache.mjs'
import { startMockLlm } from './mock-llm/start-mock-llm.js'
import { codexEnvironment } from './support/codex.js'
import { geminiEnvironment } from './support/gemini.js'
import { newMark } from './support/marked-processes.js'
import { openCodeEnvironment } from './support/opencode.js'
import { temporaryFolder } from './support/temporary-folder.js'
import { needs } from '../tooling/needs.ts'

// `agentproto adapters install <slug> && agentproto adapters doctor <slug> --live`, as a user types it, without a running gateway.

const cli = fileURLToPath(new URL('../packages/cli/bin/agentproto.mjs', import.meta.url))
const run = promisify(execFile)

const AGENTS = [
  { slug: 'opencode', cached: 'opencode', version: '1.18.33', variables: openCodeEnvironment },
  // Its model provider needs no login.
  { slug: 'codex', cached: 'codex-acp', version: '2.6.0', variables: codexEnvironment },
  // It can be resumed a minute after its start, as its manifest says.
  { slug: 'gemini-cli', cached: 'gemini', version: '0.61.0', variables: geminiEnvironment },
] as const

test.each(AGENTS)(
  '$slug is installed, and passes the live checks',
  { ...needs('opencode', 'codex-acp', 'gemini'), timeout: 300_000 },
  async ({ slug, cached, version, variables }) => {
    const mock = await startMockLlm()
    onTestFinished(() => mock.close())
    const home = temporaryFolder('operator')
    const ownHome = join(home, '.agentproto')
    // The folder that npm has installed before, so that a run does not need the registry.
    mkdirSync(join(ownHome, 'agents'), { recursive: true })
    symlinkSync(agentFolder(cached), join(ownHome, 'agents', slug))
    const mark = newMark()
    const env = {
      PATH: process.env['PATH'],
      AGENTPROTO_HOME: ownHome,
      ...variables(home, mock.url),
      ...mark.env,
    }
    const agentproto = async <T>(...args: readonly string[]): Promise<T> => {
      const { stdout } = await run(process.execPath, [cli, 'adapters', ...args, '--json'], { cwd: home, env })
      return JSON.parse(stdout) as T
    }
    expect(await agentproto<AdapterState>('install', slug)).toMatchObject({ slug, installed: true, version })
    const talk = ['--prompt', 'hello', '--long-prompt', 'SLOW 100']
    const { ok, checks } = await agentproto<{ ok: boolean; checks: DoctorCheck[] }>('doctor', slug, '--live', ...talk)
    expect(checks.filter(({ verdict }) => verdict === 'fail' || verdict === 'skip')).toEqual([])
    expect(ok).toBe(true)
    const said = (id: string) => checks.find((check) => check.id === id)?.detail
    expect(said('install')).toContain('in a folder of its own')
    expect(said('live.prompt')).toBe('echo: hello')
    expect(said('live.resumed-prompt')).toBe('echo: hello')
    expect(mark.living()).toEqual([])
  },
)
