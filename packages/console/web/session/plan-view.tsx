import { Outside } from '../parts/outside.js'
import type { TranscriptModel } from '../transcript/transcript.js'

type Entries = TranscriptModel['plan']

const WORDS: Readonly<Record<Entries[number]['status'], string>> = {
  pending: 'to do',
  in_progress: 'now',
  completed: 'done',
}

/** The agent's last plan, above its transcript so that it stays in view. */
export function PlanView({ entries }: { readonly entries: Entries }) {
  if (entries.length === 0) return null
  const done = entries.filter(({ status }) => status === 'completed').length
  const now = entries.find(({ status }) => status === 'in_progress')
  return (
    <details class="plan">
      <summary>
        Plan: {done} of {entries.length} done
        {now === undefined ? null : (
          <>
            {' · '}
            <Outside text={now.content} />
          </>
        )}
      </summary>
      <ol>
        {entries.map(({ content, status }, index) => (
          <li key={index} class={status}>
            <span class="state">{WORDS[status]}</span> <Outside text={content} />
          </li>
        ))}
      </ol>
    </details>
  )
}
