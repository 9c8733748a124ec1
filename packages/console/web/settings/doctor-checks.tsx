import type { DoctorCheck } from '@agentproto/contracts/wire'
import { Outside } from '../parts/outside.js'

export type Check = DoctorCheck

/** What was found out about an agent, and what to do about each finding. */
export function DoctorChecks({ checks }: { readonly checks: readonly Check[] }) {
  if (checks.length === 0) return null
  return (
    <ul class="checks" aria-label="Findings">
      {checks.map(({ id, title, verdict, detail, declared, found, hint }) => (
        <li key={id}>
          <strong class={`verdict ${verdict}`}>{VERDICT_TEXT[verdict]}</strong> <Outside text={`${title}: ${detail}`} />
          {declared === undefined || found === undefined || declared === found ? null : (
            <span class="dim">
              {' '}
              <Outside text={`declared: ${declared}, found: ${found}`} />
            </span>
          )}
          {hint === undefined ? null : (
            <p>
              To do: <Outside text={hint} />
            </p>
          )}
        </li>
      ))}
    </ul>
  )
}

const VERDICT_TEXT: Readonly<Record<Check['verdict'], string>> = {
  ok: 'OK',
  warn: 'Warning',
  fail: 'Failed',
  skip: 'Skipped',
}
