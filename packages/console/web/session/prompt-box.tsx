import type { Session } from '@agentproto/client'
import { useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { isAway } from '../hosts/is-away.js'
import { useCalling } from '../parts/calling.js'
import { newKey } from '../parts/idempotency-key.js'
import { Outside } from '../parts/outside.js'
import { type AgentCommand, matchingCommands, promptOf } from './agent-commands.js'
import { useDraftText } from './draft-text.js'
import { historyStep } from './prompt-history.js'

interface PromptBoxProps {
  readonly gateway: Gateway
  readonly session: Session
  /** Its earlier prompts, oldest first. */
  readonly prompts: () => readonly string[]
}

type WhenBusy = 'queue' | 'interrupt'

/** Where the next prompt is written: sent at once, after the running turn, or instead of it. */
export function PromptBox(props: PromptBoxProps) {
  const isBusy = props.session.turn.state !== 'idle'
  const isOff = isAway(props.session)
  const draft = useDraft(props)
  const commands = matchingCommands(props.session.config?.commands ?? [], draft.text)
  const choose = (command: AgentCommand): void => draft.write(promptOf(command))
  const onKeyDown = (event: KeyboardEvent): void => {
    const [command] = commands
    const act = actionOf(event, { draft, complete: command === undefined ? undefined : () => choose(command) })
    if (act === undefined) return
    event.preventDefault()
    act()
  }
  return (
    <form
      class="prompt-box"
      onSubmit={(event) => {
        event.preventDefault()
        draft.send('queue')
      }}
    >
      {isOff ? (
        <p id="prompt-off" class="off">
          Nothing can be sent while its host <Outside text={props.session.hostId} /> is not heard from. What you have
          written stays.
        </p>
      ) : null}
      <CommandList commands={commands} choose={choose} />
      <textarea
        aria-label="Prompt"
        rows={3}
        dir="auto"
        value={draft.text}
        // Not disabled: it would lose the focus, and the next letters would be keys of the page.
        readOnly={isOff}
        aria-disabled={isOff}
        aria-describedby={isOff ? 'prompt-off' : undefined}
        placeholder={isBusy ? 'The agent works; a prompt is queued' : 'Prompt, or / for a command of the agent'}
        onInput={({ currentTarget }) => draft.write(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="prompt-buttons">
        <button type="submit" disabled={isOff}>
          {isBusy ? 'Queue' : 'Send'}
        </button>
        {isBusy ? (
          <button type="button" disabled={isOff} onClick={() => draft.send('interrupt')}>
            Interrupt and send
          </button>
        ) : null}
      </div>
      <p role="alert">{draft.problem}</p>
    </form>
  )
}

/** The prompt that is being written. */
interface Draft {
  readonly text: string
  readonly problem: string
  readonly write: (text: string) => void
  readonly send: (whenBusy: WhenBusy) => void
  /** Shows an earlier prompt or a later one; undefined where there is none, or where it would replace what was typed. */
  readonly history: (step: -1 | 1) => (() => void) | undefined
}

function useDraft({ gateway, session, prompts }: PromptBoxProps): Draft {
  const [text, setText] = useDraftText(session.id)
  const [at, setAt] = useState<number>()
  const { problem, call } = useCalling()
  const write = (next: string, position?: number): void => {
    setText(next)
    setAt(position)
  }
  const send = async (whenBusy: WhenBusy): Promise<void> => {
    const prompt = text.trim()
    if (prompt === '' || isAway(session)) return
    write('')
    const body = { prompt, whenBusy, idempotencyKey: newKey() }
    const isSent = await call(() => gateway.client.sessions.prompt(session.id, body))
    // What was typed in the meantime is not lost.
    if (!isSent) setText((now) => (now === '' ? prompt : now))
  }
  const history = (step: -1 | 1): (() => void) | undefined => {
    const next = text === '' || at !== undefined ? historyStep(prompts(), { at }, step) : undefined
    return next && (() => write(next.text, next.at))
  }
  return { text, problem, history, write: (next) => write(next), send: (whenBusy) => void send(whenBusy) }
}

interface KeyTargets {
  readonly draft: Draft
  /** Takes the first command that is offered. */
  readonly complete: (() => void) | undefined
}

/** What a key does in the box; undefined for what it does in any text. */
function actionOf(event: KeyboardEvent, { draft, complete }: KeyTargets): (() => void) | undefined {
  if (event.isComposing || event.shiftKey) return undefined
  switch (event.key) {
    case 'ArrowUp':
      return draft.history(-1)
    case 'ArrowDown':
      return draft.history(1)
    case 'Tab':
      return complete
    case 'Enter':
      return () => draft.send(event.ctrlKey || event.metaKey ? 'interrupt' : 'queue')
    default:
      return undefined
  }
}

/** More would not fit above the box of a phone. */
const SHOWN = 8

interface CommandListProps {
  readonly commands: readonly AgentCommand[]
  readonly choose: (command: AgentCommand) => void
}

function CommandList({ commands, choose }: CommandListProps) {
  if (commands.length === 0) return null
  return (
    <ul class="commands" aria-label="Commands of the agent; Tab takes the first">
      {commands.slice(0, SHOWN).map((command) => (
        <li key={command.name}>
          <button type="button" onClick={() => choose(command)}>
            <Outside text={promptOf(command).trim()} />{' '}
            <span class="dim">
              <Outside text={command.description} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}
