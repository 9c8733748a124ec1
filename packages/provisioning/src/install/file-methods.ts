import { chmod, copyFile, mkdir, readdir, realpath } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import { AgentprotoError, defined, systemClock } from '@agentproto/contracts'
import { launchHints, makeOwned, removeOwned } from '@agentproto/driver-agent-cli/installation'
import type { ArchiveFile } from '../archive/archive-content.js'
import { unpack } from '../archive/unpack.js'
import { unpackAll } from '../archive/unpack-all.js'
import { fetchFile } from '../fetch-file.js'
import { fileHead } from '../file-head.js'
import type { Download } from '../provision-host.js'
import { type Installing, type Method, MethodSkipped } from './installing.js'
import { runInstaller } from './installer-command.js'
import { changePrefix, siblingOf } from './prefix-change.js'

const SCRIPT_BYTES_MAX = 4 * 1024 * 1024
const DOWNLOAD_BYTES_MAX = 1024 * 1024 * 1024
const UNPACKED_BYTES_MAX = 4 * DOWNLOAD_BYTES_MAX

/** `curl`: a script that is downloaded completely, verified, and only then run. */
export async function installScript(method: Method<'curl'>, installing: Installing): Promise<void> {
  const { platform, allowUnverified, emit } = installing
  if (platform.os === 'win32') throw new MethodSkipped('it is a shell script')
  if (method.verifySha256 === undefined && !allowUnverified) {
    throw new MethodSkipped(
      `its script cannot be verified: the manifest has no verify_sha256 (--allow-unverified runs it anyway; ${OUTSIDE})`,
    )
  }
  emit({ type: 'warning', message: `The install script ${method.url} is run now; ${OUTSIDE}.` })
  await withDownload(method, { maxBytes: SCRIPT_BYTES_MAX, ...installing }, async (script) => {
    await chmod(script, 0o700)
    const runnable =
      (await fileHead(script, 2)).toString('latin1') === '#!'
        ? { file: script, args: [] }
        : { file: '/bin/sh', args: [script] }
    await runInstaller({ method: 'curl', ...runnable }, installing)
  })
}

/** Scripts of vendors choose their folders themselves. */
const OUTSIDE = "it writes where it chooses, also outside of the agent's folder, and may change your shell's settings"

/** `download`: an archive, or the program itself, of which one file is the agent's program. */
export async function installDownload(method: Method<'download'>, installing: Installing): Promise<void> {
  const path = installing.host.env['PATH'] ?? ''
  const maxBytes = DOWNLOAD_BYTES_MAX
  const { unpack: wanted, registryVersion } = launchHints(installing.manifest)
  // A registry of others may lead to any file, and an https address alone does not say that it stays the same.
  if (registryVersion !== undefined && method.verifySha256 === undefined && !installing.allowUnverified)
    throw new MethodSkipped(
      'its download has no checksum: neither the registry nor the manifest has one (--allow-unverified)',
    )
  await withDownload(method, { maxBytes, ...installing }, async (archive, download) => {
    if (wanted === 'all') await placeArchive(method, installing, { archive, path, maxBytes: UNPACKED_BYTES_MAX })
    else await placeProgram(installing, (to) => unpack({ archive, member: method.extractBin, to, maxBytes, path }))
    await installing.host.acceptDownload?.(download)
  })
}

/** The whole archive, in a folder of the prefix: its program may need what is beside it. */
const placeArchive = ({ extractBin }: Method<'download'>, installing: Installing, file: ArchiveFile): Promise<void> =>
  changePrefix(installing, async (folder) => {
    const to = join(folder, 'unpacked')
    await unpackAll({ ...file, to, single: extractBin })
    await makeProgram(join(to, extractBin), to)
  })

/** Archives that were made on Windows do not say which files are programs. */
async function makeProgram(program: string, root: string): Promise<void> {
  const real = await realpath(program).catch(() => undefined)
  if (real?.startsWith(`${await realpath(root)}${sep}`) === true) return chmod(real, 0o755)
  const there = await readdir(root)
  throw new AgentprotoError('install_failed', 'The download does not hold the file that the manifest names', {
    expected: program.slice(root.length + 1),
    given: there.slice(0, 20).join(', '),
  })
}

/** `vendored`: a file that came with the manifest. */
export async function installVendored({ path }: Method<'vendored'>, installing: Installing): Promise<void> {
  const { directory, emit } = installing
  const root = await realpath(directory)
  const file = await realpath(join(root, path)).catch(() => undefined)
  if (file === undefined) throw new MethodSkipped(`${path} is not there`)
  if (!file.startsWith(`${root}${sep}`)) {
    throw new AgentprotoError('install_failed', 'The vendored file is outside the folder of the manifest', {
      given: path,
    })
  }
  emit({ type: 'method', method: 'vendored', state: 'started', detail: file })
  await placeProgram(installing, (to) => copyFile(file, to))
}

/** Fills a new prefix with the one program of the agent. */
const placeProgram = (installing: Installing, write: (to: string) => Promise<void>): Promise<void> =>
  changePrefix(installing, async (folder) => {
    const to = join(folder, 'bin', basename(installing.manifest.bin))
    await mkdir(join(folder, 'bin'))
    await write(to)
    await chmod(to, 0o755)
  })

/** Downloads and verifies a file, and removes it after its use. */
async function withDownload(
  { method, url, verifySha256: sha256 }: Method<'curl' | 'download'>,
  { host, prefix, signal, emit, maxBytes }: Installing & { readonly maxBytes: number },
  use: (file: string, download: Download) => Promise<void>,
): Promise<void> {
  emit({ type: 'method', method, state: 'started', detail: url })
  const folder = siblingOf(prefix, 'tmp')
  const to = join(folder, 'download')
  const verified = sha256 !== undefined
  try {
    await makeOwned(folder, host.installMarker)
    const fetched = await fetchFile({
      url,
      to,
      maxBytes,
      signal,
      clock: host.clock ?? systemClock,
      ...defined({ sha256 }),
      onProgress: (bytes, total) => emit({ type: 'progress', bytes, ...defined({ total }) }),
    })
    emit({ type: 'download', url, ...fetched, verified })
    if (!verified) emit({ type: 'warning', message: unverified(url, fetched.sha256) })
    await use(to, { url, sha256: fetched.sha256, verified })
  } finally {
    await removeOwned(folder)
  }
}

const unverified = (url: string, sha256: string): string =>
  `The download of ${url} is not verified: the manifest has no verify_sha256. Its SHA-256 is ${sha256}.`
