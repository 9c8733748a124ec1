import { defined } from '@agentproto/contracts'
import { USAGE_GROUPS, type UsageGroup, type UsageReport, type UsageReportRow } from '@agentproto/contracts/wire'
import { InvalidArgumentError } from 'commander'
import type { CommandResult, Define } from '../cli-command.js'
import type { CliContext } from '../cli-context.js'
import { connect } from '../daemon/connect.js'
import { toMilliseconds } from '../duration-option.js'
import { duration } from '../render/age.js'
import { oneLine } from '../render/printable.js'
import { silentNote } from '../render/silent-hosts.js'
import { tableFor } from '../render/table.js'
import { costText, NOT_REPORTED, tokensText } from '../render/usage-text.js'

interface UsageOptions {
  readonly by?: UsageGroup
  /** Milliseconds. */
  readonly since?: number
  readonly from?: string
  readonly to?: string
}

const DAY_MS = 86_400_000

export const define: Define = (command) =>
  command
    .description('what sessions used: turns, tokens, cost and time, also of deleted sessions')
    .choice('--by <what>', 'what there is one row for (default: day)', USAGE_GROUPS)
    .option('--since <time>', 'how far back, in whole days (UTC): 7d, 4w (default: 30 days)', toMilliseconds)
    .option('--from <day>', 'first day (UTC), such as 2026-11-01', toDay)
    .option('--to <day>', 'last day (UTC)', toDay)
    .json()
    .examples('usage', 'usage --by agent --since 7d', 'usage --by session --from 2026-11-01 --to 2026-11-30 --json')
    .run(usage)

async function usage(context: CliContext, { by, since, from, to }: UsageOptions): Promise<CommandResult> {
  const first = from ?? (since === undefined ? undefined : dayBefore(to, since))
  const client = await connect(context)
  const report = await client.usage(defined({ by, from: first, to }))
  const note = silentNote(report.unanswered)
  if (report.rows.length === 0) return { json: report, text: `No turns from ${report.from} to ${report.to}.`, note }
  return { json: report, text: tableOf(context, report), note }
}

/** The first of the days of a span, of which the last one is the first as well when it is short. */
function dayBefore(to: string | undefined, spanMs: number): string {
  const last = to === undefined ? Date.now() : Date.parse(to)
  const days = Math.max(1, Math.ceil(spanMs / DAY_MS))
  return new Date(last - (days - 1) * DAY_MS).toISOString().slice(0, 10)
}

function tableOf(context: CliContext, { by, rows, total }: UsageReport): string[] {
  const all: readonly UsageReportRow[] = rows.length > 1 ? [...rows, { ...total, key: 'total' }] : rows
  return tableFor(context, all, (paint) => [
    { title: by.toUpperCase(), cell: ({ key }) => oneLine(key ?? 'not reported'), paint: paint.cyan, shrinkTo: 12 },
    { title: 'TURNS', cell: ({ turns }) => String(turns), align: 'right' },
    { title: 'TOKENS', cell: ({ tokens }) => tokensText(tokens?.totalTokens), align: 'right' },
    { title: 'IN', cell: ({ tokens }) => tokensText(tokens?.inputTokens), align: 'right', dropOrder: 2 },
    { title: 'OUT', cell: ({ tokens }) => tokensText(tokens?.outputTokens), align: 'right', dropOrder: 3 },
    { title: 'CACHED', cell: ({ tokens }) => tokensText(tokens?.cachedReadTokens), align: 'right', dropOrder: 4 },
    { title: 'COST', cell: ({ cost }) => costText(cost), align: 'right' },
    { title: 'WORKED', cell: ({ busyMs }) => duration(busyMs), align: 'right', dropOrder: 1 },
    {
      title: 'NOT REPORTED',
      cell: ({ unreported }) => (unreported === 0 ? NOT_REPORTED : String(unreported)),
      align: 'right',
      dropOrder: 5,
    },
  ])
}

function toDay(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))) return text
  throw new InvalidArgumentError('Write it as 2026-11-01.')
}
