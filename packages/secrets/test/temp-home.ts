import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder that is gone after the test. */
export function tempHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'agentproto-secrets-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  return home
}

/**
 * Puts a `secret-tool` on a PATH of its own. It keeps its entries in `entries.json`, and notes the arguments
 * of every call in `calls`, as the process table would show them.
 */
export function fakeSecretTool(folder: string): Record<string, string> {
  const file = join(folder, 'secret-tool')
  writeFileSync(file, `#!${process.execPath}\n${SECRET_TOOL.replaceAll('FOLDER', JSON.stringify(folder))}`)
  chmodSync(file, 0o755)
  return { PATH: folder, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' }
}

const SECRET_TOOL = `
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs')
const store = FOLDER + '/entries.json'
const [verb, ...args] = process.argv.slice(2)
appendFileSync(FOLDER + '/calls', process.argv.slice(2).join(' ') + '\\n')
if (existsSync(FOLDER + '/locked')) {
  process.stderr.write('Cannot unlock\\n')
  process.exit(1)
}
const entries = existsSync(store) ? JSON.parse(readFileSync(store, 'utf8')) : {}
const key = args.filter((arg) => !arg.startsWith('--')).join(' ')
if (verb === 'store') entries[key] = readFileSync(0, 'utf8')
if (verb === 'clear') delete entries[key]
writeFileSync(store, JSON.stringify(entries))
if (verb === 'lookup') entries[key] === undefined ? process.exit(1) : process.stdout.write(entries[key])
`
