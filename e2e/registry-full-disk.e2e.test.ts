import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { asRecord, asString, parseJson } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { tar } from '../packages/provisioning/test/archives.js'
import { gzipSync } from 'node:zlib'
import { needs } from '../tooling/needs.ts'
import { entryOf } from './support/agent-registry.js'
import { smallDisk } from './support/refusing-disk.js'
import { binaryFor } from './support/packed-agents.js'
import { createRegistryUser } from './support/registry-user.js'

const CLI = fileURLToPath(new URL('../packages/cli/bin/agentproto.mjs', import.meta.url))

/** What every command of the test runs in: the disk is there only within one shell. Lists what there is after the adding. */
const SCRIPT = `
if [ "$FULL" = yes ]; then cat /dev/zero > "$AGENTPROTO_HOME/filler" 2>/dev/null; fi
"$@" adapters add acp:sample --allow-unverified --json 2>&1 >/dev/null | tail -1
find "$AGENTPROTO_HOME/agents" "$AGENTPROTO_HOME/adapters" "$TMPDIR" -mindepth 1 2>/dev/null | tr '\\n' ' '; echo
"$@" adapters list --json | head -c 300 | tr '\\n' ' '; echo
"$@" adapters show sample --json 2>&1 | tail -1
`

// Elsewhere there is no disk that is full for one command alone.
const CAN_MOUNT = smallDisk('/').through.length > 0

test.each([
  ['unpacked', { zeros: 20 * 1024 ** 2 }],
  ['downloaded', { noise: 12 * 1024 ** 2 }],
  ['looked up', { full: 'yes' }],
])(
  '18 a disk that is full before an agent is %s: a clear error, nothing half there, and a list that works',
  CAN_MOUNT ? needs('linux') : { skip: true },
  async (_what, { noise = 0, zeros = 1_000, full = 'no' }: Disk) => {
    const user = await createRegistryUser()
    const archive = gzipSync(
      await tar([{ name: 'bin/agent', mode: 0o755 }, `${incompressible(noise)}${'\0'.repeat(zeros)}`]),
    )
    const target = { archive: user.registry.put('/sample.tar.gz', archive), cmd: './bin/agent' }
    user.registry.list(entryOf('sample', binaryFor(target)))
    const home = join(user.home, '..', 'small')
    mkdirSync(home)
    const { through } = smallDisk(home)
    const script = join(user.cwd, 'script.sh')
    writeFileSync(script, `"$@" config set registry.url ${user.registry.document} >/dev/null\n${SCRIPT}`)
    const command = [...through, 'sh', script, process.execPath, CLI]
    const child = spawn('env', command, {
      cwd: user.cwd,
      env: { ...user.env, AGENTPROTO_HOME: home, FULL: full },
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
    await once(child, 'close')
    const [problem = '', left = '', list = '', shown = ''] = said.split('\n')
    expect(asRecord(parseJson(problem))).toMatchObject({
      code: expect.stringMatching(/^(?:install_failed|storage_failed)$/) as string,
      detail: expect.stringMatching(/ENOSPC/) as string,
    })
    expect(left.trim()).toBe('')
    expect(list).toContain('"slug"')
    expect(asString(asRecord(parseJson(shown))['code'])).toBe('adapter_not_found')
  },
)

/** How large the agent is, in characters that can be packed and in others, and whether the disk is full from the start. */
interface Disk {
  readonly zeros?: number
  readonly noise?: number
  readonly full?: string
}

const incompressible = (length: number): string => {
  const parts = []
  for (let at = 0; at < length; at += 36) parts.push(crypto.randomUUID())
  return parts.join('')
}
