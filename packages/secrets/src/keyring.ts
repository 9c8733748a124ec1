import { spawn } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
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
  if (platform === 'darwin') return keychain('/usr/bin/security', options)
  // Without a session bus there is no service, and the command would wait for one.
  if (platform === 'win32' || !env['DBUS_SESSION_BUS_ADDRESS']) return undefined
  const command = await onPath('secret-tool', env['PATH'] ?? '')
  return command === undefined ? undefined : secretService(command, options)
}

/** Linux: the Secret Service, by libsecret's `secret-tool`. */
function secretService(command: string, options: KeyringOptions): Keyring {
  const attributes = (slug: string): string[] => ['service', SERVICE, 'home', options.home, 'slug', slug]
  return {
    async get(slug) {
      const { code, stdout, stderr } = await run(command, ['lookup', ...attributes(slug)], { ...options, input: '' })
      if (code === 0) return decoded(stdout)
      // Without output, there is no such entry.
      if (stderr.trim() === '') return undefined
      throw failed(stderr)
    },
    async set(slug, payload) {
      const args = ['store', `--label=agentproto: ${slug}`, ...attributes(slug)]
      const { code, stderr } = await run(command, args, { ...options, input: encoded(payload) })
      if (code !== 0) throw failed(stderr)
    },
    async delete(slug) {
      const { code, stderr } = await run(command, ['clear', ...attributes(slug)], { ...options, input: '' })
      if (code !== 0 && stderr.trim() !== '') throw failed(stderr)
    },
  }
}

/** Exit code of `security` when there is no such entry. */
const NOT_FOUND = 44

/** macOS: the login keychain. `security -i` reads its commands from stdin, so that no value is an argument. */
function keychain(command: string, options: KeyringOptions): Keyring {
  const place = (slug: string): string[] => ['-s', SERVICE, '-a', `${options.home} ${slug}`]
  return {
    async get(slug) {
      const { code, stdout, stderr } = await run(command, ['find-generic-password', ...place(slug), '-w'], {
        ...options,
        input: '',
      })
      if (code === 0) return decoded(stdout)
      if (code === NOT_FOUND) return undefined
      throw failed(stderr)
    },
    async set(slug, payload) {
      const line = ['add-generic-password', '-U', ...place(slug), '-w', encoded(payload)].map(quoted).join(' ')
      const { code, stderr } = await run(command, ['-i'], { ...options, input: `${line}\n` })
      // Interactive mode exits with 0 even if its command failed.
      if (code !== 0 || stderr.trim() !== '') throw failed(stderr)
    },
    async delete(slug) {
      const { code, stderr } = await run(command, ['delete-generic-password', ...place(slug)], {
        ...options,
        input: '',
      })
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
    hint: 'Unlock the keyring, or store the secret in the file: agentproto secrets set --store file',
  })

interface RunOptions extends KeyringOptions {
  readonly input: string
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const OUTPUT_CHARS_MAX = 512 * 1024

function run(command: string, args: readonly string[], { env, input, timeoutMs = 30_000 }: RunOptions): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'], timeout: timeoutMs, windowsHide: true })
    const printed = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        printed[name] = (printed[name] + text).slice(0, OUTPUT_CHARS_MAX)
      })
    }
    child.once('error', (cause) =>
      reject(new AgentprotoError('storage_failed', 'The keyring command could not be started', { cause })),
    )
    child.once('close', (code, signal) => {
      if (signal === null) resolve({ code, ...printed })
      else reject(new AgentprotoError('storage_failed', `The keyring did not answer within ${timeoutMs / 1_000} s`))
    })
    // A command that does not read its stdin reports why by its exit code.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}

async function onPath(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const file = join(folder, name)
    if (await isExecutable(file)) return file
  }
  return undefined
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
