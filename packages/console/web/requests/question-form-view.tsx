import type { FormField } from '@agentproto/contracts'
import { useState } from 'preact/hooks'
import { Outside } from '../parts/outside.js'
import { shown } from '../parts/shown-text.js'
import { AnswerNote } from './answers.js'
import { type RequestCardProps, useAnswering, withReason } from './answering.js'
import { contentOf, filledIn } from './question-form.js'
import { ReasonField } from './reason-field.js'

interface QuestionFormProps extends RequestCardProps {
  readonly fields: readonly FormField[]
}

/** More choices than this are a list that opens. */
const MAX_SHOWN = 8

/** The form of a question. */
export function QuestionFormView({ fields, ...props }: QuestionFormProps) {
  const answering = useAnswering(props)
  const [reason, setReason] = useState('')
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())
  const isWhole = props.request.cut === undefined
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement) || !isWhole || !answering.counts()) return
    const data = new FormData(event.currentTarget)
    const read = contentOf(fields, (field) => data.getAll(inputName(fields, field)).map(String))
    setProblems('problems' in read ? read.problems : new Map())
    if ('content' in read) answering.answer({ action: 'accept', content: read.content })
  }
  return (
    <form class="question" onSubmit={submit} noValidate>
      {fields.map((field, index) => (
        <FieldView
          key={field.name}
          field={field}
          name={inputName(fields, field)}
          isFirst={index === 0}
          problem={problems.get(field.name) ?? ''}
        />
      ))}
      <div class="answers" role="group" aria-label="Answers">
        <button type="submit" class="positive" disabled={answering.isBusy || !isWhole}>
          Send the answer
        </button>
        <button
          type="button"
          class="negative"
          data-key="n"
          disabled={answering.isBusy}
          onClick={() => answering.counts() && answering.answer(withReason({ action: 'decline' }, reason))}
        >
          <kbd>n</kbd> Decline
        </button>
      </div>
      <ReasonField value={reason} onChange={setReason} />
      <AnswerNote answering={answering} isWhole={isWhole} />
    </form>
  )
}

/** The names of fields are the agent's: the page has its own. */
const inputName = (fields: readonly FormField[], field: FormField): string => `field-${fields.indexOf(field)}`

interface FieldViewProps {
  readonly field: FormField
  readonly name: string
  readonly isFirst: boolean
  readonly problem: string
}

function FieldView({ field, name, isFirst, problem }: FieldViewProps) {
  return (
    <fieldset>
      <legend>
        <Outside text={field.title} />
        {field.required ? ' (required)' : ''}
      </legend>
      {field.description === undefined || field.description === '' ? null : (
        <p class="dim">
          <Outside text={field.description} />
        </p>
      )}
      <Input field={field} name={name} isFirst={isFirst} problem={problem} />
      {problem === '' ? null : (
        <p class="problem" role="alert">
          <Outside text={problem} />
        </p>
      )}
    </fieldset>
  )
}

function Input({ field, name, isFirst, problem }: FieldViewProps) {
  const filled = filledIn(field)
  const [first = ''] = filled
  const input = {
    name,
    'aria-label': field.title,
    'aria-invalid': problem !== '',
    'aria-required': field.required,
    ...(isFirst ? { 'data-key': 'y' } : {}),
  }
  switch (field.type) {
    case 'text':
      return <input type="text" dir="auto" autocomplete="off" defaultValue={first} {...input} />
    case 'number':
    case 'integer':
      return <input type="text" inputMode="decimal" autocomplete="off" defaultValue={first} {...input} />
    case 'boolean':
      return <ChoiceInputs type="radio" choices={YES_NO} chosen={filled} input={input} />
    case 'choice':
      return field.choices.length > MAX_SHOWN ? (
        <ChoiceList field={field} input={input} />
      ) : (
        <ChoiceInputs type="radio" choices={field.choices} chosen={filled} input={input} />
      )
    case 'choices':
      return field.choices.length === 0 ? (
        <textarea rows={3} dir="auto" placeholder="One on each line" defaultValue={filled.join('\n')} {...input} />
      ) : (
        <ChoiceInputs type="checkbox" choices={field.choices} chosen={filled} input={input} />
      )
  }
}

const YES_NO = [
  { value: 'true', title: 'Yes' },
  { value: 'false', title: 'No' },
]

interface InputAttributes {
  readonly name: string
  readonly 'aria-label': string
  readonly 'aria-invalid': boolean
  readonly 'aria-required': boolean
  readonly 'data-key'?: string
}

interface ChoiceInputsProps {
  readonly type: 'radio' | 'checkbox'
  readonly choices: FormField['choices']
  readonly chosen: readonly string[]
  readonly input: InputAttributes
}

function ChoiceInputs({ type, choices, chosen, input: { name, 'data-key': key } }: ChoiceInputsProps) {
  return (
    <div class="boxes">
      {choices.map(({ value, title }, index) => (
        <label key={value}>
          <input
            type={type}
            name={name}
            value={value}
            defaultChecked={chosen.includes(value)}
            {...(index === 0 && key !== undefined ? { 'data-key': key } : {})}
          />{' '}
          <Outside text={title} />
        </label>
      ))}
    </div>
  )
}

function ChoiceList({ field, input }: { readonly field: FormField; readonly input: InputAttributes }) {
  const filled = filledIn(field)
  return (
    <select {...input}>
      <option value="">{field.required ? 'Choose' : 'Leave it out'}</option>
      {field.choices.map(({ value, title }) => (
        <option key={value} value={value} selected={filled.includes(value)}>
          {shown(title)}
        </option>
      ))}
    </select>
  )
}
