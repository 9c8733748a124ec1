import { chmod, copyFile, mkdir, open, realpath, rm } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import { AgentprotoError, systemClock } from '@agentproto/contracts'
import type { InstallMethod } from '@agentproto/manifest'
import { unpack } from '../archive/unpack.js'
import { fetchFile } from '../fetch-file.js'
import { type Installing, MethodSkipped } from './installing.js'
import { runInstaller } from './installer-command.js'
import { changePrefix, siblingOf } from './prefix-change.js'

type Method<Name extends InstallMethod['method']> = Extract<InstallMethod, { method: Name }>

const SCRIPT_BYTES_MAX = 4 * 1024 * 1024
const DOWNLOAD_BYTES_MAX = 1024 * 1024 * 1024

/** `curl`: a script that is downloaded completely, verified, and only then run. */
export async function installScript({ url, verifySha256 }: Method<'curl'>, installing: Installing): Promise<void> {
  const { platform, allowUnverified, emit } = installing
  if (platform.os === 'win32') throw new MethodSkipped('it is a shell script')
  if (verifySha256 === undefined && !allowUnverified) {
    throw new MethodSkipped(
      'its script cannot be verified: the manifest has no verify_sha256 (--allow-unverified runs it anyway)',
    )
  }
  if (verifySha256 === undefined) emit({ type: 'warning', message: `The script of ${url} is not verified.` })
  await withTemporaryFolder(installing, async (folder) => {
    const script = join(folder, 'install')
    emit({ type: 'method', method: 'curl', state: 'started', detail: url })
    await fetched(
      { url, to: script, maxBytes: SCRIPT_BYTES_MAX, ...(verifySha256 === undefined ? {} : { sha256: verifySha256 }) },
      installing,
    )
    await chmod(script, 0o700)
    const runnable = (await hasInterpreter(script)) ? { file: script, args: [] } : { file: '/bin/sh', args: [script] }
    await runInstaller({ method: 'curl', ...runnable }, installing)
  })
}

/** `download`: an archive, or the program itself, of which one file is the agent's program. */
export async function installDownload(method: Method<'download'>, installing: Installing): Promise<void> {
  const { url, extractBin, verifySha256 } = method
  const { manifest, host, emit } = installing
  await withTemporaryFolder(installing, async (temporary) => {
    const archive = join(temporary, 'download')
    emit({ type: 'method', method: 'download', state: 'started', detail: url })
    if (verifySha256 === undefined)
      emit({ type: 'warning', message: `The download of ${url} is not verified: the manifest has no verify_sha256.` })
    await fetched(
      {
        url,
        to: archive,
        maxBytes: DOWNLOAD_BYTES_MAX,
        ...(verifySha256 === undefined ? {} : { sha256: verifySha256 }),
      },
      installing,
    )
    await changePrefix(installing, async (folder) => {
      const to = join(folder, 'bin', basename(manifest.bin))
      await mkdir(join(folder, 'bin'))
      await unpack({ archive, member: extractBin, to, maxBytes: DOWNLOAD_BYTES_MAX, path: host.env['PATH'] ?? '' })
      await chmod(to, 0o755)
    })
  })
}

/** `vendored`: a file that came with the manifest. */
export async function installVendored({ path }: Method<'vendored'>, installing: Installing): Promise<void> {
  const { manifest, directory, emit } = installing
  const root = await realpath(directory)
  const file = await realpath(join(root, path)).catch(() => undefined)
  if (file === undefined) throw new MethodSkipped(`${path} is not there`)
  if (!file.startsWith(`${root}${sep}`)) {
    throw new AgentprotoError('install_failed', 'The vendored file is outside the folder of the manifest', {
      given: path,
    })
  }
  emit({ type: 'method', method: 'vendored', state: 'started', detail: file })
  await changePrefix(installing, async (folder) => {
    const to = join(folder, 'bin', basename(manifest.bin))
    await mkdir(join(folder, 'bin'))
    await copyFile(file, to)
    await chmod(to, 0o755)
  })
}

type Wanted = Pick<Parameters<typeof fetchFile>[0], 'url' | 'to' | 'maxBytes' | 'sha256'>

const fetched = (wanted: Wanted, { host, signal, emit }: Installing): Promise<void> =>
  fetchFile({
    ...wanted,
    signal,
    clock: host.clock ?? systemClock,
    onProgress: (bytes, total) => emit({ type: 'progress', bytes, ...(total === undefined ? {} : { total }) }),
  })

async function withTemporaryFolder(installing: Installing, run: (folder: string) => Promise<void>): Promise<void> {
  const folder = siblingOf(installing.prefix, 'tmp')
  try {
    await mkdir(folder, { mode: 0o700 })
    await run(folder)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function hasInterpreter(script: string): Promise<boolean> {
  const file = await open(script)
  try {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return buffer.toString('latin1') === '#!'
  } finally {
    await file.close()
  }
}
