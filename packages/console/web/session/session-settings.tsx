import type { ConfigRequest, PermissionMode, Session } from '@agentproto/client'
import type { Gateway } from '../gateway/gateway.js'
import { useCalling } from '../parts/calling.js'
import { Described } from '../parts/described.js'
import { shown } from '../parts/shown-text.js'

interface SettingsProps {
  readonly gateway: Gateway
  readonly session: Session
}

interface Choice {
  readonly value: string
  readonly name: string
  readonly description?: string
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
      {options.map(({ id: option, name, description, value, values }) =>
        typeof value === 'boolean' ? (
          <Described key={option} text={description}>
            {(about) => (
              <label>
                <input
                  type="checkbox"
                  checked={value}
                  onChange={({ currentTarget }) => set({ options: { [option]: currentTarget.checked } })}
                  {...about}
                />
                {shown(name)}
              </label>
            )}
          </Described>
        ) : (
          <Select
            key={option}
            label={shown(name)}
            value={value}
            choices={values ?? []}
            description={description}
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
  /** What is chosen here; what the chosen value means is shown after it. */
  readonly description?: string | undefined
}

/** Nothing where there is no choice. */
function Select({ label, value, choices, set, description }: SelectProps) {
  if (choices.length === 0) return null
  const ofValue = choices.find((choice) => choice.value === value)?.description
  return (
    <Described text={[description, ofValue].filter(Boolean).join(' – ')}>
      {(about) => (
        <label>
          {label}{' '}
          <select value={value} onChange={({ currentTarget }) => set(currentTarget.value)} {...about}>
            {choices.map((choice) => (
              <option key={choice.value} value={choice.value} selected={choice.value === value}>
                {shown(choice.name)}
              </option>
            ))}
          </select>
        </label>
      )}
    </Described>
  )
}

const choicesOf = (modes: readonly (Omit<Choice, 'value'> & { readonly id: string })[] = []): readonly Choice[] =>
  modes.map(({ id, ...mode }) => ({ value: id, ...mode }))

const isPermissionMode = (value: string): value is PermissionMode => Object.hasOwn(PERMISSION_MODES, value)
