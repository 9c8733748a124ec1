import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { sanitiseSvg, type SanitisedSvg } from '../src/icons/sanitise-svg.js'

const XMLNS = 'xmlns="http://www.w3.org/2000/svg"'
const PATH = '<path d="M0 0h16v16z"></path>'

const sanitised = (text: string): SanitisedSvg => sanitiseSvg(new TextEncoder().encode(text))
const icon = (content: string, attributes = ''): SanitisedSvg =>
  sanitised(`<svg ${XMLNS} ${attributes}>${PATH}${content}</svg>`)
/** What is left of the content, beside the path that each of these icons has. */
const left = (content: string, attributes?: string): string => {
  const result = icon(content, attributes)
  if (!result.ok) throw new Error(result.reason)
  return result.svg.replace(`<svg ${XMLNS}>${PATH}`, '').replace(/<\/svg>$/, '')
}

test('shapes, colours, gradients and transformations stay', () => {
  const drawing =
    '<defs><linearGradient id="a" x1="0" gradientUnits="userSpaceOnUse">' +
    '<stop offset="50%" stop-color="rgb(1, 2, 3)"></stop></linearGradient>' +
    '<radialGradient id="b" href="#a"></radialGradient></defs>' +
    '<g fill="url(#a) #fff" transform="translate(1 2) rotate(-45)"><circle cx="8" cy="8" r="1.5e1"></circle></g>' +
    '<rect width="1" height="2" stroke="currentColor" fill-opacity=".5"></rect>'
  expect(sanitised(`<svg ${XMLNS} viewBox="0 0 16 16">${drawing}</svg>`)).toEqual({
    ok: true,
    svg: `<svg ${XMLNS} viewBox="0 0 16 16">${drawing}</svg>`,
  })
})

test('a style becomes attributes, and xlink:href is href', () => {
  expect(left('<rect style="fill : #123; stroke:url(#a);font-family:x"/>')).toBe(
    '<rect fill="#123" stroke="url(#a)"></rect>',
  )
  const gradient = '<linearGradient xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="#a"/>'
  expect(left(gradient)).toBe('<linearGradient href="#a"></linearGradient>')
})

describe('what could run or load something is left out', () => {
  const ATTACKS: Readonly<Record<string, string>> = {
    script: '<script>alert(1)</script>',
    'script of another namespace': '<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script>',
    'a shape of another namespace': '<h:path xmlns:h="http://www.w3.org/1999/xhtml" d="M0 0"/>',
    foreignObject:
      '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><img src="x" onerror="alert(1)"/></body></foreignObject>',
    'a shape in what is left out': '<foreignObject><path d="M0 0"/></foreignObject>',
    'a link': '<a href="javascript:alert(1)"><rect/></a>',
    'an image': '<image href="https://example.com/x.png"/>',
    use: '<use href="https://example.com/x.svg#a"/><use href="#a"/>',
    'a style sheet': '<style>@import url(https://example.com/x.css);</style>',
    animation: '<animate attributeName="href" to="javascript:alert(1)"/><set attributeName="onload" to="alert(1)"/>',
    'a filter': '<filter id="f"><feImage href="https://example.com/x"/></filter>',
    'an inner svg': `<svg ${XMLNS} onload="alert(1)"><rect/></svg>`,
    text: 'text<![CDATA[<script>]]><title>t</title><text>t</text>',
    'a comment and an instruction': '<!-- <script> --><?xml-stylesheet href="https://example.com/x.css"?>',
  }
  for (const [name, attack] of Object.entries(ATTACKS))
    test(`${name}, as an element`, () => expect(left(attack)).toBe(''))

  const VALUES: Readonly<Record<string, string>> = {
    'an event': 'onload="alert(1)"',
    'an event of another namespace': 'xmlns:ev="http://www.w3.org/2001/xml-events" ev:event="click"',
    'a reference elsewhere': 'fill="url(https://example.com/x#a)"',
    'a reference elsewhere, with a colour': 'fill="red url(//example.com)"',
    'a reference hidden by an escape of CSS': 'fill="u\\72l(https://example.com)"',
    'a reference after a comment of CSS': 'fill="url(/**/https://example.com)"',
    'a reference written as characters': 'fill="&#117;rl(&#104;ttps://example.com)"',
    'another function': 'fill="image-set(&quot;https://example.com&quot; 1x)"',
    data: 'fill="url(data:image/svg+xml;base64,PHN2Zz4=)"',
    'a style that loads': 'style="background:url(https://example.com);mask:url(x.svg#m);fill:expression(alert(1))"',
    'a link on a shape': 'href="javascript:alert(1)"',
    'a base': 'xml:base="https://example.com/"',
    'a class': 'class="a"',
    'an id with more in it': 'id="a&quot;&gt;&lt;script&gt;"',
  }
  for (const [name, attribute] of Object.entries(VALUES))
    test(`${name}, as an attribute`, () => expect(left(`<rect ${attribute}/>`)).toBe('<rect></rect>'))

  test('the same on the root', () => expect(left('', 'onload="alert(1)" xml:base="https://example.com/"')).toBe(''))
})

describe('what is no drawing is refused, with the reason', () => {
  const BOMB = `<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><svg ${XMLNS}><path d="&b;"/></svg>`
  const REFUSED: Readonly<Record<string, readonly [string | Uint8Array, RegExp]>> = {
    'billion laughs': [BOMB, /document type/],
    'an entity that nobody defined': [`<svg ${XMLNS}><path d="&x;"/></svg>`, /entity/],
    'an external entity': [`<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg/>`, /document type/],
    'not closed': [`<svg ${XMLNS}>${PATH}`, /unclosed/],
    'closed by another name': [`<svg ${XMLNS}><g>${PATH}</svg></g>`, /unexpected close tag/i],
    'an attribute twice': [`<svg ${XMLNS}><path d="M0" d="M1"/></svg>`, /duplicate/i],
    'more after its end': [`<svg ${XMLNS}>${PATH}</svg><script/>`, /documents may contain only one root|root/i],
    HTML: ['<!doctype html><html><body><svg></svg></body></html>', /incorrect syntax/],
    'HTML that is well-formed': ['<html><body><svg/></body></html>', /no SVG/],
    'a root of another namespace': [`<svg xmlns="http://www.w3.org/1999/xhtml">${PATH}</svg>`, /no SVG/],
    'a JPEG': [new Uint8Array([0xff, 0xd8, 0xff, 0xe0]), /UTF-8/],
    'UTF-16': [new Uint8Array(Buffer.from(`\uFEFF<svg ${XMLNS}>${PATH}</svg>`, 'utf16le')), /UTF-8|character/i],
    'UTF-16 without a mark': [new Uint8Array(Buffer.from(`<svg ${XMLNS}>${PATH}</svg>`, 'utf16le')), /./],
    'UTF-7': [`+ADw-svg +AD4-`, /./],
    empty: ['', /./],
    'nothing drawn': [`<svg ${XMLNS}><g/></svg>`, /no shape/],
    'too large': [`<svg ${XMLNS}>${PATH}${' '.repeat(300_000)}</svg>`, /256 KiB/],
    'too many elements': [`<svg ${XMLNS}>${'<g/>'.repeat(2_500)}${PATH}</svg>`, /2000 elements/],
    'too many elements that are left out': [`<svg ${XMLNS}>${'<a/>'.repeat(2_500)}${PATH}</svg>`, /2000 elements/],
    'too deep': [`<svg ${XMLNS}>${'<g>'.repeat(40)}${PATH}${'</g>'.repeat(40)}</svg>`, /32 elements/],
    'clips of clips': [`<svg ${XMLNS}>${'<path clip-path="url(#a)"/>'.repeat(20)}</svg>`, /clips and masks/],
    'masks by style': [`<svg ${XMLNS}>${'<path style="mask:url(#a)"/>'.repeat(20)}</svg>`, /clips and masks/],
  }
  for (const [name, [given, reason]] of Object.entries(REFUSED))
    test(`refused: ${name}`, () => {
      const result = typeof given === 'string' ? sanitised(given) : sanitiseSvg(given)
      expect(result).toMatchObject({ ok: false, reason: expect.stringMatching(reason) as unknown })
    })

  test('a document type without definitions is left out', () => {
    expect(
      sanitised(`<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "https://e/x.dtd"><svg ${XMLNS}>${PATH}</svg>`),
    ).toEqual({
      ok: true,
      svg: `<svg ${XMLNS}>${PATH}</svg>`,
    })
  })
})

const name = fc.constantFrom('svg', 'path', 'g', 'script', 'a', 'use', 'style', 'image', 'linearGradient', 'h:path')
const value = fc.oneof(
  fc.string(),
  fc.constantFrom('url(#a)', 'url(https://e)', 'javascript:alert(1)', '&lt;', '"><script>', 'red', '\\75rl(x)'),
)
const attributes = fc.dictionary(
  fc.constantFrom('d', 'fill', 'style', 'onload', 'href', 'xlink:href', 'id', 'xmlns', 'clip-path'),
  value,
  { maxKeys: 4 },
)
const element = fc.letrec<{ element: string }>((tie) => ({
  element: fc
    .tuple(name, attributes, fc.array(fc.oneof({ maxDepth: 4 }, fc.string(), tie('element')), { maxLength: 3 }))
    .map(([tag, given, content]) => `<${tag}${quoted(given)}>${content.join('')}</${tag}>`),
})).element

const quoted = (given: Readonly<Record<string, string>>): string =>
  Object.entries(given)
    .map(([key, text]) => ` ${key}="${text.replaceAll('"', '&quot;')}"`)
    .join('')

test('whatever is given: never an error, and what comes out is one of the few forms, and stays the same', () => {
  fc.assert(
    fc.property(element, (content) => {
      for (const result of [icon(content), sanitised(content)]) {
        if (!result.ok) continue
        expect(result.svg).not.toMatch(/script|javascript|https:|onload|<a|<use|<style|<image|\\|expression/i)
        expect(sanitised(result.svg)).toEqual(result)
      }
    }),
    { numRuns: 500 },
  )
})
