import { LongText } from '../parts/long-text.js'
import { Markdown } from '../parts/markdown.js'
import { Outside } from '../parts/outside.js'
import { ToolView } from './tool-view.js'
import type { Part } from './transcript.js'

const END_TEXT: Readonly<Record<Extract<Part, { type: 'turn-end' }>['reason'], string>> = {
  end_turn: 'Done',
  max_tokens: 'Ended: the answer reached its limit of tokens',
  max_turn_requests: 'Ended: the turn reached its limit of requests',
  refusal: 'The agent refused',
  cancelled: 'Interrupted',
  error: 'Failed',
  timeout: 'Ended: the agent was silent for too long',
}

/** One part of a transcript. */
export function PartView({ part }: { readonly part: Part }) {
  switch (part.type) {
    case 'prompt':
      return (
        <div class="part prompt">
          <LongText text={part.text} label="Prompt" />
          {part.isUnsent ? <p class="dim">Not sent: the turn before it was stopped.</p> : null}
        </div>
      )
    case 'text':
      return (
        <div class="part">
          <Markdown text={part.text} />
        </div>
      )
    case 'thought':
      return (
        <details class="part thought">
          <summary>Thought</summary>
          <Markdown text={part.text} />
        </details>
      )
    case 'tool':
      return <ToolView call={part.call} />
    case 'request':
      return (
        <p class="part note">
          {part.resolved === undefined ? 'The agent asked, and waits.' : `Answered: ${part.resolved.answer.outcome}`}
        </p>
      )
    case 'note':
      return (
        <div class={`part note ${part.tone}`}>
          <Outside text={part.text} />
          {part.detail === undefined ? null : <LongText text={part.detail} />}
        </div>
      )
    case 'turn-end':
      return (
        <p class="part turn-end">
          {END_TEXT[part.reason]}
          {part.seconds === undefined ? '' : ` · ${part.seconds} s`}
        </p>
      )
  }
}
