import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Manifest } from './house-rules.ts'

/** The published packages of this workspace. */

export const ROOT: string = dirname(dirname(fileURLToPath(import.meta.url)))

export interface WorkspacePackage extends Manifest {
  /** Keys of its export map, in their order. */
  readonly exports: readonly string[]
  readonly bin: readonly string[]
  readonly version: string
}

export function workspacePackages(): readonly WorkspacePackage[] {
  return ['packages', 'packages/arms']
    .flatMap((parent) => readdirSync(join(ROOT, parent)).map((name) => `${parent}/${name}`))
    .filter((folder) => existsSync(join(ROOT, folder, 'package.json')))
    .map(readPackage)
}

function readPackage(folder: string): WorkspacePackage {
  const json = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Partial<PackageJson>
  return {
    folder,
    name: json.name ?? '',
    dependencies: [json.dependencies, json.peerDependencies, json.optionalDependencies].flatMap(keys),
    devDependencies: keys(json.devDependencies),
    exports: keys(json.exports),
    bin: keys(json.bin),
    version: json.version ?? '',
  }
}

type Names = Readonly<Record<string, unknown>>
interface PackageJson {
  readonly name: string
  readonly version: string
  readonly dependencies: Names
  readonly peerDependencies: Names
  readonly optionalDependencies: Names
  readonly devDependencies: Names
  readonly exports: Names
  readonly bin: Names
}

const keys = (names: Names | undefined): readonly string[] => Object.keys(names ?? {})
