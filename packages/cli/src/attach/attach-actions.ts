import { randomUUID } from 'node:crypto'
import { defined, isAgentprotoError } from '@agentproto/contracts'
import type { ConfigRequest, RewoundFiles } from '@agentproto/contracts/wire'
import type { Client } from '@agentproto/client'
import { paintFor, type CliContext } from '../cli-context.js'
import { showLines } from '../pager.js'
import { showPatch } from '../patch-output.js'
import { withAttachments } from '../prompt/prompt-text.js'
import { oneLine } from '../render/printable.js'
import { budgetText, usageText } from '../render/usage-text.js'
import { attachHelp } from './attach-help.js'
import type { AttachAction } from './attach-action.js'
import type { AttachScreen } from './attach-screen.js'
import type { PromptAction } from './outgoing-prompts.js'
import { filesText } from './rewind-question.js'
import { wholeTranscript } from './session-history.js'

/** What the actions of an attach screen need. */
export interface ActionContext {
  readonly context: CliContext
  readonly client: Client
  readonly id: string
  readonly screen: AttachScreen
  /** Leaves the screen. */
  readonly detach: () => void
  /** A prompt was accepted, which may resume the session. */
  readonly prompted: () => void
  /** Gives the terminal to something else meanwhile. */
  readonly lend: (use: () => Promise<void>) => Promise<void>
}

/** Performs the action of a key; the screen shows a failure. */
export async function perform(on: ActionContext, action: AttachAction): Promise<void> {
  try {
    await start(on, action)
  } catch (thrown) {
    const problem = isAgentprotoError(thrown) ? thrown.message : String(thrown)
    if (action.type === 'prompt' || action.type === 'answer' || action.type === 'interrupt') on.screen.note(problem)
    else on.screen.warn(problem)
    if (action.type === 'prompt') on.screen.restorePrompt(action.text)
  }
}

async function start(on: ActionContext, action: AttachAction): Promise<void> {
  const { context, client, id, screen } = on
  switch (action.type) {
    case 'prompt':
      await sendPrompt(on, action)
      return on.prompted()
    case 'answer':
      return void (await client.sessions.answer(id, action.requestId, action.answer))
    case 'interrupt':
      return void (await client.sessions.interrupt(id))
    case 'detach':
      return on.detach()
    case 'configure':
      await client.sessions.configure(id, action.request)
      return screen.say(`Set: ${configured(action.request)}`)
    case 'diff':
      return showDiff(on, action.turn)
    case 'plan-rewind': {
      const plan = await client.changes.rewind(id, { turn: action.turn, dryRun: true })
      return screen.askRewind(action.turn, { plan, now: Date.now() })
    }
    case 'rewind': {
      const to = action.checkpoint === undefined ? { turn: action.turn } : { checkpoint: action.checkpoint }
      return screen.say(...rewound(id, await client.changes.rewind(id, to)))
    }
    case 'cost':
      return showCost(on)
    case 'log':
      return on.lend(() => showLines(context, wholeTranscript(client, id, frameOf(context)), { atEnd: true }))
    case 'help':
      return on.lend(() => showLines(context, linesOf(attachHelp(frameOf(context)))))
  }
}

/**
 * Sends a prompt, which the gateway queues behind a running turn, or for which it ends that. The key lets the client send it
 * again when the connection breaks: it starts one turn.
 */
export async function sendPrompt({ context, client, id, screen }: ActionContext, action: PromptAction): Promise<void> {
  const onMissing = (problem: string): void => screen.note(`agentproto: ${problem}`)
  const prompt = await withAttachments(context.cwd, action.text, onMissing)
  const { whenBusy = 'queue' } = action
  await client.sessions.prompt(id, { prompt, whenBusy, idempotencyKey: randomUUID() })
}

async function showDiff({ context, client, id, screen, lend }: ActionContext, turn: number | undefined): Promise<void> {
  const { files, shared } = await client.changes.list(id, defined({ turn }))
  if (files.length === 0) return screen.say('Nothing was changed.')
  if (shared) screen.warn('Another session worked in the folder meanwhile: its changes are among these.')
  await lend(() => showPatch(context, client.changes.diff(id, defined({ turn }))))
}

async function showCost({ client, id, screen }: ActionContext): Promise<void> {
  const { usage, budget } = await client.sessions.get(id)
  screen.setUsage(usage)
  const used =
    usage === undefined ? 'Nothing is reported before the first turn has ended.' : `Used: ${usageText(usage)}`
  screen.say(used, ...(budget === undefined ? [] : [`Budget: ${budgetText(budget)}`]))
}

function rewound(id: string, { changedCount, kept, before }: RewoundFiles): string[] {
  return [
    `${filesText(changedCount)} changed.`,
    ...(before === undefined ? [] : [`Undo it with: agentproto sessions rewind ${id} --checkpoint ${before}`]),
    ...kept.slice(0, 10).map(({ path, reason }) => `Left as it is: ${oneLine(path)} (${reason})`),
    ...(kept.length > 10 ? [`and ${kept.length - 10} more`] : []),
  ]
}

const configured = ({ mode, model, permissionMode }: ConfigRequest): string =>
  oneLine(
    [mode && `mode ${mode}`, model && `model ${model}`, permissionMode && `permissions ${permissionMode}`]
      .filter(Boolean)
      .join(', '),
  )

const frameOf = (context: CliContext) => ({
  paint: paintFor(context, context.stdout),
  width: context.stdout.columns || 80,
})

async function* linesOf(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}
