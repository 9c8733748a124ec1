import type { AdapterSummary } from '@agentproto/client'
import { loginRefusal } from '@agentproto/contracts'
import { useMemo, useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { Outside } from '../parts/outside.js'
import { Problem } from '../parts/problem.js'
import { useAnswer } from '../parts/use-answer.js'
import { Agent } from './agent.js'
import type { AdapterRemoved } from './removed-text.js'
import { Removed } from './removed.js'

/** The agents that can be started, and those that can be installed. */
export function Agents({ gateway }: { readonly gateway: Gateway }) {
  const [round, setRound] = useState(0)
  const [words, setWords] = useState('')
  const [removed, setRemoved] = useState<AdapterRemoved | undefined>(undefined)
  const { value, problem } = useAnswer(() => gateway.client.adapters.list(), String(round))
  const order = useMemo(() => inOrder(value ?? []), [value === undefined])
  const found = placed(value ?? [], order).filter((adapter) => hasWords(adapter, words))
  return (
    <section aria-labelledby="agents">
      <h2 id="agents">Agents</h2>
      <label>
        Search in the agents{' '}
        <input type="search" value={words} onInput={({ currentTarget }) => setWords(currentTarget.value)} />
      </label>
      <Problem text={problem} />
      <p role="status" class="dim">
        {value === undefined ? '' : `${found.length} of ${value.length} agents`}
      </p>
      {removed === undefined ? null : <Removed removed={removed} />}
      <ul class="rows">
        {found.map((adapter) => (
          <li key={adapter.slug} class="setting">
            <AgentRow
              gateway={gateway}
              adapter={adapter}
              onDone={() => setRound((before) => before + 1)}
              onRemoved={setRemoved}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Slugs, installed ones first. */
const inOrder = (adapters: readonly AdapterSummary[]): readonly string[] =>
  adapters
    .toSorted((a, b) => Number(b.installed) - Number(a.installed) || a.name.localeCompare(b.name))
    .map(({ slug }) => slug)

/** As they were at first, so that an agent stays under the hand that installs it; new ones come first. */
const placed = (adapters: readonly AdapterSummary[], order: readonly string[]): readonly AdapterSummary[] =>
  adapters.toSorted((a, b) => order.indexOf(a.slug) - order.indexOf(b.slug))

/** Whether each word is in the name, the slug or the description. */
function hasWords({ name, slug, description }: AdapterSummary, words: string): boolean {
  const text = `${name} ${slug} ${description}`.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

type AgentRowProps = Parameters<typeof Agent>[0]

/** Its state is read when the row is opened. */
function AgentRow({ gateway, adapter, ...on }: AgentRowProps) {
  const [isOpen, setIsOpen] = useState(false)
  const { slug, name, description, installed, registry, observed } = adapter
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        {registry?.icon === undefined ? null : (
          <img class="agent-icon" src={gateway.iconOf(slug)} alt="" loading="lazy" width="20" height="20" />
        )}
        <strong>
          <Outside text={name} />
        </strong>{' '}
        <span class="dim">
          {installed ? 'installed' : 'not installed'}
          {`, ${originText(adapter)}`}
          {loginRefusal(observed) === undefined ? '' : ', needs a login'}
        </span>
        <p class="dim">
          <Outside text={description} />
        </p>
      </summary>
      {isOpen ? <Agent gateway={gateway} adapter={adapter} {...on} /> : null}
    </details>
  )
}

/** A manifest in a workspace may claim anything: only one of the home was written by agentproto. */
const originText = ({ source, registry }: AdapterSummary): string =>
  source === 'user' && registry !== undefined ? 'from the registry' : SOURCE_TEXT[source]

const SOURCE_TEXT: Readonly<Record<AdapterSummary['source'], string>> = {
  bundled: 'ships with agentproto',
  user: 'added by the owner',
  workspace: 'of a trusted workspace',
  host: 'of the program that runs the gateway',
}
