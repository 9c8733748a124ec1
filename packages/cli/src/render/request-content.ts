import {
  type AgentRequest,
  formFields,
  hostText,
  jsonText,
  type PermissionRequest,
  planText,
  type QuestionRequest,
  type RequestFacts,
  type RequestPath,
  type Session,
  type SessionRequest,
  TOOL_KIND_TEXT,
  type ToolContent,
  toolContentText,
  toolInputText,
} from '@agentproto/contracts'
import { fieldHint } from '../requests/question-form.js'
import { exact, exactLine, wrapExact } from './exact.js'
import type { Frame } from './paint.js'
import { lineDiff } from './tool-content.js'

/** A request with the session that it is of. */
export interface AskedRequest extends Pick<SessionRequest, 'requestId' | 'request' | 'facts' | 'cut'> {
  readonly session: Pick<Session, 'id' | 'label' | 'adapterSlug' | 'workspaceSlug' | 'cwd'>
}

/**
 * Everything that a person decides about, on rows of at most `width` columns: what the gateway found out, then, behind a bar,
 * the words of the agent. Nothing is cut: what does not fit a row continues on the next one. The agent's text never stands
 * in the column of our labels.
 */
export function requestContent(asked: AskedRequest, frame: Frame): string[] {
  const page = new Page(frame)
  ourFacts(page, asked)
  if (asked.request.kind === 'permission') ofPermission(page, asked.request, asked.facts)
  else ofQuestion(page, asked.request)
  return page.rows
}

type Style = (text: string) => string

const LABEL = 11
const BAR = '│ '

/** Rows in two parts: our labels with their values, and quoted text. */
class Page {
  readonly rows: string[] = []
  readonly #frame: Frame

  constructor(frame: Frame) {
    this.#frame = frame
  }

  get paint(): Frame['paint'] {
    return this.#frame.paint
  }

  /** A value beside its label. Its further lines and rows stay to the right of the labels. */
  fact(label: string, text: string, style: Style = (row) => row): void {
    const lines = exact(text).split('\n')
    const rows = lines.flatMap((line) => wrapExact(line, this.#frame.width - LABEL))
    this.rows.push(...rows.map((row, index) => this.#label(index === 0 ? label : '') + style(row)))
  }

  /** A sentence of ours on rows of its own. */
  note(text: string, style: Style): void {
    this.rows.push(...wrapExact(text, this.#frame.width - 2).map((row) => `  ${style(row)}`))
  }

  heading(text: string): void {
    this.rows.push('', ...wrapExact(text, this.#frame.width - 2).map((row) => `  ${this.paint.bold(row)}`))
  }

  /** Text of the agent, each row behind a bar. */
  quote(text: string, style: Style = (row) => row): void {
    const rows = exact(text)
      .split('\n')
      .flatMap((line) => wrapExact(line, this.#frame.width - 2 - BAR.length))
    this.rows.push(...rows.map((row) => `  ${this.paint.dim(BAR)}${style(row)}`))
  }

  #label(label: string): string {
    return `  ${this.paint.dim(label.padEnd(LABEL - 2))}`
  }
}

function ourFacts(page: Page, { session, cut }: AskedRequest): void {
  const { label, id, adapterSlug, workspaceSlug, cwd } = session
  if (cut !== undefined)
    page.note(
      `Not shown whole: the request has ${cut.originalChars} characters, and long texts in it were cut. Deny it, or look at the files yourself.`,
      page.paint.red,
    )
  page.fact('Session', exactLine(`${label ?? id} (${adapterSlug}, workspace ${workspaceSlug})`))
  page.fact('Folder', exactLine(cwd))
}

function ofPermission(page: Page, { toolCall }: PermissionRequest, facts: RequestFacts | undefined): void {
  if (facts === undefined)
    page.note('The gateway did not look into this call: only the words of the agent follow.', page.paint.yellow)
  else judgedFacts(page, facts)
  for (const content of toolCall.content ?? []) if (content.type === 'diff') difference(page, content)
  const plan = planText(toolCall.input)
  if (plan !== undefined) {
    page.heading('The plan')
    page.quote(plan)
  }
  page.heading('In the words of the agent')
  page.quote([toolCall.title, toolCall.toolName].filter(Boolean).join('  ·  ') || 'no title')
  for (const content of toolCall.content ?? []) if (content.type !== 'diff') page.quote(toolContentText(content))
  page.quote(toolInputText(toolCall.input))
}

function judgedFacts(page: Page, facts: RequestFacts): void {
  const { toolKind, statedKind, commands, paths, urls, unclear } = facts
  const { bold, red, yellow } = page.paint
  const kind = toolKind === undefined ? 'unknown, the agent does not say' : TOOL_KIND_TEXT[toolKind]
  const stated = statedKind !== undefined && statedKind !== toolKind ? ` (the agent says: ${statedKind})` : ''
  page.fact('It', `${kind}${stated}`, stated === '' ? bold : red)
  whatRuns(page, facts)
  for (const each of paths) path(page, 'Path', each)
  for (const url of urls) address(page, url)
  if (unclear)
    page.note('Not all of this call can be judged: it may do more than these rows say. Read its input.', yellow)
  if (toolKind === 'execute' && commands.length === 0) page.note('It does not say which command it runs.', red)
}

function whatRuns(page: Page, { commands, environment = [], folders }: RequestFacts): void {
  const { bold, red } = page.paint
  for (const command of commands) page.fact('Command', command, bold)
  for (const { name, value } of environment) page.fact('Variable', exactLine(`${name}=${value}`), red)
  for (const folder of folders) path(page, 'Runs in', folder)
}

/** Where a path leads, said where that differs from its name. */
function path(page: Page, label: string, { named, real, inside }: RequestPath): void {
  const { bold, red } = page.paint
  const [first] = real
  if (first === undefined) return page.fact(label, `${exactLine(named)}  (where this leads is unknown)`, red)
  const leads = real.length === 1 && first === named ? [] : [`named ${exactLine(named)}`]
  const marks = [...leads, ...(inside ? [] : ["OUTSIDE the session's folders"])]
  const note = marks.length === 0 ? '' : `  (${marks.join('; ')})`
  for (const each of real) page.fact(label, exactLine(each) + note, inside ? bold : red)
}

function address(page: Page, url: string): void {
  page.fact('Address', exactLine(url), page.paint.bold)
  page.fact('Host', hostText(url), page.paint.bold)
}

function difference(page: Page, { path: file, oldText, newText }: ToolContent & { readonly type: 'diff' }): void {
  const { green, red } = page.paint
  // An old text that already has a line hides it from the difference.
  const about = oldText ? 'its old text is not compared with the file' : 'new, or its old text was not sent'
  page.heading(`Change of ${exactLine(file)}, as the agent shows it (${about})`)
  for (const { sign, line } of lineDiff(oldText ?? '', newText))
    page.quote(`${sign} ${line}`, sign === '+' ? green : red)
}

function ofQuestion(page: Page, { message, mode, schema, url }: QuestionRequest): void {
  if (mode === 'url') {
    page.fact('It', 'asks you to open an address', page.paint.bold)
    address(page, url ?? '')
  } else page.fact('It', 'asks a question; your answer is sent to the agent', page.paint.bold)
  page.heading('In the words of the agent')
  page.quote(message)
  const fields = mode === 'form' ? formFields(schema) : []
  for (const field of fields) {
    const hint = [field.description, fieldHint(field)].filter(Boolean).join(' · ')
    page.quote(`${field.title}${field.required ? ' (required)' : ''}${hint === '' ? '' : `: ${hint}`}`)
  }
  if (fields.length === 0 && schema !== undefined) page.quote(jsonText(schema))
}

/** Whether saying yes would be about something that was not shown. */
export const isWhole = ({ cut }: Pick<AskedRequest, 'cut'>): boolean => cut === undefined

/** What stands in front of a request of this kind. */
export const requestHeading = (request: AgentRequest): string =>
  request.kind === 'permission' ? 'The agent asks for a permission' : 'The agent asks a question'
