import {
  type AgentCommand,
  type AgentNotice,
  asList,
  asNumber,
  asRecord,
  asString,
  defined,
  isRecord,
  type Json,
  type PlanEntry,
} from '@agentproto/contracts'

/** The notice of an update about the session. An unknown update is kept as it is. */
export function noticeOf(update: Json): AgentNotice {
  return known(update) ?? extension(String(update['sessionUpdate']), update)
}

/** An update that is kept unchanged. */
export const extension = (kind: string, payload: unknown): AgentNotice => ({ type: 'extension', kind, payload })

function known(update: Json): AgentNotice | undefined {
  switch (update['sessionUpdate']) {
    case 'plan':
      return Array.isArray(update['entries'])
        ? { type: 'plan', entries: update['entries'].flatMap(entryOf) }
        : undefined
    case 'usage_update':
      return usage(update)
    case 'available_commands_update':
      return { type: 'config', config: { commands: asList(update['availableCommands']).flatMap(commandOf) } }
    case 'current_mode_update': {
      const modeId = asString(update['currentModeId'])
      return modeId === undefined ? undefined : { type: 'config', config: { modeId } }
    }
    case 'session_info_update': {
      const title = asString(update['title'])
      return title === undefined ? undefined : { type: 'title', title }
    }
    case 'notice':
      return notice(update)
    case 'compaction_update':
      return compaction(update)
    default:
      return undefined
  }
}

function usage(update: Json): AgentNotice {
  const { amount, currency } = asRecord(update['cost'])
  const cost = typeof amount === 'number' && typeof currency === 'string' ? { amount, currency } : undefined
  return { type: 'usage', ...defined({ used: asNumber(update['used']), size: asNumber(update['size']), cost }) }
}

function notice(update: Json): AgentNotice | undefined {
  const title = asString(update['title'])
  if (title === undefined) return undefined
  const description = asString(update['description'])
  const severity = update['severity']
  return {
    type: 'notice',
    severity: severity === 'warning' || severity === 'error' ? severity : 'info',
    text: description === undefined ? title : `${title}: ${description}`,
  }
}

function compaction(update: Json): AgentNotice | undefined {
  const status = asString(update['status'])
  if (status === undefined) return undefined
  const { error, summary } = update
  const detail = asString(error) ?? asString(asRecord(error)['message']) ?? asString(summary)
  return {
    type: 'notice',
    severity: error === undefined || error === null ? 'info' : 'error',
    text: `Context compaction ${status}${detail === undefined ? '' : `: ${detail}`}`,
  }
}

const PLAN_STATUSES: ReadonlySet<unknown> = new Set<PlanEntry['status']>(['pending', 'in_progress', 'completed'])
const PRIORITIES: ReadonlySet<unknown> = new Set<PlanEntry['priority']>(['high', 'medium', 'low'])

function entryOf(entry: unknown): PlanEntry[] {
  const { content, status, priority } = asRecord(entry)
  if (typeof content !== 'string') return []
  return [
    {
      content,
      status: PLAN_STATUSES.has(status) ? (status as PlanEntry['status']) : 'pending',
      ...(PRIORITIES.has(priority) ? { priority: priority as NonNullable<PlanEntry['priority']> } : {}),
    },
  ]
}

function commandOf(entry: unknown): AgentCommand[] {
  if (!isRecord(entry) || typeof entry['name'] !== 'string') return []
  const hint = asString(asRecord(entry['input'])['hint'])
  return [{ name: entry['name'], description: asString(entry['description']) ?? '', ...defined({ hint }) }]
}
