/** What the session may use. */
export function BudgetFields() {
  return (
    <details>
      <summary>Budget</summary>
      <div class="pair-of-fields">
        <Amount name="cost" label="Cost" step="any" />
        <label>
          Currency <input name="currency" defaultValue="USD" pattern="[A-Za-z]{3}" maxLength={3} autocomplete="off" />
        </label>
        <Amount name="tokens" label="Tokens" step="1" />
        <Amount name="turns" label="Turns" step="1" />
        <Amount name="minutes" label="Minutes of work" step="any" />
      </div>
    </details>
  )
}

interface AmountProps {
  readonly name: string
  readonly label: string
  readonly step: string
}

function Amount({ name, label, step }: AmountProps) {
  return (
    <label>
      {label} <input name={name} type="number" min="0" step={step} inputMode="decimal" placeholder="no limit" />
    </label>
  )
}
