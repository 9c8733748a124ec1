import { expect, test } from 'vitest'
import { markdownHtml } from '../web/parts/markdown-html.js'

test.each(['>', '> - ', '1. ', '>- '])('15.R1 thousands of %j in a row are shown as they are', (mark) => {
  const text = mark.repeat(6_000 / mark.length)
  expect(markdownHtml(`${text}<b>`)).toBe(`<pre>${text.replaceAll('>', '&gt;')}&lt;b&gt;</pre>`)
})
