import type { ProvisionEvent } from '@agentproto/contracts/wire'
import { OutsideBlock } from '../parts/outside.js'
import { progressText } from './progress-text.js'

export type Progress = ProvisionEvent

interface ProgressLogProps {
  readonly label: string
  readonly events: readonly Progress[]
  readonly isBusy: boolean
}

/** What an installation or a setup reports, with the bytes of its download as a bar. */
export function ProgressLog({ label, events, isBusy }: ProgressLogProps) {
  if (events.length === 0) return null
  const last = events.at(-1)
  const lines = events.filter(({ type }) => type !== 'progress').map(progressText)
  return (
    <>
      {isBusy && last?.type === 'progress' ? (
        <progress aria-label="Download" max={last.total} value={last.total === undefined ? undefined : last.bytes} />
      ) : null}
      <OutsideBlock label={label} text={lines.join('\n')} />
    </>
  )
}
