import { mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, relative, resolve, sep } from 'node:path'
import type { Turn } from '../turn.js'
import { firstAndRest } from './argument.js'
import { callTool, textContent, type ToolOutcome, type ToolStart } from './tool-call.js'

const MAX_FILE_BYTES = 1024 * 1024

export async function read(turn: Turn, argument: string): Promise<void> {
  const path = resolve(turn.session.state.cwd, argument || '.')
  const start: ToolStart = { title: `Read ${argument}`, kind: 'read', input: { path }, path }
  const done = await callTool(turn, start, () => readTool(turn, path))
  turn.say(done ? `I read ${argument}.` : `I could not read ${argument}.`)
}

async function readTool(turn: Turn, path: string): Promise<ToolOutcome> {
  const file = await insideRoots(turn, path)
  const { size } = await stat(file)
  if (size > MAX_FILE_BYTES) throw new Error(`${path} has ${size} bytes; at most ${MAX_FILE_BYTES} are read`)
  const text = await readFile(file, 'utf8')
  return { content: [textContent(text)], output: { text } }
}

export async function write(turn: Turn, argument: string): Promise<void> {
  const file = fileToWrite(turn, argument)
  if (turn.session.state.modeId === 'plan') return turn.say(`I would write ${file.name}.`)
  const done = await callTool(turn, file.start, () => writeTool(turn, file))
  turn.say(done ? `I wrote ${file.name}.` : `I could not write ${file.name}.`)
}

/** What `write` and `ask` write. */
export interface FileToWrite {
  readonly name: string
  readonly path: string
  readonly text: string
  readonly start: ToolStart
}

export function fileToWrite(turn: Turn, argument: string): FileToWrite {
  const [name, given] = firstAndRest(argument || 'demo.txt')
  const path = resolve(turn.session.state.cwd, name)
  const text = `${given || `Written by the demo agent in turn ${turn.session.state.turnCount}.`}\n`
  return { name, path, text, start: { title: `Write ${name}`, kind: 'edit', input: { path, text }, path } }
}

export async function writeTool(turn: Turn, { path, text }: FileToWrite): Promise<ToolOutcome> {
  const file = await insideRoots(turn, path)
  const oldText = await readFile(file, 'utf8').catch(() => null)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
  return { content: [{ type: 'diff', path, oldText, newText: text }], output: { bytes: Buffer.byteLength(text) } }
}

/** The path with its existing part resolved; one that leads out of the session's folders is refused. */
async function insideRoots(turn: Turn, path: string): Promise<string> {
  const real = await resolveExisting(path)
  const folders = await Promise.all(
    [turn.session.state.cwd, ...turn.session.additionalDirectories].map(resolveExisting),
  )
  if (!folders.some((folder) => isInside(folder, real))) throw new Error(`${path} is outside the working folder`)
  return real
}

/** A path that does not exist yet is resolved as far as it does, so that no symlink leads it elsewhere. */
async function resolveExisting(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : resolve(await resolveExisting(parent), relative(parent, path))
  }
}

const isInside = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
