import { PROMPT_BYTES, type TextFile } from './start-request.js'

/** @throws Error for a file that is too large for a prompt, or that is not text */
export async function readTextFile(file: File): Promise<TextFile> {
  if (file.size > PROMPT_BYTES) throw new Error(`${file.name} is larger than a prompt may be (4 MiB).`)
  const text = textOf(new Uint8Array(await file.arrayBuffer()))
  if (text === undefined) throw new Error(`${file.name} is not a text file in UTF-8.`)
  return { name: file.name, text }
}

/** @returns undefined for bytes that are not UTF-8, or that contain the byte zero */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}
