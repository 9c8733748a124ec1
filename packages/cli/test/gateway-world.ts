import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { BIN, environment, type Ended, type Options } from './cli-process.js'
import { runHere } from './run-here.js'

/** A home with a gateway and a workspace, shared by the tests of a file, which closes it. */
export interface GatewayWorld {
  readonly home: string
  readonly url: string
  /** The folder of the active workspace `shop`. */
  readonly shop: string
  /** Runs a command in the folder of the workspace, or elsewhere. */
  run(args: readonly string[], options?: Partial<Options>): Promise<Ended>
  close(): Promise<void>
}

export async function gatewayWorld(): Promise<GatewayWorld> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'agentproto-world-')))
  const shop = join(home, 'shop')
  mkdirSync(shop)
  writeFileSync(join(shop, 'notes.txt'), 'forty-two\n')
  const child = spawn(process.execPath, [BIN, 'serve', '--port', '0'], { cwd: home, env: environment({ home }) })
  child.stderr.resume()
  const closed = once(child, 'close')
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
  const run = (args: readonly string[], options: Partial<Options> = {}): Promise<Ended> =>
    runHere(args, { home, cwd: shop, ...options })
  await run(['workspace', 'add', shop, '--use'])
  async function close(): Promise<void> {
    child.kill('SIGTERM')
    await closed
    rmSync(home, { recursive: true, force: true, maxRetries: 3 })
  }
  return { home, url, shop, run, close }
}
