import { formFields, jsonText, type QuestionRequest } from '@agentproto/contracts'
import { OutsideBlock } from '../parts/outside.js'
import { AddressFact } from './permission-content.js'
import { isFillable } from './question-form.js'

/** What an agent asks, in its words; the fields of its form are below, with the answer. */
export function QuestionContent({
  request: { message, mode, schema, url = '' },
}: {
  readonly request: QuestionRequest
}) {
  const hasForm = mode === 'form' && isFillable(formFields(schema))
  return (
    <>
      <p>
        {mode === 'url' ? 'It asks you to open an address.' : 'It asks a question; your answer is sent to the agent.'}
      </p>
      {mode === 'url' ? (
        <>
          <dl class="facts">
            <AddressFact url={url} />
          </dl>
          <OpenAddress url={url} />
        </>
      ) : null}
      <h3>In the words of the agent</h3>
      <OutsideBlock label="Question" text={message} />
      {hasForm || schema === undefined ? null : <OutsideBlock label="Form" text={jsonText(schema)} />}
    </>
  )
}

/** Only the web can be opened; any other address is text. */
function OpenAddress({ url }: { readonly url: string }) {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return null
  return (
    <p>
      <a href={new URL(url).href} target="_blank" rel="noopener noreferrer nofollow">
        Open it in a new window
      </a>
    </p>
  )
}
