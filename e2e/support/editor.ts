import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { ndJsonStream, type ClientCapabilities } from '@agentclientprotocol/sdk'
import { onTestFinished } from 'vitest'
import { type AcpUser, connectUser } from './acp-user.js'
import { temporaryFolder } from './temporary-folder.js'

const CLI = fileURLToPath(new URL('../../packages/cli/bin/agentproto.mjs', import.meta.url))

/** The official ACP client, whose agent is `agentproto acp` as a process. */
export interface Editor extends Omit<AcpUser, 'leave'> {
  /** Writes to stdin, outside the protocol. */
  write(text: string): void
  /** The end of stdin, as when an editor is closed. */
  leave(): Promise<{ readonly code: number | null; readonly stderr: string }>
  /** SIGKILL. */
  crash(): Promise<void>
  /** Sends a signal, and waits for the end of the process. */
  signal(name: NodeJS.Signals): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

interface Options {
  readonly flags?: readonly string[]
  readonly capabilities?: ClientCapabilities
}

/** @param env The gateway: `AGENTPROTO_URL` and `AGENTPROTO_TOKEN`, or `AGENTPROTO_HOME` */
export async function startEditor(
  env: Readonly<Record<string, string>>,
  { flags = [], capabilities = {} }: Options = {},
): Promise<Editor> {
  const child = spawn(process.execPath, [CLI, 'acp', ...flags], {
    cwd: temporaryFolder('editor'),
    env: { ...process.env, AGENTPROTO_NO_START: '1', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await closed
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  child.stdin.on('error', () => undefined)
  const stdout = Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>
  const user = await connectUser(ndJsonStream(Writable.toWeb(child.stdin), stdout), capabilities)
  return {
    ...user,
    write: (text) => void child.stdin.write(text),
    async leave() {
      child.stdin.end()
      const [code] = (await closed) as [number | null]
      return { code, stderr }
    },
    async crash() {
      child.kill('SIGKILL')
      await closed
    },
    async signal(name) {
      child.kill(name)
      const [code, signal] = (await closed) as [number | null, NodeJS.Signals | null]
      return { code, signal }
    },
  }
}
