import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'

/** The operating system's keyring, used through its own command. Values go through pipes, never through arguments. */
export interface Keyring {
  /** @throws `storage_failed` */
  get(slug: string): Promise<string | undefined>
  /** @throws `storage_failed` */
  set(slug: string, payload: string): Promise<void>
  /** @throws `storage_failed` */
  delete(slug: string): Promise<void>
}

export interface KeyringOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Each home has its own entries. */
  readonly home: string
  /** Default: this process's. */
  readonly platform?: NodeJS.Platform
  /** Time limit of one call, in milliseconds. The keyring may ask its owner to unlock it. */
  readonly timeoutMs?: number
}

const SERVICE = 'agentproto'

/** The keyring of this host and user; undefined where there is none. */
export async function openKeyring(options: KeyringOptions): Promise<Keyring | undefined> {
  const { env, platform = process.platform } = options
  if (platform === 'darwin') return keychain(runner('/usr/bin/security', options), options.home)
  // Without a session bus there is no service, and the command would wait for one.
  if (platform === 'win32' || !env['DBUS_SESSION_BUS_ADDRESS']) return undefined
  const command = onPath('secret-tool', env['PATH'] ?? '')
  return command === undefined ? undefined : secretService(runner(command, options), options.home)
}

/** Linux: the Secret Service, by libsecret's `secret-tool`. */
function secretService(run: Run, home: string): Keyring {
  const attributes = (slug: string): string[] => ['service', SERVICE, 'home', home, 'slug', slug]
  return {
    async get(slug) {
      const { code, stdout, stderr } = await run(['lookup', ...attributes(slug)])
      if (code === 0) return decoded(stdout)
      // Without output, there is no such entry.
      if (stderr.trim() === '') return undefined
      throw failed(stderr)
    },
    async set(slug, payload) {
      const args = ['store', `--label=agentproto: ${slug}`, ...attributes(slug)]
      const { code, stderr } = await run(args, encoded(payload))
      if (code !== 0) throw failed(stderr)
    },
    async delete(slug) {
      const { code, stderr } = await run(['clear', ...attributes(slug)])
      if (code !== 0 && stderr.trim() !== '') throw failed(stderr)
    },
  }
}

/** Exit code of `security` when there is no such entry. */
const NOT_FOUND = 44

/** macOS: the login keychain. `security -i` reads its commands from stdin, so that no value is an argument. */
function keychain(run: Run, home: string): Keyring {
  const place = (slug: string): string[] => ['-s', SERVICE, '-a', `${home} ${slug}`]
  return {
    async get(slug) {
      const { code, stdout, stderr } = await run(['find-generic-password', ...place(slug), '-w'])
      if (code === 0) return decoded(stdout)
      if (code === NOT_FOUND) return undefined
      throw failed(stderr)
    },
    async set(slug, payload) {
      const line = ['add-generic-password', '-U', ...place(slug), '-w', encoded(payload)].map(quoted).join(' ')
      const { code, stderr } = await run(['-i'], `${line}\n`)
      // Interactive mode exits with 0 even if its command failed.
      if (code !== 0 || stderr.trim() !== '') throw failed(stderr)
    },
    async delete(slug) {
      const { code, stderr } = await run(['delete-generic-password', ...place(slug)])
      if (code !== 0 && code !== NOT_FOUND) throw failed(stderr)
    },
  }
}

const quoted = (word: string): string => `"${word.replaceAll(/["\\]/g, String.raw`\$&`)}"`

// Both commands print a value as one line of text, and one of them prints other values as hexadecimal.
const encoded = (payload: string): string => Buffer.from(payload).toString('base64')
const decoded = (text: string): string => Buffer.from(text.trim(), 'base64').toString('utf8')

/** stderr cannot contain a value: no value is passed as an argument. */
const failed = (stderr: string): AgentprotoError =>
  new AgentprotoError('storage_failed', 'The keyring rejected the request', {
    given: stderr.trim(),
    hint: 'Unlock the keyring, or store the secret in the file: --store file',
  })

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the keyring's command to its end, with a text as its stdin. */
type Run = (args: readonly string[], input?: string) => Promise<Ended>

const OUTPUT_BYTES_MAX = 512 * 1024

function runner(command: string, { env, timeoutMs = 30_000 }: KeyringOptions): Run {
  const options = { env, timeout: timeoutMs, maxBuffer: OUTPUT_BYTES_MAX, windowsHide: true }
  return (args, input = '') =>
    new Promise((resolve, reject) => {
      const child = execFile(command, args, options, (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code
        if (typeof code === 'number') return resolve({ code, stdout, stderr })
        const problem = code === undefined || code === null ? `did not answer within ${timeoutMs / 1_000} s` : 'failed'
        reject(new AgentprotoError('storage_failed', `The keyring ${problem}`, { cause: error }))
      })
      // A command that does not read its stdin reports why by its exit code.
      child.stdin?.on('error', () => undefined).end(input)
    })
}

function onPath(name: string, path: string): string | undefined {
  const files = path.split(delimiter).map((folder) => join(folder, name))
  return files.find((file) => isAbsolute(file) && isExecutable(file))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
