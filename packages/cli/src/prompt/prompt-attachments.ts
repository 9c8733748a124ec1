import { readFile, stat } from 'node:fs/promises'
import { basename, extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ContentBlock } from '@agentproto/contracts'
import type { PromptRequest } from '@agentproto/contracts/wire'
import { warn, type CliContext } from '../cli-context.js'

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
 * without a file stays text; a warning follows when it looks like a path.
 */
export async function withAttachments(
  context: Pick<CliContext, 'cwd' | 'stderr'>,
  text: string,
): Promise<PromptRequest['prompt']> {
  const paths = new Set<string>()
  for (const [mention, quoted, bare = ''] of text.matchAll(MENTION)) {
    const found = await existing(
      context.cwd,
      quoted === undefined ? [bare, bare.replace(/[.,;:!?)\]}]+$/, '')] : [quoted],
    )
    if (found !== undefined) paths.add(found)
    else if (/[/.]/.test(mention)) warn(context, `${mention} is sent as text: there is no such file`)
  }
  const plain = text.replace(/(?<=^|\s)\\@/g, '@')
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
  const text = about.size <= EMBED_BYTES ? textIn(await readFile(path)) : undefined
  return text === undefined ? { ...link, size: about.size } : { type: 'resource', resource: { uri, text } }
}

/** Undefined for bytes that are not text. */
function textIn(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}
