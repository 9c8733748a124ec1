import { stripVTControlCharacters } from 'node:util'

/**
 * Text of an agent, made safe for a terminal: escape sequences and control characters except the newline are removed,
 * so that an agent cannot move the cursor, set a title or fake a prompt.
 */
export const printable = (text: string): string =>
  stripVTControlCharacters(text)
    .replaceAll('\t', '  ')
    .replace(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g, '')

/** The same on one line, with runs of white space as one space. */
export const oneLine = (text: string): string => printable(text.replace(/\s+/g, ' ')).trim()
