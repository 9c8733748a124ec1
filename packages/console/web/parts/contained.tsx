import { Component, type ComponentChildren } from 'preact'

interface ContainedProps {
  /** What cannot be shown then, as the beginning of a sentence. */
  readonly what: string
  readonly children: ComponentChildren
}

/** A part of the page that fails alone: without it, one text that cannot be drawn would end the whole page. */
export class Contained extends Component<ContainedProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false }

  static override getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true }
  }

  override render({ what, children }: ContainedProps): ComponentChildren {
    if (!this.state.hasFailed) return children
    return (
      <p class="problem" role="alert">
        {what} cannot be shown here.
      </p>
    )
  }
}
