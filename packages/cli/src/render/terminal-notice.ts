import { exactLine } from './exact.js'

const BELL = '\u0007'
const OSC = '\u001B]'
const ST = '\u001B\\'
const TEXT_CHARS = 160

/**
 * Rings the terminal, and asks it for a notification: OSC 9 (iTerm2, Windows Terminal, kitty) and OSC 777 (urxvt, foot, VTE).
 * A terminal ignores what it does not know.
 * @param text Is made safe: it may quote a label
 */
export function terminalNotice(text: string): string {
  // A semicolon ends a part of OSC 777, and OSC 9 with a number before one is another command.
  const line = `agentproto: ${exactLine(text).replaceAll(';', ',')}`.slice(0, TEXT_CHARS)
  return `${BELL}${OSC}9;${line}${ST}${OSC}777;notify;agentproto;${line}${ST}`
}
