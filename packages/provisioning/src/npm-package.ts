import { parse } from 'node:path'
import { AgentprotoError, asList, asRecord, asString, defined, parseJson } from '@agentproto/contracts'
import type { AgentHost } from '@agentproto/driver-agent-cli'
import { findExecutable } from '@agentproto/subprocess'
import maxSatisfying from 'semver/ranges/max-satisfying.js'
import { checkPackage } from './install/installer-command.js'
import { nearestVersion } from './nearest-version.js'
import { runTool } from './run-tool.js'

/** What is wanted of the npm registry. */
export interface NpmWish {
  /** Without a version. */
  readonly name: string
  /** An exact version. */
  readonly version?: string
  /** A range or a tag instead. */
  readonly wanted?: string
  readonly signal?: AbortSignal
}

/** A package as the npm registry describes it, before it is installed. */
export interface NpmPackage {
  readonly name: string
  /** Exact, and there. */
  readonly version: string
  /** What was wanted and is not there: `version` is the nearest one then. */
  readonly missing?: string
  /** The names of its programs. */
  readonly programs: readonly string[]
  /** The one that npx would start. */
  readonly program?: string
  /** Whether it has scripts of its own that run at an install. Those of its dependencies are known only afterwards. */
  readonly hasInstallScripts: boolean
  /** Without its dependencies. */
  readonly unpackedBytes?: number
  readonly license?: string
  /** Why its authors say that it should not be used. */
  readonly deprecated?: string
}

const NPM_MS = 60_000

/**
 * Asks npm, with the user's own settings, which version of a package there is and what is known of it. Installs nothing.
 * @throws `install_failed` without npm, network or such a package; `cancelled`
 */
export async function lookUpNpm({ name, signal, ...wish }: NpmWish, host: AgentHost): Promise<NpmPackage> {
  const npm: NpmView = { name: checkPackage(name), host, signal: signal ?? new AbortController().signal }
  const { version, missing } = chosenVersion(name, wish, await view(npm, '', ['versions', 'dist-tags']))
  const facts = await view(npm, `@${version}`, ['bin', 'scripts', 'license', 'deprecated', 'dist'])
  const programs = programsOf(facts['bin'], name)
  const size = asRecord(facts['dist'])['unpackedSize']
  return {
    name,
    version,
    programs: [...programs.keys()],
    hasInstallScripts: INSTALL_SCRIPTS.some((script) => asString(asRecord(facts['scripts'])[script])),
    ...defined({
      missing,
      program: startedByNpx(programs, name),
      unpackedBytes: typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : undefined,
      license: text(facts['license']),
      deprecated: text(facts['deprecated']),
    }),
  }
}

const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall']

interface NpmView {
  readonly name: string
  readonly host: AgentHost
  readonly signal: AbortSignal
}

async function view({ name, host, signal }: NpmView, at: string, keys: readonly string[]): Promise<Facts> {
  const npm = await findExecutable('npm', { path: host.env['PATH'] ?? '', ...defined({ home: host.env['HOME'] }) })
  if (npm === undefined) throw noNpm()
  const args = ['view', '--json', '--no-update-notifier', '--', `${name}${at}`, ...keys]
  // The home need not exist yet, and npm obeys an .npmrc of the folder that it is run in.
  const cwd = parse(host.home).root
  const end = await runTool({ file: npm, args, cwd, timeoutMs: NPM_MS, signal }, host)
  const facts = asRecord(parseJson(end.stdout))
  if (end.exitCode === 0 && !end.timedOut) return facts
  const why = asString(asRecord(facts['error'])['summary']) ?? end.stderr.trim()
  throw new AgentprotoError('install_failed', `npm knows no package ${name}${at}`, {
    given: end.timedOut ? `no answer within ${NPM_MS / 1_000} s` : why.slice(-400),
    hint: 'Check the name and the version of the package, and the network',
  })
}

export const noNpm = (): AgentprotoError =>
  new AgentprotoError('install_failed', 'There is no npm on PATH', { hint: 'Install npm, which comes with Node.js' })

type Facts = ReturnType<typeof asRecord>

function chosenVersion(
  name: string,
  { version, wanted }: Omit<NpmWish, 'name'>,
  facts: Facts,
): Pick<NpmPackage, 'version' | 'missing'> {
  const versions = [facts['versions']].flat().filter((each) => typeof each === 'string')
  const tags = asRecord(facts['dist-tags'])
  const latest = asString(tags['latest']) ?? versions.at(-1)
  const asked = version ?? wanted
  const found = asked === undefined ? latest : exactOf(asked, versions, tags)
  if (found !== undefined) return { version: found }
  const nearest = nearestVersion(asked ?? '', versions) ?? latest
  if (nearest !== undefined) return { version: nearest, ...defined({ missing: asked }) }
  throw new AgentprotoError('install_failed', `npm has no version of ${name}`)
}

const exactOf = (asked: string, versions: readonly string[], tags: Facts): string | undefined =>
  versions.includes(asked) ? asked : (tagged(asked, tags) ?? maxSatisfying(versions, asked) ?? undefined)

const tagged = (tag: string, tags: Facts): string | undefined =>
  Object.hasOwn(tags, tag) ? asString(tags[tag]) : undefined

/** Programs and their files, by name. A `bin` that is one text has the name of the package. */
function programsOf(bin: unknown, name: string): ReadonlyMap<string, string> {
  const entries = typeof bin === 'string' ? [[bareName(name), bin] as const] : Object.entries(asRecord(bin))
  return new Map(
    entries.flatMap(([program, file]) =>
      PROGRAM_NAME.test(program) && typeof file === 'string' ? [[program, file] as const] : [],
    ),
  )
}

const PROGRAM_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/

/** As npm decides it: the program with the name of the package, else the only one, under however many names. */
function startedByNpx(programs: ReadonlyMap<string, string>, name: string): string | undefined {
  const bare = bareName(name)
  if (programs.has(bare)) return bare
  return new Set(programs.values()).size === 1 ? [...programs.keys()][0] : undefined
}

const bareName = (name: string): string => name.slice(name.indexOf('/') + 1)

const text = (value: unknown): string | undefined =>
  asString(asList([value])[0])
    ?.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .slice(0, 200) || undefined
