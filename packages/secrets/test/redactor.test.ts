import { createRedactor } from '@agentproto/secrets'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const redactorOf = (...values: string[]) => {
  const redactor = createRedactor()
  for (const value of values) redactor.add(value)
  return redactor
}

test('a value is redacted in every form in which programs print it', () => {
  const value = 'pa"ss\\wörd/1'
  const redactor = redactorOf(value)
  const once = JSON.stringify({ value })
  const printed = [value, once, JSON.stringify({ once }), `https://host/?key=${encodeURIComponent(value)}`].join('\n')
  const clean = redactor.redact(printed)
  expect(clean.match(/\[redacted\]/g)).toHaveLength(4)
  expect(clean).not.toContain('wörd')
  expect(clean).not.toContain('w%C3%B6rd')
})

test('of two values where one contains the other, the longer is redacted as a whole', () => {
  expect(redactorOf('abcdef', 'abcdefghij').redact('x abcdefghij y abcdef')).toBe('x [redacted] y [redacted]')
})

test('a key file is redacted line by line, but not its frame', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END KEY-----\n'
  expect(redactorOf(key).redact('line 2: MIIEvQIBADANBgkqhkiG')).toBe('line 2: [redacted]')
  expect(redactorOf(key).redact('-----BEGIN KEY-----')).toBe('-----BEGIN KEY-----')
})

test('a gateway token is redacted by its format, in text and in JSON, without being registered', () => {
  const redactor = createRedactor()
  for (const kind of ['o', 't', 's']) {
    const token = `agp_${kind}_0123456789abcdef_${'aB3_-'.repeat(9).slice(0, 43)}`
    expect(redactor.redact(`it is ${token}, so`)).toBe('it is [redacted], so')
    expect(redactor.redactJson(JSON.stringify({ [token]: `Bearer ${token}` }))).toBe(
      '{"[redacted]":"Bearer [redacted]"}',
    )
  }
  expect(redactor.empty).toBe(true)
  expect(redactor.redact('agp_t_short and agp_x_0123456789abcdef_')).toContain('agp_t_short')
})

test('a removed value is ordinary text again', () => {
  const redactor = redactorOf('opensesame')
  redactor.remove('opensesame')
  expect([redactor.redact('opensesame'), redactor.empty]).toEqual(['opensesame', true])
})

test('a value that is too short is not redacted', () => {
  const redactor = redactorOf('yes', '12345')
  expect(redactor.empty).toBe(true)
  expect(redactor.redact('yes 12345')).toBe('yes 12345')
})

test('JSON stays JSON, whatever the value looks like', () => {
  const redactor = redactorOf('123456', '","type":"x')
  const json = '{"seq":123456,"text":"it is 123456","a":"","type":"x"}'
  expect(JSON.parse(redactor.redactJson(json))).toEqual({ seq: 123456, text: 'it is [redacted]', a: '', type: 'x' })
  expect(redactor.redactJson('{"a":1}')).toBe('{"a":1}')
})

test('data without a value is the same object; a value is redacted in keys and at any depth', () => {
  const redactor = redactorOf('s3cret-value')
  const clean = { a: [{ b: 'x' }] }
  expect(redactor.redactData(clean)).toBe(clean)
  expect(redactor.redactData({ a: [{ 's3cret-value': ['is s3cret-value'] }, 1, null] })).toEqual({
    a: [{ '[redacted]': ['is [redacted]'] }, 1, null],
  })
})

test('a value that is split into pieces is redacted when open ends are held back', () => {
  const value = 'sk-abc-abc-abd'
  const words = fc.array(fc.oneof(fc.constantFrom('s', 'sk-', 'sk-abc', '-abc', '-abd', value), fc.string()), {
    maxLength: 12,
  })
  const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(words, cuts, (said, sizes) => {
      const redactor = redactorOf(value)
      const whole = said.join('')
      let held = ''
      let out = ''
      for (let at = 0, turn = 0; at < whole.length; turn++) {
        const size = sizes[turn % sizes.length] ?? 1
        const text = redactor.redact(held + whole.slice(at, at + size))
        const open = redactor.openEnd(text)
        out += text.slice(0, text.length - open)
        held = text.slice(text.length - open)
        at += size
      }
      expect(out + held).toBe(whole.replaceAll(value, '[redacted]'))
    }),
  )
})

test('values beyond the limit evict the oldest', () => {
  const redactor = redactorOf(...Array.from({ length: 1_001 }, (_, index) => `value-number-${index};`))
  expect(redactor.redact('value-number-0; value-number-1; value-number-1000;')).toBe(
    'value-number-0; [redacted] [redacted]',
  )
})
