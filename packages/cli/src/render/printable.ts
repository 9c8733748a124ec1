/** Colours and moves of the cursor: they contain nothing to read. */
const STYLES = /(?:\u001B\[|\u009B)[\d;]*[A-HJKfm]/g
/** Other control characters but tab and newline, and those that reorder the text around them or end its line. */
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029\p{Bidi_Control}]/gu
/** The colours of `paint`, which stay, and the rest. */
const BUT_PAINT = new RegExp(String.raw`\u001B\[(?:[12]|22|3[1-6]|39)m|${CONTROLS.source}`, 'gu')

const escape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * Text of an agent, made safe for a terminal, so that an agent cannot move the cursor, set a title or fake a prompt.
 * Control characters are shown and not removed, because a title may contain a command that somebody is asked to allow.
 */
export const printable = (text: string): string =>
  text.replace(STYLES, '').replaceAll('\r', '').replaceAll('\t', '  ').replace(CONTROLS, escape)

/** Text of ours, in which colours stay. Escapes are those of JSON, so that JSON stays JSON. */
export const visible = (text: string): string =>
  text.replace(BUT_PAINT, (found) => (found.length === 1 ? escape(found) : found))

/** {@link printable} on one line, with runs of white space as one space. */
export const oneLine = (text: string): string => printable(text.replace(/\s+/g, ' ')).trim()
