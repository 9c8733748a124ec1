import { expect, test } from 'vitest'
import { formFields } from '@agentproto/contracts'
import { contentOf, filledIn, isFillable } from '../web/requests/question-form.js'

const fields = formFields({
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', description: 'Of the branch', default: 'main' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    sure: { type: 'boolean', default: false },
    colour: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
    sizes: { type: 'array', items: { anyOf: [{ const: 's', title: 'Small' }, { const: 'l' }] } },
    tags: { type: 'array', items: { type: 'string' } },
    __proto__x: { type: 'string' },
  },
  required: ['colour', 'count'],
})
const read = (typed: Readonly<Record<string, readonly string[]>>) => contentOf(fields, ({ name }) => typed[name] ?? [])

test('15.2 what is filled in at first are the defaults that are texts, numbers or yes and no', () => {
  const filled = formFields({
    properties: { a: { default: 'main' }, b: { default: false }, c: {}, d: { default: [1, {}, 'x'] } },
  })
  expect(filled.map(filledIn)).toEqual([['main'], ['false'], [], ['1', 'x']])
})

test('15.2 each value has the type of its field, and what is empty is left out', () => {
  expect(
    read({
      count: ['7'],
      ratio: ['1.5'],
      sure: ['false'],
      colour: ['g'],
      sizes: ['s', 'l'],
      tags: ['a\n\nb'],
      name: [''],
    }),
  ).toEqual({ content: { count: 7, ratio: 1.5, sure: false, colour: 'g', sizes: ['s', 'l'], tags: ['a', 'b'] } })
})

test('15.2 a wrong value says what is expected', () => {
  const wrong = read({ count: ['1.5'], ratio: ['x'], sizes: ['xl'] })
  expect('problems' in wrong && Object.fromEntries(wrong.problems)).toEqual({
    count: 'Enter a whole number.',
    ratio: 'Enter a number.',
    colour: 'This field is required.',
    sizes: 'Not one of the choices: xl',
  })
})

test('15.2 a field with a special name is a field like any other', () => {
  const special = formFields(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'))
  const result = contentOf(special, () => ['x'])
  expect(JSON.stringify(result)).toBe('{"content":{"__proto__":"x"}}')
})

test('15.R4 a form with thousands of fields or choices is not drawn as fields', () => {
  const formOf = (properties: object): boolean => isFillable(formFields({ type: 'object', properties }))
  const many = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, {}]))
  const choices = Array.from({ length: 10_000 }, (_, at) => `v${at}`)
  expect([formOf({}), formOf(many(200)), formOf(many(201)), formOf({ a: { enum: choices } })]).toEqual([
    false,
    true,
    false,
    false,
  ])
})
