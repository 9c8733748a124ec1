import { Component, type ComponentChildren } from 'preact'
import { Contained } from '../parts/contained.js'
import { Fold } from '../parts/fold.js'
import { LongText } from '../parts/long-text.js'
import { Markdown } from '../parts/markdown.js'
import { Outside } from '../parts/outside.js'
import { fenceAfter } from './fence.js'
import type { Part, TextPart, TurnEndPart } from './part.js'
import { ToolView } from './tool-view.js'

const END_TEXT: Readonly<Record<TurnEndPart['reason'], string>> = {
  end_turn: 'Done',
  max_tokens: 'Ended: the answer reached its limit of tokens',
  max_turn_requests: 'Ended: the turn reached its limit of requests',
  refusal: 'The agent refused',
  cancelled: 'Interrupted',
  error: 'Failed',
  timeout: 'Ended: the agent was silent for too long',
}

interface PartViewProps {
  readonly part: Part
  readonly revision: number
}

/** One part of a transcript, drawn again only when its revision has changed. */
export class PartView extends Component<PartViewProps> {
  override shouldComponentUpdate({ part, revision }: PartViewProps): boolean {
    return part !== this.props.part || revision !== this.props.revision
  }

  override render({ part }: PartViewProps): ComponentChildren {
    return (
      <Contained what="This part of the transcript">
        <PartContent part={part} />
      </Contained>
    )
  }
}

function PartContent({ part }: { readonly part: Part }) {
  const name = String(part.key)
  switch (part.type) {
    case 'prompt':
      return (
        <div class="part prompt">
          <LongText text={part.text} label="Prompt" name={name} />
          {part.isUnsent ? <p class="dim">Not sent: the turn before it was stopped.</p> : null}
        </div>
      )
    case 'text':
      return (
        <div class={`part ${codeAround(part)}`}>
          <TextView part={part} />
        </div>
      )
    case 'thought':
      return (
        <Fold name={name} class="part thought" summary="Thought">
          {() => <TextView part={part} />}
        </Fold>
      )
    case 'tool':
      return <ToolView call={part.call} name={name} />
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
          {part.detail === undefined ? null : <LongText text={part.detail} name={name} />}
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

/** Where a block of code goes on in the parts above and below: it is drawn as one. */
function codeAround({ text, fence, isWhole }: TextPart): string {
  const isOpen = isWhole && fenceAfter(text, fence) !== undefined
  return `${fence === undefined ? '' : 'code-above'} ${isOpen ? 'code-below' : ''}`
}

/** A block of code that goes on from the part before is opened again. */
const TextView = ({ part: { text, fence } }: { readonly part: TextPart }) => (
  <Markdown text={fence === undefined ? text : `${fence}\n${text}`} />
)
