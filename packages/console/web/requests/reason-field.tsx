import { REASON_CHARS } from './answering.js'

interface ReasonFieldProps {
  readonly value: string
  readonly onChange: (value: string) => void
}

/** Why a person denies something. */
export function ReasonField({ value, onChange }: ReasonFieldProps) {
  return (
    <label class="reason">
      <span class="dim">Reason, sent with a denial; not every agent reads it</span>
      <input
        type="text"
        dir="auto"
        autocomplete="off"
        data-key="r"
        maxLength={REASON_CHARS}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
        onKeyDown={(event) => {
          // In a form, Enter would send its fields.
          if (event.key === 'Enter') event.preventDefault()
        }}
      />
    </label>
  )
}
