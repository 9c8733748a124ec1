import { marked } from 'marked'
import { shown } from './shown-text.js'

const renderer = new marked.Renderer()
renderer.html = ({ text }) => escaped(text)
renderer.image = ({ href, text }) => linkTo(href, escaped(text || 'image'))
renderer.link = function ({ href, tokens }) {
  return linkTo(href, this.parser.parseInline(tokens))
}

/**
 * What an agent wrote as Markdown, as HTML that is still to be cleaned. Its own HTML is text, its images are links, and its links
 * show where they lead. What cannot be read as Markdown is shown as it is.
 */
export function markdownHtml(text: string): string {
  const safe = shown(text)
  try {
    return marked.parse(safe, { async: false, gfm: true, renderer })
  } catch {
    // The parser calls itself for each level: some thousand ">" in a row are too many.
    return `<pre>${escaped(safe)}</pre>`
  }
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
