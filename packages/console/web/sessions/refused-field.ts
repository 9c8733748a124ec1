import { type ErrorCode, isAgentprotoError } from '@agentproto/client'
import { optionField } from './option-values.js'

/** The field of the form that an error is about. */
const FIELDS: Partial<Record<ErrorCode, string>> = {
  adapter_not_found: 'adapter',
  agent_not_installed: 'adapter',
  auth_required: 'adapter',
  setup_required: 'adapter',
  mode_unknown: 'mode',
  workspace_not_found: 'workspace',
  cwd_invalid: 'cwd',
  cwd_not_allowed: 'cwd',
  repository_invalid: 'worktree',
  branch_invalid: 'branch',
  label_in_use: 'label',
  payload_too_large: 'prompt',
  host_not_found: 'on',
  host_unreachable: 'on',
  placement_refused: 'on',
}

/** Where the name in the form is not the last part of the one in the request. */
const NAMES: Readonly<Record<string, string>> = { workspaceSlug: 'workspace', amount: 'cost' }

/** The field of the start form that the gateway refused; undefined for an error that is about none. */
export function refusedField(thrown: unknown): string | undefined {
  if (!isAgentprotoError(thrown)) return undefined
  const { field } = thrown.parts.data ?? {}
  if (thrown.code !== 'invalid_request' || typeof field !== 'string') return FIELDS[thrown.code]
  if (field.startsWith('options.')) return optionField(field.slice('options.'.length))
  const last = field.split('.').at(-1) ?? ''
  return NAMES[last] ?? last
}

/** Marks the field, and moves to it; without a field it takes the marks away. */
export function markField(form: HTMLFormElement, field: string | undefined): void {
  for (const marked of form.querySelectorAll('[aria-invalid]')) marked.removeAttribute('aria-invalid')
  const found = field === undefined ? null : form.elements.namedItem(field)
  if (!(found instanceof HTMLElement)) return
  found.closest('details')?.setAttribute('open', '')
  found.setAttribute('aria-invalid', 'true')
  found.focus()
}
