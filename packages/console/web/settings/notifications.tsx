import type { NotificationState } from '@agentproto/contracts/wire'
import type { Client } from '@agentproto/client'
import { useState } from 'preact/hooks'
import { Outside } from '../parts/outside.js'
import { Problem } from '../parts/problem.js'
import { useAction } from '../parts/use-action.js'
import { useAnswer } from '../parts/use-answer.js'

/** What the gateway notifies its owner of, and a test of it. It is configured in the file of the home. */
export function Notifications({ client: { notifications } }: { readonly client: Client }) {
  const [round, setRound] = useState(0)
  const [results, setResults] = useState<readonly string[]>([])
  const { value, problem } = useAnswer(() => notifications.state(), String(round))
  const action = useAction()
  const test = async (): Promise<void> => {
    const answer = await action.run(() => notifications.test())
    setResults(
      (answer?.results ?? []).map(({ to, ok, problem: why }) => `${to}: ${ok ? 'delivered' : (why ?? 'failed')}`),
    )
    setRound((before) => before + 1)
  }
  return (
    <section aria-labelledby="notifications">
      <h2 id="notifications">Notifications</h2>
      <Problem text={problem || action.problem} />
      {value === undefined ? null : value.targets.length === 0 ? (
        <p>None: add notify to config.json in the home. Notifications of this browser are at Needs you.</p>
      ) : (
        <>
          <p>On: {value.on.map((event) => EVENT_TEXT[event]).join(', ')}</p>
          <ul class="rows">
            {value.targets.map((target) => (
              <li key={`${target.target} ${target.to}`} class="setting">
                <Outside text={targetText(target)} />
              </li>
            ))}
          </ul>
          <button type="button" disabled={action.isBusy} onClick={() => void test()}>
            Send a test
          </button>
        </>
      )}
      <div role="status">
        {results.map((result) => (
          <p key={result}>
            <Outside text={result} />
          </p>
        ))}
      </div>
    </section>
  )
}

const EVENT_TEXT: Readonly<Record<NotificationState['on'][number], string>> = {
  request: 'a request that waits for you',
  'turn-end': 'the end of a turn',
  failure: 'a failure',
  budget: 'a budget',
}

function targetText({
  target,
  to,
  waiting,
  delivered,
  dropped,
  problem,
}: NotificationState['targets'][number]): string {
  const lost = Object.values(dropped).reduce((sum, each) => sum + (each ?? 0), 0)
  return [
    `${target} ${to}: ${delivered} delivered since the start, ${waiting} waiting`,
    ...(lost === 0 ? [] : [`${lost} dropped`]),
    ...(problem === undefined ? [] : [problem]),
  ].join('; ')
}
