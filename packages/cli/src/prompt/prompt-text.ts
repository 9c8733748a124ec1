import { isUtf8 } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'
import { basename, extname, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { AgentprotoError, type ContentBlock } from '@agentproto/contracts'
import type { PromptRequest } from '@agentproto/contracts/wire'
import { warn, type CliContext } from '../cli-context.js'

/**
 * The prompt as given, with the files that `@file` names, or all of stdin for `-`, unchanged.
 * @param example A command with a prompt, for the error
 * @throws `invalid_request` for an empty one
 */
export async function readPrompt(
  context: CliContext,
  given: string | undefined,
  example: string,
): Promise<PromptRequest['prompt']> {
  const typed = given === '-' ? (await text(context.stdin)).trimEnd() : given
  if (typed === undefined || typed.trim() === '') {
    throw new AgentprotoError('invalid_request', given === '-' ? 'stdin holds no prompt' : 'There is no prompt', {
      hint: `Pipe it in and write -, or give one: ${example}`,
    })
  }
  // An @ in piped text is not a mention.
  return given === '-' ? typed : withAttachments(context.cwd, typed, (problem) => warn(context, problem))
}

/**
 * The instructions of a session: as given, or the content of the file that `@file` names.
 * @throws `path_invalid` for a file that cannot be read
 */
export async function readInstructions(
  { cwd }: Pick<CliContext, 'cwd'>,
  given: string | undefined,
): Promise<string | undefined> {
  if (given?.startsWith('@') !== true) return given
  const path = resolve(cwd, given.slice(1))
  try {
    return (await readFile(path, 'utf8')).trimEnd()
  } catch (cause) {
    throw new AgentprotoError('path_invalid', 'The file of instructions cannot be read', { given: path, cause })
  }
}

/** A larger file is sent as a link. */
const EMBED_BYTES = 512 * 1024
const IMAGE_BYTES = 2 * 1024 * 1024
const MAX_FILES = 20
const IMAGES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
}

/** `@file` or `@"a file"` at the beginning of a word; `\\@` is an @ like any other. */
const MENTION = /(?<=^|\s)@(?:"([^"]+)"|(\S+))/g

/**
 * A prompt with the files that it mentions: small text files and pictures by content, anything else as a link. A mention
 * without a file stays text, and is reported when it looks like a path.
 */
export async function withAttachments(
  cwd: string,
  typed: string,
  onMissing: (problem: string) => void,
): Promise<PromptRequest['prompt']> {
  const paths = new Set<string>()
  for (const [mention, quoted, bare = ''] of typed.matchAll(MENTION)) {
    const names = quoted === undefined ? [bare, bare.replace(/[.,;:!?)\]}]+$/, '')] : [quoted]
    const found = await existing(cwd, names)
    if (found !== undefined) paths.add(found)
    else if (/[/.]/.test(mention)) onMissing(`${mention} is sent as text: there is no such file`)
  }
  const plain = typed.replace(/(?<=^|\s)\\@/g, '@')
  if (paths.size === 0) return plain
  const files = await Promise.all([...paths].slice(0, MAX_FILES).map(blockOf))
  return [{ type: 'text', text: plain }, ...files]
}

async function existing(cwd: string, names: readonly string[]): Promise<string | undefined> {
  for (const name of names.filter((each) => each !== '')) {
    const path = resolve(cwd, name)
    if (await stat(path).catch(() => undefined)) return path
  }
  return undefined
}

async function blockOf(path: string): Promise<ContentBlock> {
  const uri = pathToFileURL(path).href
  const about = await stat(path)
  const link: ContentBlock = { type: 'resource_link', uri, name: basename(path) }
  if (!about.isFile()) return link
  const mimeType = IMAGES[extname(path).toLowerCase()]
  if (mimeType !== undefined && about.size <= IMAGE_BYTES) {
    return { type: 'image', data: (await readFile(path)).toString('base64'), mimeType, uri }
  }
  const content = about.size <= EMBED_BYTES ? textIn(await readFile(path)) : undefined
  if (content === undefined) return { ...link, size: about.size }
  return { type: 'resource', resource: { uri, text: content } }
}

/** Undefined for bytes that are not text. */
function textIn(bytes: Buffer): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0) ? new TextDecoder().decode(bytes) : undefined
}
