import { expect, test } from 'vitest'
import { contentOf, fieldsOf } from '../web/requests/question-form.js'

const fields = fieldsOf({
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

test('15.2 the fields of a form come from its schema', () => {
  expect(fields.map(({ name, type, required }) => [name, type, required])).toEqual([
    ['name', 'text', false],
    ['count', 'integer', true],
    ['ratio', 'number', false],
    ['sure', 'boolean', false],
    ['colour', 'choice', true],
    ['sizes', 'choices', false],
    ['tags', 'choices', false],
    ['__proto__x', 'text', false],
  ])
  expect(fields[0]).toMatchObject({ title: 'Name', description: 'Of the branch', filledIn: ['main'] })
  expect(fields[3]?.filledIn).toEqual(['false'])
  expect(fields[4]?.choices).toEqual([
    { value: 'r', title: 'Red' },
    { value: 'g', title: 'Green' },
  ])
  expect(fields[5]?.choices[1]).toEqual({ value: 'l', title: 'l' })
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
  const special = fieldsOf(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'))
  const result = contentOf(special, () => ['x'])
  expect(JSON.stringify(result)).toBe('{"content":{"__proto__":"x"}}')
})

test('15.2 what is no schema has no fields', () => {
  for (const schema of [undefined, null, 'x', 7, [], { properties: 7 }]) expect(fieldsOf(schema)).toEqual([])
})
