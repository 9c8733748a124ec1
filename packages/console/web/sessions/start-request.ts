import type { AdapterOption, SpawnAgentRequest } from '@agentproto/client'
import { chosenOptions } from './option-values.js'

/** What the gateway takes as one prompt, in bytes. */
export const PROMPT_BYTES = 4 * 1024 * 1024

export interface TextFile {
  readonly name: string
  readonly text: string
}

/** The fields of the form, by their names; those that are not filled in are empty or absent. */
export type StartFields = Readonly<Record<string, string>>

/** What a start has beside its fields. */
export interface StartParts {
  readonly files?: readonly TextFile[]
  /** Those that the chosen agent has. */
  readonly options?: readonly AdapterOption[]
}

/** @throws Error with what to correct, for the fields that the gateway would not see */
export function startRequest(fields: StartFields, { files = [], options = [] }: StartParts): SpawnAgentRequest {
  const field = (name: string): string => fields[name]?.trim() ?? ''
  return {
    adapter: field('adapter'),
    prompt: promptOf(fields['prompt'] ?? '', files),
    mode: field('mode') || undefined,
    label: field('label') || undefined,
    options: chosenOptions(options, fields),
    permissionMode: permissionModeOf(field('permissionMode')),
    worktree: fields['worktree'] === undefined ? undefined : worktreeOf(field('branch'), field('base')),
    budget: budgetOf(field),
    on: field('on') || undefined,
    onHostLoss: field('onHostLoss') === 'move' ? 'move' : undefined,
    ...(field('cwd') === '' ? { workspaceSlug: field('workspace') || undefined } : { cwd: field('cwd') }),
  }
}

function promptOf(prompt: string, files: readonly TextFile[]): SpawnAgentRequest['prompt'] {
  const text = prompt.trim()
  if (files.length === 0) return text === '' ? undefined : text
  const blocks = files.map(({ name, text: content }) => ({
    type: 'text' as const,
    text: `File ${name}:\n\n${content}`,
  }))
  return text === '' ? blocks : [{ type: 'text', text }, ...blocks]
}

/** The bytes of a prompt with its files, nearly: the gateway counts exactly. */
export const promptSize = (prompt: string, files: readonly TextFile[]): number =>
  new TextEncoder().encode(JSON.stringify(promptOf(prompt, files) ?? '')).length

const worktreeOf = (branch: string, base: string): SpawnAgentRequest['worktree'] =>
  branch === '' && base === '' ? true : { ...(branch === '' ? {} : { branch }), ...(base === '' ? {} : { base }) }

function budgetOf(field: (name: string) => string): SpawnAgentRequest['budget'] {
  const [amount, tokens, turns, minutes] = ['cost', 'tokens', 'turns', 'minutes'].map((name) =>
    numberOf(name, field(name)),
  )
  const cost = amount === undefined ? undefined : { amount, currency: field('currency').toUpperCase() || 'USD' }
  const budget = { cost, tokens, turns, minutes }
  return Object.values(budget).every((limit) => limit === undefined) ? undefined : budget
}

function numberOf(name: string, text: string): number | undefined {
  if (text === '') return undefined
  const number = Number(text)
  if (!Number.isFinite(number)) throw new Error(`The budget of ${name} is a number. Given: ${text}`)
  return number
}

export const PERMISSION_TEXT = {
  ask: 'ask me',
  'approve-reads': 'allow what only reads, ask for the rest',
  'approve-all': 'allow everything',
  'deny-all': 'deny everything',
} as const satisfies Record<NonNullable<SpawnAgentRequest['permissionMode']>, string>

type PermissionMode = keyof typeof PERMISSION_TEXT

const isPermissionMode = (word: string): word is PermissionMode => Object.hasOwn(PERMISSION_TEXT, word)

const permissionModeOf = (word: string): PermissionMode | undefined => (isPermissionMode(word) ? word : undefined)
