import { useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { Unanswered } from '../hosts/unanswered.js'
import { Outside } from '../parts/outside.js'
import { shown } from '../parts/shown-text.js'
import { Problem } from '../parts/problem.js'
import { useAnswer } from '../parts/use-answer.js'
import { costText } from '../sessions/figures.js'
import { barsOf, PLOT } from '../usage/bars.js'
import { currenciesOf, type Measure, type Report, type ReportRow, tokensOf, valueOf } from '../usage/usage-figures.js'

const GROUPS = { day: 'day', agent: 'agent', workspace: 'workspace', model: 'model' } as const
type Group = keyof typeof GROUPS
const isGroup = (word: string): word is Group => Object.hasOwn(GROUPS, word)

/** What sessions used in the last 30 days, as a plot and as a table. */
export function UsagePlace({ gateway }: { readonly gateway: Gateway }) {
  const [by, setBy] = useState<Group>('day')
  return (
    <section aria-labelledby="place">
      <div class="bar">
        <h1 id="place">Usage of the last 30 days</h1>
        <label>
          by{' '}
          <select
            value={by}
            onChange={({ currentTarget: { value } }) => {
              if (isGroup(value)) setBy(value)
            }}
          >
            {Object.entries(GROUPS).map(([group, words]) => (
              <option key={group} value={group}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </div>
      <UsageReportView key={by} gateway={gateway} by={by} />
    </section>
  )
}

function UsageReportView({ gateway, by }: { readonly gateway: Gateway; readonly by: Group }) {
  const { value, problem } = useAnswer(() => gateway.client.usage({ by }), by)
  const [choice, setChoice] = useState('turns')
  if (value === undefined) return <Problem text={problem} />
  const currencies = currenciesOf(value)
  return (
    <>
      <Problem text={problem} />
      <Unanswered hosts={value.unanswered} />
      <div class="bar">
        <label>
          Plot{' '}
          <select value={choice} onChange={({ currentTarget }) => setChoice(currentTarget.value)}>
            <option value="turns">turns</option>
            <option value="tokens">tokens</option>
            <option value="minutes">minutes of work</option>
            {currencies.map((currency) => (
              <option key={currency} value={`cost ${currency}`}>
                cost in {shown(currency)}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Plot
        rows={by === 'day' ? value.rows.slice(-BARS) : value.rows.slice(0, BARS)}
        measure={measureOf(choice)}
        label={`${choice} by ${by}`}
      />
      <UsageTable report={value} by={by} />
    </>
  )
}

function measureOf(choice: string): Measure {
  if (choice === 'tokens' || choice === 'minutes') return choice
  return choice.startsWith('cost ') ? { currency: choice.slice(5) } : 'turns'
}

interface PlotProps {
  readonly rows: readonly ReportRow[]
  readonly measure: Measure
  readonly label: string
}

/** A plot has no room for more, of days the last ones; the table has all. */
const BARS = 60

function Plot({ rows, measure, label }: PlotProps) {
  const bars = barsOf(rows.map((row) => ({ label: row.key ?? 'other', value: valueOf(row, measure) })))
  return (
    <svg
      class="plot"
      viewBox={`0 0 ${PLOT.width} ${PLOT.height}`}
      role="img"
      aria-label={`${label}; the table has the numbers`}
    >
      <line x1="0" x2={PLOT.width} y1={PLOT.height} y2={PLOT.height} />
      {bars.map(({ label: of, value, x, y, width, height }) => (
        <rect key={of} x={x} y={y} width={width} height={height}>
          <title>{`${shown(of)}: ${numberText(value)}`}</title>
        </rect>
      ))}
    </svg>
  )
}

function UsageTable({ report: { rows, total }, by }: { readonly report: Report; readonly by: Group }) {
  return (
    <div class="table" role="region" aria-label="Usage" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {[by, 'Turns', 'Tokens', 'Minutes', 'Cost'].map((heading) => (
              <th key={heading} scope="col">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, 1_000).map((row) => (
            <UsageRow key={row.key ?? ''} name={row.key ?? 'other'} row={row} />
          ))}
        </tbody>
        <tfoot>
          <UsageRow name="all" row={total} />
        </tfoot>
      </table>
    </div>
  )
}

function UsageRow({ name, row }: { readonly name: string; readonly row: Report['total'] }) {
  return (
    <tr>
      <th scope="row">
        <Outside text={name} />
      </th>
      <td>{numberText(row.turns)}</td>
      <td>{row.tokens === undefined ? 'not reported' : numberText(tokensOf(row))}</td>
      <td>{numberText(row.busyMs / 60_000)}</td>
      <td>{row.cost === undefined ? 'not reported' : <Outside text={costText(row.cost)} />}</td>
    </tr>
  )
}

const numberText = (value: number): string => new Intl.NumberFormat('en', { maximumFractionDigits: 2 }).format(value)
