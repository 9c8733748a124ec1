import { fileURLToPath } from 'node:url'
import { asRecord, isRecord, type RequestVariable, type ToolCall, type ToolKind } from '@agentproto/contracts'
import { lineOf } from './command-words.js'
import { MAX_PATH } from './real-path.js'

/**
 * What a tool call names. Its raw input is read whole only if each member has a known name, the form that belongs to it,
 * and fits the kind of the tool: what any other member does is unknown.
 */
export class ToolInput {
  readonly paths = new Set<string>()
  readonly folders = new Set<string>()
  readonly commands = new Set<string>()
  readonly urls = new Set<string>()
  /** Variables that its commands get. They are shown; what they change is unknown. */
  readonly environment: RequestVariable[] = []
  /** The fixed parts of patterns: a link in them leads elsewhere. */
  readonly roots = new Set<string>()
  /** Commands and unknown texts, in order: a command may be spread over several members. */
  readonly said: string[] = []
  /** For each member, the kinds of tools that it fits. */
  readonly fits = new Set<string>()
  #left = MAX_MEMBERS

  constructor({ input, kind, locations = [], content = [] }: ToolCall) {
    if (isRecord(input)) this.#members(input, 0)
    // Some agents give the words of a command and nothing else.
    else if (hasSomething(input) && !(kind === 'execute' && addCommand(input, this))) this.#unknown(input, 0)
    for (const { path } of locations) this.paths.add(path)
    for (const item of content) if (item.type === 'diff') this.paths.add(item.path)
    // What runs in a terminal is not said.
    if (content.some(({ type }) => type === 'terminal')) this.fits.add('')
  }

  isWhole(kind: ToolKind | undefined): boolean {
    return [...this.fits].every((kinds) => kind !== undefined && kinds.split(' ').includes(kind))
  }

  #members(value: object, depth: number): void {
    for (const [key, member] of Object.entries(value)) {
      if (depth > MAX_DEPTH || --this.#left < 0) return void this.fits.add('')
      const [, reads, kinds] = USES.get(normal(key)) ?? ['', () => false]
      if (kinds !== undefined) this.fits.add(kinds)
      if (member === null) continue
      if (!reads(member, this)) this.#unknown(member, depth)
      else if (reads === areParts) for (const part of Object.values(member)) this.#members(part as object, depth + 1)
    }
  }

  /** A rule that denies may find something in it. */
  #unknown(value: unknown, depth: number): void {
    this.fits.add('')
    if (typeof value === 'string') this.said.push(value)
    if (typeof value === 'object' && value !== null) this.#members(value, depth + 1)
  }
}

export const hasSomething = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && (typeof value !== 'object' || Object.keys(value).length > 0)

export const normal = (name: string): string => name.toLowerCase().replaceAll(/[-_. ]/g, '')

export const MAX_DEPTH = 8
const MAX_MEMBERS = 5_000

/** Whether a value has the form; takes from it what it names. */
type Reads = (value: unknown, into: ToolInput) => boolean

/** One text or several. */
function texts(reads: (text: string, into: ToolInput) => unknown): Reads {
  const isRead = (each: unknown, into: ToolInput): boolean => typeof each === 'string' && Boolean(reads(each, into))
  return (value, into) => [value].flat().length > 0 && [value].flat().every((each) => isRead(each, into))
}

/** Records; those of a change by its path. */
const areParts: Reads = (value, { paths }) => {
  if (isRecord(value)) for (const path of Object.keys(value)) paths.add(path)
  return typeof value === 'object' && value !== null && Object.values(value).every(isRecord)
}

const addCommand: Reads = (value, { commands, said }) => {
  const words = [value].flat()
  if (!words.every((word) => typeof word === 'string')) return false
  const line = Array.isArray(value) ? lineOf(words) : String(value)
  commands.add(line)
  said.push(line)
  return true
}

/** What they do to a command is unknown, so none of them is read as known. */
const addVariables: Reads = (value, { environment }) => {
  const variables = variablesOf(value)
  if (variables.length <= MAX_MEMBERS && variables.every(isVariable)) environment.push(...variables)
  return !hasSomething(value)
}

/** As pairs, as in ACP, or as names with their values. */
function variablesOf(value: unknown): readonly Partial<Record<keyof RequestVariable, unknown>>[] {
  if (Array.isArray(value)) return value.map(asRecord)
  return isRecord(value) ? Object.entries(value).map(([name, content]) => ({ name, value: content })) : []
}

const isVariable = (variable: Partial<Record<keyof RequestVariable, unknown>>): variable is RequestVariable =>
  typeof variable.name === 'string' && typeof variable.value === 'string'

function addUri(text: string, { paths, urls, fits }: ToolInput): unknown {
  if (/^https?:\/\/\S+$/i.test(text)) {
    urls.add(text)
    return fits.add('fetch')
  }
  try {
    return /^file:/i.test(text) && paths.add(fileURLToPath(text))
  } catch {
    return false
  }
}

function addPattern(text: string, { roots }: ToolInput): boolean {
  const [fixed] = /^[^*?[\]{}()|]*/.exec(text) ?? ['']
  roots.add((fixed === text ? fixed : fixed.replace(/[^/]*$/, '')) || '.')
  return text.length < MAX_PATH && !ROAMING.test(text.normalize('NFKC').replaceAll(/\[\\?\.\]|\\\./g, '.'))
}

/** Absolute, in a home, with a step up or a variable, an option, or with alternatives that may be one of these. */
const ROAMING =
  /^\s|^[\s@"'<!]*(?:[/~\\%-]|[A-Za-z]:)|^\w[\w+.-]*:\/|\$[\w{(]|`|[\p{Cc}\p{Cf}]|[\s{,(|;:][/~]|(?<!\w)\.\.(?:[/\\},)|]|$)|[{,][.,}]|\|\.|[@?*+!]\((?:\.|[^()]{0,200}\.[|)])/u

function addDiff(text: string, { paths }: ToolInput): boolean {
  const headers = text.matchAll(/^(?:---|\+\+\+|Index:)[ \t]+([^\t\r\n]+)/gm)
  for (const [, path = ''] of headers) if (path !== '/dev/null') paths.add(path)
  return /^@@/m.test(text) && text.split('\n').every((line) => /^(?:$|[-+ \\]|@@|Index: |=+$)/.test(line))
}

/** The members that agents use, how they are read, and the kinds of tools that they fit; without these, all. */
const MEMBERS: readonly (readonly [names: string, reads: Reads, kinds?: string])[] = [
  [
    `path paths filepath filepaths file files filename absolutepath abspath relativepath relativeworkspacepath notebookpath
    targetfile targetpath targetdirectory source sourcepath destination destinationpath oldpath newpath movepath
    directory directorypath dirpath dir folder`,
    texts((text, { paths }) => text && paths.add(text)),
  ],
  ['cwd workdir workingdir workingdirectory', texts((text, { folders }) => text && folders.add(text))],
  ['command cmd commandline shellcommand', addCommand, 'execute'],
  // A script may be in any language, and commands may be words or lines.
  ['script commands', (value, into) => addCommand(value, into) && false],
  // They decide what a command does.
  ['env environment', addVariables],
  ['stdin', (value) => !hasSomething(value)],
  ['pattern glob globpattern include includepattern exclude excludepattern ignore', texts(addPattern), 'search fetch'],
  ['query name', texts(addPattern), 'search fetch execute'],
  ['uri url fileuri', texts(addUri)],
  ['changes edits parsedcmd', areParts, 'edit execute'],
  ['diff unifieddiff', texts(addDiff), 'edit'],
  ['content text oldtext newtext oldstring newstring oldstr newstr filetext newsource', texts(() => true), 'edit'],
  ['plan prompt thought', texts(() => true), 'fetch think switch_mode'],
  ['description explanation reason justification', texts(() => true)],
  ['callid turnid processid', texts((text) => /^\w[\w:-]*$/.test(text))],
  // The answers that the agent offers, and the rule that one of them makes.
  ['availabledecisions proposedexecpolicyamendment', Array.isArray, 'execute'],
  ['type outputmode format', texts((text) => /^\w*$/.test(text)), 'search fetch edit execute'],
  [
    `offset limit line startline endline viewrange pages timeout timeoutms headlimit multiline casesensitive replaceall
    runinbackground isbackground autoapproved startedatms context a b c i n o`,
    (value) => /^(?:true|false|"?[\d,.e+-]*"?|\[[\d,]*\])$/.test(JSON.stringify(value)),
  ],
]

const USES = new Map(MEMBERS.flatMap((use) => use[0].split(/\s+/).map((name) => [name, use] as const)))
