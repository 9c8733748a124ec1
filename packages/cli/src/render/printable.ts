import { stripVTControlCharacters } from 'node:util'

/**
 * Text of an agent, made safe for a terminal: no escape sequence and no control character but the newline
 * gets through, so that nothing an agent prints can move the cursor, set a title or fake a prompt.
 */
export const printable = (text: string): string =>
  stripVTControlCharacters(text)
    .replaceAll('\t', '  ')
    .replace(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g, '')

/** The same on one line, its runs of white space made one blank. */
export const oneLine = (text: string): string => printable(text.replace(/\s+/g, ' ')).trim()
