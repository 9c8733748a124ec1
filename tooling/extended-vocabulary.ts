import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, type WorkspacePackage, workspacePackages } from './packages.ts'

/** What the compiler says of a copy of the packages in which closed vocabularies have one member more. */

export interface Vocabulary {
  /** What it is called in a test's title. */
  readonly name: string
  /** The file that defines it, below the root. */
  readonly file: string
  /** A text of that file, and what stands there instead in the copy. */
  readonly replace: readonly [text: string, extended: string]
  /** The member that the copy adds. */
  readonly member: string
}

/**
 * Compiles a copy of all packages' sources with every vocabulary extended at once.
 * @returns The compiler's errors, a line each, with paths below the root
 */
export function compileExtended(vocabularies: readonly Vocabulary[]): readonly string[] {
  const copy = mkdtempSync(join(tmpdir(), 'agentproto-vocabularies-'))
  try {
    const packages = workspacePackages()
    for (const each of packages) copySources(each, copy)
    for (const vocabulary of vocabularies) extend(vocabulary, copy)
    writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify(compilerConfig(packages)))
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', copy, '--pretty', 'false'], {
      cwd: copy,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    })
    return stdout.split('\n').filter((line) => line !== '')
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** Its dependencies are those of the original; its siblings are found by `paths`, in the copy. */
function copySources({ folder }: WorkspacePackage, copy: string): void {
  if (!existsSync(join(ROOT, folder, 'src'))) return
  mkdirSync(join(copy, folder), { recursive: true })
  cpSync(join(ROOT, folder, 'src'), join(copy, folder, 'src'), { recursive: true })
  cpSync(join(ROOT, folder, 'package.json'), join(copy, folder, 'package.json'))
  const dependencies = join(ROOT, folder, 'node_modules')
  if (existsSync(dependencies)) symlinkSync(dependencies, join(copy, folder, 'node_modules'))
}

function extend({ name, file, replace: [text, extended] }: Vocabulary, copy: string): void {
  const before = readFileSync(join(copy, file), 'utf8')
  if (!before.includes(text)) throw new Error(`${file} does not contain ${text}, which defines ${name}`)
  writeFileSync(join(copy, file), before.replace(text, extended))
}

function compilerConfig(packages: readonly WorkspacePackage[]): object {
  return {
    extends: join(ROOT, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: true,
      noEmitOnError: false,
      skipLibCheck: true,
      paths: Object.fromEntries(packages.flatMap(sourcesOf)),
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
    include: packages.map(({ folder }) => `${folder}/src`),
  }
}

/** The entry points of a package, as its export map names their sources. */
function sourcesOf({ folder, name }: WorkspacePackage): readonly (readonly [string, readonly string[]])[] {
  const { exports = {} } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as ExportMap
  return Object.entries(exports).flatMap(([key, target]) => {
    const source = typeof target === 'string' ? undefined : target['@agentproto/source']
    return source === undefined ? [] : [[name + key.slice(1), [`./${join(folder, source)}`]] as const]
  })
}

interface ExportMap {
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}
