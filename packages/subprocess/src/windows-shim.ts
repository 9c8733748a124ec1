import { win32 } from 'node:path'

/** What a shim starts. */
export interface ShimTarget {
  /** `node` for the Node that runs this; else the path of a native program. */
  readonly runtime: 'node' | 'native'
  /** Absolute Windows path of the script or program. */
  readonly file: string
}

/** The command of a shim: what runs it, where there is something, and the file beside the shim. */
const COMMAND = /(?:"(?<quoted>[^"\r\n]+)"|(?<plain>[\w.]+))?\s+"%(?:~dp0|dp0%)\\?(?<file>[^"\r\n]+)"\s+%\*/g
const NATIVE = /(?:^|[\s&(@])"%(?:~dp0|dp0%)\\?(?<file>[^"\r\n]+\.exe)"\s+%\*/im
const SHELL_PROGRAM = /^\s*SET\s+"_prog=(?<program>[^"\r\n]+)"/gim

/**
 * Reads what a `.cmd` shim of npm, pnpm or yarn starts: Node refuses to spawn such a file without a shell
 * (CVE-2024-27980), and a shell would split its arguments. Pure; undefined for any other batch file.
 * @param file absolute Windows path of the shim
 * @param text its content
 */
export function shimTarget(file: string, text: string): ShimTarget | undefined {
  const folder = win32.dirname(file)
  const native = NATIVE.exec(text)?.groups?.['file']
  if (native !== undefined && !isNode(native)) return { runtime: 'native', file: win32.join(folder, native) }
  const programs = [...text.matchAll(SHELL_PROGRAM)].map(({ groups }) => groups?.['program'] ?? '')
  const commands = [...text.matchAll(COMMAND)].flatMap(({ groups }) => (groups === undefined ? [] : [groups]))
  const script = commands.find(({ quoted, plain }) => startsNode(quoted ?? plain ?? '', programs))?.['file']
  return script === undefined ? undefined : { runtime: 'node', file: win32.join(folder, script) }
}

const startsNode = (program: string, programs: readonly string[]): boolean =>
  program === '%_prog%' ? programs.length > 0 && programs.every(isNode) : isNode(program)

const isNode = (program: string): boolean => /^(?:.*[\\/])?node(?:\.exe)?$/i.test(program.replaceAll('%', ''))

/**
 * The names under which Windows finds a program: as it is where it has an extension, else with each of PATHEXT.
 * Elsewhere the name alone. Pure.
 */
export function executableNames(
  name: string,
  platform: NodeJS.Platform,
  pathExt = '.COM;.EXE;.BAT;.CMD',
): readonly string[] {
  if (platform !== 'win32' || win32.extname(name) !== '') return [name]
  return pathExt
    .split(';')
    .filter((extension) => extension.startsWith('.'))
    .map((extension) => `${name}${extension.toLowerCase()}`)
}
