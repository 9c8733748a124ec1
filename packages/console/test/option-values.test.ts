import type { AdapterOption } from '@agentproto/client'
import { expect, test } from 'vitest'
import { chosenOptions, optionField, optionValues } from '../web/sessions/option-values.js'

const isOn: AdapterOption = { id: 'on', type: 'boolean', default: true }
const isOff: AdapterOption = { id: 'off', type: 'boolean' }

test('15.3 a box sends only what differs from how the agent starts', () => {
  expect(chosenOptions([isOn, isOff], { [optionField('on')]: 'on' })).toBeUndefined()
  expect(chosenOptions([isOn, isOff], { [optionField('off')]: 'on' })).toEqual({ on: false, off: true })
})

test('15.3 the models to choose from are those of the option that the manifest allows', () => {
  const text: AdapterOption = { id: 'model', type: 'string' }
  const list: AdapterOption = { id: 'model', type: 'enum', enum: ['a', 'b'] }
  expect(optionValues(text, {})).toBeUndefined()
  expect(optionValues(text, { allowed: ['b', 'c'] })).toEqual(['b', 'c'])
  expect(optionValues(list, { allowed: ['b', 'c'] })).toEqual(['b'])
  expect(optionValues(list, {})).toEqual(['a', 'b'])
  expect(optionValues({ id: 'other', type: 'string' }, { allowed: ['b'] })).toBeUndefined()
})

test('15.3 an option may have the name of another field, or of a member of every object', () => {
  const named: AdapterOption[] = [
    { id: 'prompt', type: 'string' },
    { id: 'constructor', type: 'string' },
  ]
  expect(chosenOptions(named, { prompt: 'words', [optionField('constructor')]: 'x' })).toEqual({ constructor: 'x' })
})
