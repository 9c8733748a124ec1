import { Markdown } from '../parts/markdown.js'
import { Outside, OutsideBlock } from '../parts/outside.js'
import type { Part, Tool } from './transcript.js'

/** One part of a transcript. */
export function PartView({ part }: { readonly part: Part }) {
  switch (part.type) {
    case 'prompt':
      return (
        <div class="part prompt">
          <OutsideBlock text={part.text} label="Prompt" />
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
          {part.detail === undefined ? null : <OutsideBlock text={part.detail} />}
        </div>
      )
    case 'turn-end':
      return (
        <p class="part turn-end">
          {part.reason}
          {part.seconds === undefined ? '' : ` · ${part.seconds} s`}
        </p>
      )
  }
}

function ToolView({ call }: { readonly call: Tool }) {
  return (
    <details class={`part tool ${call.status ?? 'pending'}`}>
      <summary>
        <span class="state">{call.status ?? 'pending'}</span> <Outside text={call.title ?? call.toolName ?? 'tool'} />
      </summary>
      {call.input === undefined ? null : <OutsideBlock label="Input" text={textOf(call.input)} />}
      {(call.content ?? []).map((content, index) => (
        <OutsideBlock key={index} text={content.type === 'diff' ? content.newText : textOf(content)} />
      ))}
      {call.output === undefined ? null : <OutsideBlock label="Output" text={textOf(call.output)} />}
    </details>
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''))
