import type { AdapterSummary } from '@agentproto/client'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { Outside, OutsideBlock } from '../parts/outside.js'
import { Problem } from '../parts/problem.js'
import { useAction } from '../parts/use-action.js'
import { useAnswer } from '../parts/use-answer.js'
import { progressText } from './progress-text.js'

/** The agents that can be started, and those that can be installed. */
export function Agents({ gateway }: { readonly gateway: Gateway }) {
  const [round, setRound] = useState(0)
  const { value, problem } = useAnswer(() => gateway.client.adapters.list(), String(round))
  const sorted = (value ?? []).toSorted(
    (a, b) => Number(b.installed) - Number(a.installed) || a.name.localeCompare(b.name),
  )
  return (
    <section aria-labelledby="agents">
      <h2 id="agents">Agents</h2>
      <Problem text={problem} />
      <ul class="rows">
        {sorted.map((adapter) => (
          <li key={adapter.slug} class="setting">
            <Agent gateway={gateway} adapter={adapter} onDone={() => setRound(round + 1)} />
          </li>
        ))}
      </ul>
    </section>
  )
}

interface AgentProps {
  readonly gateway: Gateway
  readonly adapter: AdapterSummary
  readonly onDone: () => void
}

/** So many lines of progress are kept. */
const LINES = 500

function Agent({ gateway, adapter: { slug, name, description, installed }, onDone }: AgentProps) {
  const { adapters } = gateway.client
  const [lines, setLines] = useState<readonly string[]>([])
  const action = useAction()
  // The gateway finishes an installation also when nobody looks.
  const abort = useMemo(() => new AbortController(), [])
  useEffect(() => () => abort.abort(), [abort])
  const follow = async <T,>(work: AsyncIterable<T>, textOf: (item: T) => string): Promise<void> => {
    for await (const item of work) setLines((before) => [...before.slice(1 - LINES), textOf(item)])
  }
  const { signal } = abort
  const install = (): Promise<void> => follow(adapters.provision(slug, { until: 'install', signal }), progressText)
  const doctor = (): Promise<void> =>
    follow(adapters.doctor(slug, { signal }), ({ verdict, title, detail, hint }) =>
      [`${verdict}: ${title}`, detail, hint].filter(Boolean).join(' · '),
    )
  const run = async (work: () => Promise<void>): Promise<void> => {
    setLines([])
    await action.run(work)
    if (!signal.aborted) onDone()
  }
  return (
    <>
      <div class="bar">
        <strong>
          <Outside text={name} />
        </strong>
        <span class="dim">{installed ? 'installed' : 'not installed'}</span>
        {!gateway.may('admin') ? null : (
          <button type="button" disabled={action.isBusy} onClick={() => void run(installed ? doctor : install)}>
            {installed ? 'Check' : 'Install'} <Outside text={name} />
          </button>
        )}
      </div>
      <p class="dim">
        <Outside text={description} />
      </p>
      <Problem text={action.problem} />
      {lines.length === 0 ? null : <OutsideBlock label={`Progress of ${slug}`} text={lines.join('\n')} />}
    </>
  )
}
