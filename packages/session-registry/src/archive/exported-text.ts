import { AgentprotoError, isRecord, parseJson } from '@agentproto/contracts'
import { ARCHIVE_BOUNDS } from '@agentproto/contracts/wire'

/** An export: JSON Lines, read line by line, or one JSON document. */
export interface Exported {
  readonly head: { readonly session: Readonly<Record<string, unknown>> }
  readonly events: AsyncIterable<unknown>
}

const FORMAT = 'agentproto.session.v1'

/** @throws `invalid_request`, `payload_too_large` */
export async function exportedIn(text: AsyncIterable<string>): Promise<Exported> {
  const lines = linesIn(text)
  const { value: first = '' } = await lines.next()
  const head = parseJson(first)
  if (isHead(head) && head['events'] === undefined) return { head, events: eventsIn(lines) }
  const document = isHead(head) ? head : parseJson(await whole(first, lines))
  if (isHead(document) && Array.isArray(document['events'])) return { head: document, events: each(document['events']) }
  throw new AgentprotoError('invalid_request', 'The text is not an export of a session', {
    expected: `what \`agentproto sessions export <id> --format jsonl\` gives: a first line with "format":"${FORMAT}"`,
    given: first.slice(0, 200),
  })
}

type Head = Exported['head'] & Readonly<Record<string, unknown>>
const isHead = (value: unknown): value is Head =>
  isRecord(value) && value['format'] === FORMAT && isRecord(value['session'])

async function* eventsIn(lines: AsyncIterable<string>): AsyncGenerator {
  for await (const line of lines) if (line.trim() !== '') yield parseJson(line)
}

async function* each(events: readonly unknown[]): AsyncGenerator {
  yield* events
}

async function whole(first: string, lines: AsyncIterable<string>): Promise<string> {
  let text = first
  for await (const line of lines) {
    text += `\n${line}`
    if (text.length > ARCHIVE_BOUNDS.importLineChars) throw tooLarge(ARCHIVE_BOUNDS.importLineChars)
  }
  return text
}

async function* linesIn(text: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  let rest = ''
  let chars = 0
  for await (const piece of text) {
    chars += piece.length
    if (chars > ARCHIVE_BOUNDS.importChars) throw tooLarge(ARCHIVE_BOUNDS.importChars)
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > ARCHIVE_BOUNDS.importLineChars) throw tooLarge(ARCHIVE_BOUNDS.importLineChars)
    yield* lines
  }
  if (rest !== '') yield rest
  return undefined
}

const tooLarge = (max: number): AgentprotoError =>
  new AgentprotoError('payload_too_large', 'The export is too large', {
    expected: `at most ${max} characters; as JSON Lines more than as one document`,
  })
