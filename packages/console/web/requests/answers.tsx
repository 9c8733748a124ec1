import { type Choice, hasSecondStep } from '@agentproto/contracts'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Outside } from '../parts/outside.js'
import { type Answering, type RequestCardProps, useAnswering, withReason } from './answering.js'
import { ReasonField } from './reason-field.js'

interface AnswersProps extends RequestCardProps {
  readonly choices: readonly Choice[]
}

/** The answers as buttons. One that holds for longer needs a second press, below what it covers. */
export function Answers({ choices, ...props }: AnswersProps) {
  const [second, setSecond] = useState<Choice>()
  const [reason, setReason] = useState('')
  const answering = useAnswering(props)
  const { guard, request } = props
  const step = (to: Choice | undefined): void => {
    guard.restart(performance.now())
    setSecond(to)
  }
  const choose = (choice: Choice): void => {
    if (!answering.counts()) return
    if (hasSecondStep(choice.leads)) step(choice)
    else answering.answer(choice.isPositive ? choice.leads : withReason(choice.leads, reason))
  }
  const buttons = { onChoose: choose, isWhole: request.cut === undefined, answering }
  return (
    <>
      {second === undefined ? (
        <ChoiceButtons label="Answers" choices={choices} {...buttons} />
      ) : (
        <SecondStep of={second} onBack={() => step(undefined)} {...buttons} />
      )}
      <ReasonField value={reason} onChange={setReason} />
      <AnswerNote answering={answering} isWhole={request.cut === undefined} />
    </>
  )
}

interface ButtonsProps {
  readonly onChoose: (choice: Choice) => void
  readonly isWhole: boolean
  readonly answering: Answering
}

function ChoiceButtons({
  label,
  choices,
  onChoose,
  isWhole,
  answering,
}: ButtonsProps & { readonly label: string; readonly choices: readonly Choice[] }) {
  return (
    <div class="answers" role="group" aria-label={label}>
      {choices.map((choice, index) => (
        <button
          key={`${index} ${choice.text}`}
          type="button"
          data-key={choice.key}
          class={choice.isPositive ? 'positive' : 'negative'}
          disabled={answering.isBusy || (choice.isPositive && !isWhole)}
          onClick={() => onChoose(choice)}
        >
          {choice.key === '' ? null : <kbd>{choice.key}</kbd>} <ChoiceText choice={choice} />
        </button>
      ))}
    </div>
  )
}

function ChoiceText({ choice: { text, name, leads } }: { readonly choice: Choice }) {
  const dots = hasSecondStep(leads) ? ' …' : ''
  if (name === undefined || name.toLowerCase() === text.toLowerCase()) return <Outside text={text + dots} />
  return (
    <>
      <Outside text={text + dots} /> <Outside text={text.endsWith('.') ? `The agent calls it: ${name}` : `(${name})`} />
    </>
  )
}

interface SecondStepProps extends ButtonsProps {
  readonly of: Choice
  readonly onBack: () => void
}

function SecondStep({ of, onBack, ...buttons }: SecondStepProps) {
  const box = useRef<HTMLDivElement>(null)
  // The button that had the focus is gone; the box takes it, so that Enter alone makes no rule.
  useLayoutEffect(() => box.current?.focus(), [])
  const back = (): void => {
    box.current?.closest('article')?.focus()
    onBack()
  }
  return (
    <div
      class="second"
      ref={box}
      tabIndex={-1}
      onKeyDown={({ key }) => {
        if (key === 'Escape') back()
      }}
    >
      <h3>{of.text}: what exactly?</h3>
      <ChoiceButtons label={of.text} choices={hasSecondStep(of.leads) ? of.leads : []} {...buttons} />
      <button type="button" onClick={back}>
        <kbd>Esc</kbd> Back
      </button>
    </div>
  )
}

/** Why an answer did not count, or cannot be given. */
export function AnswerNote({ answering, isWhole }: { readonly answering: Answering; readonly isWhole: boolean }) {
  return (
    <>
      {isWhole ? null : <p class="problem">It was not shown whole, so it cannot be allowed here.</p>}
      <p class="problem" role="alert">
        <Outside text={answering.note} />
      </p>
    </>
  )
}
