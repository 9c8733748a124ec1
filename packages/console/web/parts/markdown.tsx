import DOMPurify from 'dompurify'
import { marked } from 'marked'
import { useMemo } from 'preact/hooks'
import { shown } from './shown-text.js'

/** What an agent wrote, as Markdown. Its HTML is text, its images are links, and its links show where they lead. */
export function Markdown({ text }: { readonly text: string }) {
  const html = useMemo(() => rendered(text), [text])
  // The policy of the page forbids scripts in markup, should the cleaning ever miss one.
  return <div class="markdown" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
}

const TAGS =
  'p br hr em strong del code pre blockquote ul ol li a h1 h2 h3 h4 h5 h6 table thead tbody tr th td input span'.split(
    ' ',
  )
const ATTRIBUTES = ['href', 'target', 'rel', 'type', 'checked', 'disabled', 'class', 'start', 'align']

const renderer = new marked.Renderer()
renderer.html = ({ text }) => escaped(text)
renderer.image = ({ href, text }) => linkTo(href, escaped(text || 'image'))
renderer.link = function ({ href, tokens }) {
  return linkTo(href, this.parser.parseInline(tokens))
}

function rendered(text: string): string {
  const html = marked.parse(shown(text), { async: false, gfm: true, renderer })
  return DOMPurify.sanitize(html, { ALLOWED_TAGS: TAGS, ALLOWED_ATTR: ATTRIBUTES, ALLOW_DATA_ATTR: false })
}

/** A link to the web in a new window, with its target in view; any other target is only text. */
function linkTo(href: string, label: string): string {
  const target = escaped(href)
  if (!/^https?:\/\//i.test(href)) return `${label} <span class="target">(${target})</span>`
  const link = `<a href="${target}" target="_blank" rel="noopener noreferrer nofollow">${label}</a>`
  return label === target ? link : `${link} <span class="target">(${target})</span>`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (found) => ENTITIES[found] ?? '')
