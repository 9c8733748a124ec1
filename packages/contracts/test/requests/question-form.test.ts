import { expect, test } from 'vitest'
import { formFields, readNumber } from '../../src/index.js'

test('15.2 the fields of a form come from its schema, with their titles, choices and defaults', () => {
  const fields = formFields({
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name', description: 'Of the branch', default: 'main' },
      count: { type: 'integer' },
      ratio: { type: 'number', title: '' },
      sure: { type: 'boolean', default: false },
      colour: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 7] },
      shade: { type: 'string', oneOf: [{ const: 'd', title: 'Dark' }, { const: 7 }] },
      sizes: { type: 'array', items: { anyOf: [{ const: 's', title: 'Small' }, { const: 'l' }] } },
      tags: { type: 'array', items: { type: 'string' } },
      odd: 7,
    },
    required: ['colour', 'count', 9],
  })
  expect(fields.map(({ name, type, required }) => [name, type, required])).toEqual([
    ['name', 'text', false],
    ['count', 'integer', true],
    ['ratio', 'number', false],
    ['sure', 'boolean', false],
    ['colour', 'choice', true],
    ['shade', 'choice', false],
    ['sizes', 'choices', false],
    ['tags', 'choices', false],
    ['odd', 'text', false],
  ])
  expect(fields[0]).toEqual({
    name: 'name',
    title: 'Name',
    description: 'Of the branch',
    type: 'text',
    choices: [],
    required: false,
    fallback: 'main',
  })
  expect(fields[2]?.title).toBe('ratio')
  expect(fields[3]?.fallback).toBe(false)
  expect(fields.slice(4, 8).map(({ choices }) => choices.map(({ value, title }) => `${value} ${title}`))).toEqual([
    ['r Red', 'g g'],
    ['d Dark', '7 7'],
    ['s Small', 'l l'],
    [],
  ])
})

test('15.2 what is no schema has no fields, and a field with a special name is a field like any other', () => {
  for (const schema of [undefined, null, 'x', 7, [], { properties: 7 }]) expect(formFields(schema)).toEqual([])
  const special: unknown = JSON.parse('{"properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}')
  expect(formFields(special)).toMatchObject([{ name: '__proto__', required: true }])
})

test('15.2 a number is read as a whole one where the field asks for it', () => {
  expect(readNumber('1.5', false)).toEqual({ value: 1.5 })
  expect(readNumber('-7', true)).toEqual({ value: -7 })
  expect(readNumber('1.5', true)).toEqual({ problem: 'Enter a whole number.' })
  for (const text of ['x', 'Infinity', 'NaN']) expect(readNumber(text, false)).toEqual({ problem: 'Enter a number.' })
})
