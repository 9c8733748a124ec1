import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { folder } from './test-host.ts'

interface PackageOptions extends Readonly<Record<string, unknown>> {
  readonly source?: (version: string) => string
}

const printing = (version: string): string => `#!/usr/bin/env node\nconsole.log('${version}')\n`

/**
 * A registry on loopback with versions of one package, whose program prints its version. Ends with the test.
 * @param options further members of its package.json, and what its program is
 */
export async function npmRegistry(
  name: string,
  versions: readonly string[],
  { source = printing, ...more }: PackageOptions = {},
): Promise<{ readonly url: string }> {
  const packed = versions.map((version) => pack(name, version, { ...more, source }))
  const server = createServer((request, response) => {
    const { url: base } = address()
    const file = packed.find(({ version }) => request.url === `/${name}-${version}.tgz`)
    if (file) return void response.end(file.bytes)
    if (request.url !== `/${name}`) return void response.writeHead(404).end('{}')
    const entries = packed.map(({ version, bytes, manifest }) => [
      version,
      { ...manifest, dist: { tarball: `${base}/${name}-${version}.tgz`, integrity: integrity(bytes) } },
    ])
    response.setHeader('content-type', 'application/json')
    const latest = versions.at(-1)
    response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(entries) }))
  })
  const address = (): { readonly url: string } => ({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return address()
}

function pack(name: string, version: string, { source = printing, ...more }: PackageOptions) {
  const at = folder('package')
  const manifest = { name, version, bin: { [name]: 'main.js' }, ...more }
  writeFileSync(join(at, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(at, 'main.js'), source(version))
  execFileSync('npm', ['pack', '--silent'], { cwd: at })
  const file = readdirSync(at).find((each) => each.endsWith('.tgz')) ?? ''
  return { version, manifest, bytes: readFileSync(join(at, file)) }
}

const integrity = (bytes: Buffer): string => `sha512-${createHash('sha512').update(bytes).digest('base64')}`
