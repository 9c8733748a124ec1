import { spawn, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program with this Node to its end, without stdin. */
export async function finished(args: readonly string[], options: Pick<SpawnOptions, 'cwd' | 'env'>): Promise<Finished> {
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}
