import { jsonText } from '@agentproto/contracts'
import { Fold } from '../parts/fold.js'
import { LongText } from '../parts/long-text.js'
import { Outside } from '../parts/outside.js'
import { Difference } from '../parts/patch.js'
import type { Tool } from './part.js'

type Content = NonNullable<Tool['content']>[number]
type Block = Extract<Content, { readonly type: 'content' }>['content']

interface ToolViewProps {
  readonly call: Tool
  /** What it is called among all that is kept open. */
  readonly name: string
}

/** One tool call, folded: what it is in a line, and below it all that it took and gave. */
export function ToolView({ call, name }: ToolViewProps) {
  const status = call.status ?? 'pending'
  const summary = (
    <>
      <span class="state">{status}</span> <Outside text={call.title ?? call.toolName ?? 'tool'} />
    </>
  )
  return (
    <Fold name={name} class={`part tool ${status}`} summary={summary}>
      {() => <ToolContent call={call} name={name} />}
    </Fold>
  )
}

function ToolContent({ call, name }: ToolViewProps) {
  const paths = (call.locations ?? []).map(({ path, line }) =>
    line === undefined || line === null ? path : `${path}:${line}`,
  )
  return (
    <>
      {paths.length === 0 ? null : <LongText label="Files" name={`${name} files`} text={paths.join('\n')} />}
      {call.input === undefined ? null : <LongText label="Input" name={`${name} input`} text={textOf(call.input)} />}
      {(call.content ?? []).map((content, index) => (
        <ContentView key={index} content={content} name={`${name} ${index}`} />
      ))}
      {call.output === undefined ? null : (
        <LongText label="Output" name={`${name} output`} text={textOf(call.output)} />
      )}
    </>
  )
}

function ContentView({ content, name }: { readonly content: Content; readonly name: string }) {
  switch (content.type) {
    case 'content':
      return <BlockView block={content.content} name={name} />
    case 'diff':
      return (
        <figure>
          <figcaption>
            <Outside text={content.path} />
          </figcaption>
          <Difference before={content.oldText ?? ''} after={content.newText} label="Change" />
        </figure>
      )
    case 'terminal':
      return (
        <p class="dim">
          Terminal <Outside text={content.terminalId} />
        </p>
      )
  }
}

function BlockView({ block, name }: { readonly block: Block; readonly name: string }) {
  switch (block.type) {
    case 'text':
      return <LongText name={name} text={block.text} />
    case 'image':
      return <Picture data={block.data} mimeType={block.mimeType} />
    case 'audio':
      return <p class="dim">{`Audio, ${block.data.length} characters of base64`}</p>
    case 'resource_link':
      return <LongText label="Link" name={name} text={`${block.name}\n${block.uri}`} />
    case 'resource':
      return <LongText label="Resource" name={name} text={block.resource.text ?? block.resource.uri} />
  }
}

/** Formats that hold pixels and nothing else. An SVG is a document, and is not shown. */
const PIXELS: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** From the bytes that the event has: nothing is fetched, and a type that is not known here is only named. */
function Picture({ data, mimeType }: { readonly data: string; readonly mimeType: string }) {
  if (!PIXELS.has(mimeType) || !/^[\w+/=\s]*$/.test(data))
    return (
      <p class="dim">
        An image that is not shown: <Outside text={mimeType} />
      </p>
    )
  return <img class="picture" src={`data:${mimeType};base64,${data}`} alt="Image of the tool" />
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : jsonText(value))
