import DOMPurify from 'dompurify'
import { useMemo } from 'preact/hooks'
import { markdownHtml } from './markdown-html.js'

/** What an agent wrote, as Markdown. Its HTML is text, its images are links, and its links show where they lead. */
export function Markdown({ text }: { readonly text: string }) {
  const html = useMemo(() => cleaned(markdownHtml(text)), [text])
  // The policy of the page forbids scripts in markup, should the cleaning ever miss one.
  return <div class="markdown" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
}

const TAGS =
  'p br hr em strong del code pre blockquote ul ol li a h1 h2 h3 h4 h5 h6 table thead tbody tr th td input span'.split(
    ' ',
  )
const ATTRIBUTES = ['href', 'target', 'rel', 'type', 'checked', 'disabled', 'class', 'start', 'align']

const cleaned = (html: string): string =>
  DOMPurify.sanitize(html, { ALLOWED_TAGS: TAGS, ALLOWED_ATTR: ATTRIBUTES, ALLOW_DATA_ATTR: false })
