import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fillTemplate } from '../src/fill-template.js'

test.each([
  ['{value}', 'a"b\\c', 'a"b\\c'],
  ['--model={value}', 'a"b', '--model=a"b'],
  ['{value}{value}', '$&', '$&$&'],
  ['{"model":"{value}"}', 'a","x":"b', '{"model":"a\\",\\"x\\":\\"b"}'],
  ['{"model":{value}}', 'a', '{"model":"a"}'],
  ['{"turns":{value},"text":"{value}"}', 5, '{"turns":5,"text":"5"}'],
  ['["{value}", "\\"{value}\\""]', 'a"', '["a\\"", "\\"a\\"\\""]'],
  ['model="{value}"', 'a"\nb', 'model="a\\"\\nb"'],
  ['5" of {value}', 'a"b', '5" of a"b'],
  ['say {value} and "stop"', 'a"b', 'say a"b and "stop"'],
] as const)('%s takes %j', (template, value, filled) => {
  expect(fillTemplate(template, value)).toBe(filled)
})

test('whatever the value, JSON around it keeps its shape', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      const filled = fillTemplate('{"model":"{value}","small":{value},"list":["p/{value}"]}', value)
      expect(JSON.parse(filled)).toEqual({ model: value, small: value, list: [`p/${value}`] })
    }),
  )
})
