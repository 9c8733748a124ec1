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
  expect(redactor.redact('agp_t_short and agp_x_0123456789abcdef_')).toContain('agp_t_short')
})

test('a value that is too short is not redacted', () => {
  const redactor = redactorOf('yes', '12345')
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
        const [clean, open] = redactor.redactPart(held + whole.slice(at, at + size))
        out += clean
        held = open
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

const TOKEN = `agp_s_0123456789abcdef_${'aB3_-xY9'.repeat(6).slice(0, 43)}`
const wrapped = (text: string, width: number): string => text.replace(new RegExp(`.{${width}}`, 'g'), '$&\n')

test.each(['', 'x', 'xy', 'token: '])(
  '12.A3 base64 and hex of a value and of any token are redacted, after %j',
  (before) => {
    for (const [secret, redactor] of [
      [TOKEN, redactorOf()],
      ['pässword 4711/x', redactorOf('pässword 4711/x')],
    ] as const) {
      const bytes = Buffer.from(`${before}${secret}\n`)
      for (const form of ['base64', 'base64url', 'hex'] as const) {
        const printed = bytes.toString(form)
        // What is left are the digits that also belong to the text around it.
        const around = Buffer.from(before).toString(form).length + 10 + 6
        for (const text of [printed, wrapped(printed, 76), wrapped(printed, 7), printed.split('').join('\n')]) {
          expect(redactor.redact(text)).toContain('[redacted]')
          expect(redactor.redact(text).replace(/\s/g, '').length).toBeLessThan(around)
          expect(JSON.parse(redactor.redactJson(JSON.stringify({ text })))).toEqual({ text: redactor.redact(text) })
        }
      }
      expect(redactor.redact(bytes.toString('hex').toUpperCase())).toContain('[redacted]')
    }
  },
)

test('12.A3 a token is redacted one letter a line, in JSON within JSON, and without its last letters', () => {
  const redactor = createRedactor()
  const lines = TOKEN.split('').join('\n')
  expect(redactor.redact(lines)).toBe('[redacted]')
  const json = JSON.stringify({ text: JSON.stringify({ lines }) })
  expect(redactor.redactJson(json)).toBe(JSON.stringify({ text: JSON.stringify({ lines: '[redacted]' }) }))
  expect(redactor.redact(`${TOKEN.slice(0, -1)}, all but one`)).toBe('[redacted], all but one')
  expect(redactor.redact(TOKEN.slice(0, 20))).toBe(TOKEN.slice(0, 20))
})

test('12.A3 ordinary data is unchanged: pictures in base64, digests, prose', () => {
  const redactor = redactorOf('s3cret-value')
  const texts = fc.oneof(
    fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes).toString('base64')),
    fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes).toString('hex')),
    fc.lorem({ maxCount: 50 }),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(texts, (text) => {
      expect(redactor.redact(text)).toBe(text)
    }),
  )
})
