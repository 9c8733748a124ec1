import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { tar, zip } from '../../packages/provisioning/test/archives.js'
import type { LoopbackServer } from './loopback-server.js'

// Agents as an entry of a registry leads to them: an npm package, a Python package, an archive, a program.

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Paths of programs that speak ACP: one that does all that an agent does, one that fails on demand, and one that cannot be driven. */
const DEMO_AGENT = pathOf('../../packages/demo-agent/bin/demo-agent.mjs')
export const FAILING_AGENT = pathOf('../../packages/arm-testing/fixtures/agent.mjs')
export const UNFIT_AGENT = pathOf('../fixtures/unfit-agent.mjs')

/** A program without an ending, for an archive. */
const shellProgram = (agent: string): string => `#!/bin/sh\nexec '${process.execPath}' '${agent}' "$@"\n`

export const ARCHIVE_FORMS = ['zip', 'tar.gz', 'tar.bz2', 'raw'] as const
export type ArchiveForm = (typeof ARCHIVE_FORMS)[number]

/** An agent in a download of this form, as `bin/agent` where the form has folders. */
export async function archiveOf(form: ArchiveForm, agent = DEMO_AGENT): Promise<Buffer> {
  const program = shellProgram(agent)
  const packed = () => tar([{ name: 'bin/', type: 'directory' }], [{ name: 'bin/agent', mode: 0o755 }, program])
  switch (form) {
    case 'zip':
      return zip({ name: 'bin/agent', content: program })
    case 'tar.gz':
      return gzipSync(await packed())
    case 'tar.bz2':
      return bzip2(await packed())
    case 'raw':
      return Buffer.from(program)
  }
}

/** Node has no bzip2. */
const bzip2 = (input: Uint8Array): Buffer =>
  execFileSync('python3', ['-c', 'import bz2, sys; sys.stdout.buffer.write(bz2.compress(sys.stdin.buffer.read()))'], {
    input,
  })

/** The target of an entry for the platform of the test, which is Linux. */
export const binaryFor = (target: object): object => ({
  binary: { [process.arch === 'arm64' ? 'linux-aarch64' : 'linux-x86_64']: target },
})

export interface NpmPackage {
  readonly name: string
  readonly versions: readonly string[]
  readonly agent?: string
  /** Further members of each package.json. */
  readonly more?: object
}

/** Publishes a package with one program, which has the package's name. */
export async function publishNpm(
  server: LoopbackServer,
  { name, versions, agent = DEMO_AGENT, more = {} }: NpmPackage,
): Promise<void> {
  const entries = await Promise.all(
    versions.map(async (version) => {
      const manifest = { name, version, license: 'MIT', bin: { [bareName(name)]: 'main.mjs' }, ...more }
      const bytes = gzipSync(
        await tar(
          [{ name: 'package/package.json' }, JSON.stringify(manifest)],
          [
            { name: 'package/main.mjs', mode: 0o755 },
            `#!/usr/bin/env node\nawait import('${pathToFileURL(agent).href}')\n`,
          ],
        ),
      )
      const tarball = server.put(`${NPM}/${name}/-/${bareName(name)}-${version}.tgz`, bytes)
      const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
      return [version, { ...manifest, dist: { tarball, integrity, unpackedSize: 4_000 } }]
    }),
  )
  const document = { name, 'dist-tags': { latest: versions.at(-1) }, versions: Object.fromEntries(entries) }
  server.put(`${NPM}/${name}`, JSON.stringify(document))
}

const NPM = '/npm'
const bareName = (name: string): string => name.slice(name.indexOf('/') + 1)

/** Publishes a Python package with one program, which has the package's name. Letters and digits only. */
export function publishPython(server: LoopbackServer, name: string, version: string): void {
  const info = `${name}-${version}.dist-info`
  const wheel = zip(
    { name: `${name}-${version}.data/scripts/${name}`, content: shellProgram(DEMO_AGENT) },
    { name: `${info}/METADATA`, content: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n` },
    { name: `${info}/WHEEL`, content: 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n' },
    { name: `${info}/RECORD`, content: '' },
  )
  const file = `${name}-${version}-py3-none-any.whl`
  const address = server.put(`${PYPI}/files/${file}`, wheel)
  server.put(`${PYPI}/${name}/`, (response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<!DOCTYPE html><a href="${address}">${file}</a>`)
  })
}

const PYPI = '/pypi'

/** Variables that lead npm and pip to a server. npm's cache would have what was at the same address in an earlier test. */
export const packageVariables = ({ url }: LoopbackServer, cache: string): Readonly<Record<string, string>> => ({
  npm_config_registry: `${url}${NPM}/`,
  npm_config_cache: cache,
  PIP_INDEX_URL: `${url}${PYPI}`,
  PIP_NO_CACHE_DIR: '1',
})
