import { expect, test } from 'vitest'
import { choiceRows } from '../src/render/adapter-choices.js'

test('15.R3 a mode that has the name of something that every object has is described by its manifest alone', () => {
  const choices = { modes: ['constructor', 'plan'], modeDescriptions: { plan: 'reads' }, models: {}, options: [] }
  expect(choiceRows(choices)).toEqual([
    ['mode', 'constructor'],
    ['mode', 'plan: reads'],
  ])
})
