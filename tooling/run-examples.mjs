// Runs every example, each with an empty home of its own: node tooling/run-examples.mjs [name ...]
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'examples')
const LIMIT_MS = 60_000

const asked = process.argv.slice(2)
const names =
  asked.length > 0 ? asked : readdirSync(folder).filter((name) => existsSync(join(folder, name, 'main.mjs')))
const failed = names.filter((name) => !run(name))
if (failed.length > 0) throw new Error(`These examples failed: ${failed.join(', ')}`)

function run(name) {
  const scratch = mkdtempSync(join(tmpdir(), 'agentproto-example-'))
  const started = performance.now()
  try {
    const env = { ...process.env, AGENTPROTO_HOME: join(scratch, 'home'), XDG_STATE_HOME: join(scratch, 'state') }
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['main.mjs'], {
      cwd: join(folder, name),
      env,
      encoding: 'utf8',
      timeout: LIMIT_MS,
    })
    const ok = status === 0
    console.log(`${ok ? 'ok    ' : 'failed'} ${name} (${Math.round(performance.now() - started)} ms)`)
    if (!ok) console.log(`${stdout}${stderr}${signal ? `\nended by signal ${signal}` : ''}`)
    return ok
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
