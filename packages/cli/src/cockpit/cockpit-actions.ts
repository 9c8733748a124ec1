import { isAgentprotoError, isLive, type Session, summaryOf } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { attachSession } from '../attach/attach-session.js'
import type { Key } from '../attach/keyboard.js'
import { showDialog } from '../attach/show-dialog.js'
import type { CliContext } from '../cli-context.js'
import { withAttachments } from '../prompt/prompt-text.js'
import { cut } from '../render/fit.js'
import { sessionName } from '../render/session-text.js'
import type { CockpitAction } from './cockpit-command.js'
import type { CockpitScreen } from './cockpit-screen.js'
import { mergeConfirmation } from './merge-confirmation.js'
import { patchView } from './patch-view.js'
import type { QuestionsFeed } from './questions-feed.js'

export interface Cockpit {
  readonly context: CliContext
  readonly client: Client
  readonly screen: CockpitScreen
  readonly questions: QuestionsFeed
  /** Gives the terminal to something else, and takes it back. */
  readonly lend: (use: () => Promise<void>) => Promise<void>
  readonly quit: () => void
  /** Whether the first attach is also the end: the list was a choice. */
  readonly isPicker: boolean
}

/** When which key asked for an action. */
export interface Pressed {
  readonly key: Key
  readonly now: number
}

/** Does what a key asked for; the screen shows a failure. */
export async function performAction(cockpit: Cockpit, action: CockpitAction, pressed: Pressed): Promise<void> {
  const { screen } = cockpit
  try {
    await perform(cockpit, action, pressed)
  } catch (thrown) {
    screen.note(isAgentprotoError(thrown) ? thrown.message : String(thrown))
    if (action.type === 'prompt') screen.restorePrompt(action.session, action.text)
  }
}

async function perform(cockpit: Cockpit, action: CockpitAction, pressed: Pressed): Promise<void> {
  const { client, screen, questions } = cockpit
  if (action.type === 'quit') return cockpit.quit()
  const { session } = action
  const { id } = session
  const name = sessionName(session)
  switch (action.type) {
    case 'attach':
      return attach(cockpit, session)
    case 'ask':
      return questions.open(session)
    case 'answer':
      await client.sessions.answer(id, action.requestId, action.answer)
      screen.note(`Answered ${name}.`)
      return questions.update(session)
    case 'diff': {
      const view = await patchView(client, session)
      if (view === undefined) screen.note(`${name} changed nothing.`)
      else screen.showText(view)
      return
    }
    case 'prompt':
      return prompt(cockpit, session, action.text)
    case 'interrupt': {
      const { wasBusy } = await client.sessions.interrupt(id)
      screen.note(wasBusy ? `The turn of ${name} was interrupted.` : `${name} had no running turn.`)
      return
    }
    case 'propose-merge':
      screen.confirm(await mergeConfirmation(client, session), { type: 'merge', session }, pressed)
      return
    case 'merge': {
      const { commits, into } = await client.sessions.merge(id)
      screen.note(`${into} has ${commits === 0 ? 'it all' : `${commits} more commit${commits === 1 ? '' : 's'}`}.`)
      return
    }
    case 'kill': {
      const { ok } = await client.sessions.kill(id)
      screen.note(ok ? `${name} was killed.` : `${name} had already ended.`)
    }
  }
}

async function prompt({ context, client, screen }: Cockpit, session: Session, text: string): Promise<void> {
  const missing: string[] = []
  const content = await withAttachments(context.cwd, text, (problem) => missing.push(problem))
  const { turn } = await client.sessions.prompt(session.id, { prompt: content, whenBusy: 'queue' })
  const name = sessionName(session)
  const sent = session.turn.state === 'idle' ? `Sent to ${name}: turn ${turn}.` : `${name} gets it as turn ${turn}.`
  screen.note([sent, ...missing].join(' '))
}

async function attach(cockpit: Cockpit, session: Session): Promise<void> {
  const { context, client, isPicker } = cockpit
  await cockpit.lend(async () => {
    await attachSession(context, session.id)
    if (!isPicker && (await hasEnded(client, session.id)))
      await waitForKey(context, `${sessionName(session)} has ended.`)
  })
  if (isPicker) cockpit.quit()
}

async function hasEnded(client: Client, id: string): Promise<boolean> {
  const session = await client.sessions.get(id).catch(() => undefined)
  return session === undefined || (!isLive(session) && !summaryOf(session).wakeable)
}

/** Its transcript was printed at once; the list would cover it. */
async function waitForKey(context: CliContext, text: string): Promise<void> {
  const view = ({ width }: { readonly width: number }): { rows: string[] } => ({
    rows: [cut(`${text} Press a key to go back to the list.`, width)],
  })
  await showDialog(context, { view, key: () => ({ answer: undefined }) }, new AbortController().signal)
}
