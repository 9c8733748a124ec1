import type { AdapterState } from '@agentproto/contracts/wire'
import { CopyText } from '../parts/copy-text.js'
import { Outside } from '../parts/outside.js'
import { shown } from '../parts/shown-text.js'

type Step = AdapterState['setup'][number]
type Question = Extract<NonNullable<Step['needs']>, { readonly kind: 'value' }>

interface SetupFormProps {
  readonly slug: string
  readonly steps: readonly Step[]
  readonly isBusy: boolean
  readonly onSetup: (inputs: Readonly<Record<string, string>>) => Promise<void>
}

/** The steps that are not done, with what each needs. What was sent is not kept here, and a secret is never shown again. */
export function SetupForm({ slug, steps, isBusy, onSetup }: SetupFormProps) {
  const pending = steps.filter(({ state }) => state === 'pending')
  if (pending.length === 0) return null
  const send = async (form: HTMLFormElement): Promise<void> => {
    const inputs = inputsOf(form, pending)
    form.reset()
    await onSetup(inputs)
  }
  return (
    <form
      class="setup"
      autocomplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        void send(event.currentTarget)
      }}
    >
      <h3>To set up</h3>
      {pending.map((step) => (
        <SetupStep key={step.id} step={step} />
      ))}
      <button type="submit" class="primary" disabled={isBusy}>
        Set up {shown(slug)}
      </button>
    </form>
  )
}

/** A field with the name of a step alone, such as `reset`, would hide a method of the form. */
const fieldOf = (step: string): string => `step:${step}`

/** An empty field is not sent: the step has a default, or the gateway says what is missing. */
function inputsOf(form: HTMLFormElement, steps: readonly Step[]): Readonly<Record<string, string>> {
  const data = new FormData(form)
  return Object.fromEntries(
    steps.flatMap(({ id, needs }): [string, string][] => {
      if (needs?.kind !== 'value') return []
      const value = data.get(fieldOf(id))
      if (needs.type === 'boolean') return [[id, String(value !== null)]]
      return typeof value === 'string' && value !== '' ? [[id, value]] : []
    }),
  )
}

function SetupStep({ step: { id, needs, description } }: { readonly step: Step }) {
  if (needs?.kind === 'value') return <QuestionField id={id} question={needs} />
  return (
    <div>
      <p>
        <Outside text={description === undefined ? id : `${id}: ${description}`} />
        {needs === undefined ? ' (it runs by itself)' : '; this needs a terminal on the machine of the gateway:'}
      </p>
      {needs === undefined ? null : (
        <CopyText
          label={`Command of ${id}`}
          text={needs.kind === 'terminal' ? needs.command : `agentproto secrets set ${needs.slug}`}
        />
      )}
    </div>
  )
}

function QuestionField({ id, question }: { readonly id: string; readonly question: Question }) {
  const { prompt, url } = question
  return (
    <>
      <label class={question.type === 'boolean' ? 'check' : 'field'}>
        <Outside text={prompt} /> <Answer id={id} question={question} />
      </label>
      {url === undefined ? null : <Page url={url} />}
    </>
  )
}

function Answer({
  id,
  question: { type, options, default: value },
}: {
  readonly id: string
  readonly question: Question
}) {
  const text = value === undefined ? '' : String(value)
  if (type === 'boolean') return <input type="checkbox" name={fieldOf(id)} defaultChecked={text === 'true'} />
  if (type === 'secret') return <input type="password" name={fieldOf(id)} autocomplete="new-password" required />
  if (type === 'select' && options !== undefined)
    return (
      <select name={fieldOf(id)}>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === text}>
            {shown(option.label)}
          </option>
        ))}
      </select>
    )
  return (
    <input name={fieldOf(id)} autocomplete="off" spellcheck={false} required={text === ''} placeholder={shown(text)} />
  )
}

/** Where the person finds the value. It is a link only if it leads to the web. */
function Page({ url }: { readonly url: string }) {
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
  return (
    <p>
      On the page{' '}
      {isWeb ? (
        <a href={url} target="_blank" rel="noopener noreferrer">
          <Outside text={url} />
        </a>
      ) : (
        <Outside text={url} />
      )}
    </p>
  )
}
