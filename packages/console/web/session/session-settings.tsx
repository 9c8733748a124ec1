import type { ConfigRequest, PermissionMode, Session } from '@agentproto/client'
import type { Gateway } from '../gateway/gateway.js'
import { useCalling } from '../parts/calling.js'
import { shown } from '../parts/shown-text.js'

interface SettingsProps {
  readonly gateway: Gateway
  readonly session: Session
}

interface Choice {
  readonly value: string
  readonly name: string
}

/** Each mode has its words, or this does not compile. */
const PERMISSION_MODES: Readonly<Record<PermissionMode, string>> = {
  ask: 'ask me',
  'approve-reads': 'allow reads',
  'approve-all': 'allow everything',
  'deny-all': 'deny everything',
}

/** The settings that the running agent offers, and who decides about its requests. */
export function SessionSettings({ gateway, session }: SettingsProps) {
  const { id, config = {}, permissionMode } = session
  const { problem, isBusy, call } = useCalling()
  const set = (body: ConfigRequest): void => void call(() => gateway.client.sessions.configure(id, body))
  const options = (config.options ?? []).filter(({ category }) => category !== 'mode' && category !== 'model')
  return (
    <fieldset class="settings" disabled={isBusy}>
      <legend>Settings</legend>
      <Select label="Mode" value={config.modeId} choices={choicesOf(config.modes)} set={(mode) => set({ mode })} />
      <Select label="Model" value={config.modelId} choices={choicesOf(config.models)} set={(model) => set({ model })} />
      {options.map(({ id: option, name, value, values }) =>
        typeof value === 'boolean' ? (
          <label key={option}>
            <input
              type="checkbox"
              checked={value}
              onChange={({ currentTarget }) => set({ options: { [option]: currentTarget.checked } })}
            />
            {shown(name)}
          </label>
        ) : (
          <Select
            key={option}
            label={shown(name)}
            value={value}
            choices={values ?? []}
            set={(chosen) => set({ options: { [option]: chosen } })}
          />
        ),
      )}
      <Select
        label="Permissions"
        value={permissionMode}
        choices={Object.entries(PERMISSION_MODES).map(([value, name]) => ({ value, name }))}
        set={(chosen) => isPermissionMode(chosen) && set({ permissionMode: chosen })}
      />
      <p class="problem" role="alert">
        {problem}
      </p>
    </fieldset>
  )
}

interface SelectProps {
  readonly label: string
  readonly value: string | undefined
  readonly choices: readonly Choice[]
  readonly set: (value: string) => void
}

/** Nothing where there is no choice. */
function Select({ label, value, choices, set }: SelectProps) {
  if (choices.length === 0) return null
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={({ currentTarget }) => set(currentTarget.value)}>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value} selected={choice.value === value}>
            {shown(choice.name)}
          </option>
        ))}
      </select>
    </label>
  )
}

const choicesOf = (modes: readonly { readonly id: string; readonly name: string }[] = []): readonly Choice[] =>
  modes.map(({ id, name }) => ({ value: id, name }))

const isPermissionMode = (value: string): value is PermissionMode => Object.hasOwn(PERMISSION_MODES, value)
