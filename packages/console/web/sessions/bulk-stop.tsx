import type { Client } from '@agentproto/client'
import { ConfirmButton } from '../parts/confirm-button.js'
import { Problem } from '../parts/problem.js'
import { useAction } from '../parts/use-action.js'
import { messageOf } from '../parts/use-answer.js'

interface BulkStopProps {
  readonly client: Client
  readonly ids: readonly string[]
  readonly onDone: () => void
}

/** Stops the chosen sessions, each for itself: one that cannot be stopped does not keep the others. */
export function BulkStop({ client, ids, onDone }: BulkStopProps) {
  const action = useAction()
  const stop = (): Promise<unknown> =>
    action.run(async () => {
      const results = await Promise.allSettled(ids.map((id) => client.sessions.kill(id)))
      onDone()
      const failures = results.filter((result) => result.status === 'rejected').map(({ reason }) => messageOf(reason))
      if (failures.length > 0) throw new Error(failures.join('\n'))
    })
  const count = ids.length === 1 ? '1 session' : `${ids.length} sessions`
  return (
    <>
      {ids.length === 0 ? null : (
        <ConfirmButton
          label={`Stop ${count}`}
          question={`Stop ${count} and all that they have started?`}
          isBusy={action.isBusy}
          onConfirm={() => void stop()}
        />
      )}
      <Problem text={action.problem} />
    </>
  )
}
