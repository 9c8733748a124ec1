import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const BIN = fileURLToPath(new URL('../bin/agentproto.mjs', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}
export interface Options {
  readonly home: string
  readonly cwd?: string
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
}

/** A temporary folder, removed after the test. */
export function folder(name = 'cli'): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), `agentproto-${name}-`)))
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }))
  return path
}

export const environment = ({ home, env }: Pick<Options, 'home' | 'env'>): NodeJS.ProcessEnv => ({
  ...process.env,
  AGENTPROTO_HOME: home,
  AGENTPROTO_DEMO_HOME: join(home, 'demo'),
  NO_COLOR: '1',
  // Only tests that stop it start a gateway in the background.
  AGENTPROTO_NO_START: '1',
  ...env,
})

/** The agents of this home end with its gateway, also where that is killed. */
export function withoutKeeper(home: string): string {
  writeFileSync(join(home, 'config.json'), JSON.stringify({ keeper: false }), { mode: 0o600 })
  return home
}

/** Runs the built command to its end. */
export async function cli(args: readonly string[], options: Options): Promise<Ended> {
  const started = start(args, options)
  started.child.stdin?.end(options.input ?? '')
  return started.ended
}

export interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves with the first line of stdout that matches. */
  line(pattern: RegExp): Promise<string>
}

export function start(args: readonly string[], options: Options): Started {
  const child = spawn(process.execPath, [BIN, ...args], { cwd: options.cwd ?? options.home, env: environment(options) })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'close')
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  const lines = createInterface(child.stdout)
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }))
  return {
    child,
    ended,
    async line(pattern) {
      const found = new Promise<string>((resolve) => lines.on('line', (text) => pattern.test(text) && resolve(text)))
      const early = ended.then(({ stderr: output }) =>
        Promise.reject(new Error(`It ended before it printed ${pattern}: ${output}`)),
      )
      return Promise.race([found, early])
    },
  }
}

/** A gateway, stopped after the test. */
export async function serve(
  home: string,
  { args = [], ...options }: Omit<Options, 'home'> & { readonly args?: readonly string[] } = {},
): Promise<Started & { readonly url: string }> {
  const started = start(['serve', '--port', '0', ...args], { home, ...options })
  return { ...started, url: await started.line(/^http/) }
}
