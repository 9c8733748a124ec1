/** Text that an agent, a manifest or a file name brought: shown as text, in its own direction, with nothing hidden in it. */

/** Controls that change the order of text or have no width: they could make one command look like another. */
const HIDDEN =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/gu

/** Each hidden character as its number, such as `⟨U+202E⟩`. */
export const shown = (text: string): string =>
  text.replaceAll(HIDDEN, (found) => `⟨U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`)

export function Outside({ text }: { readonly text: string }) {
  return <bdi dir="auto">{shown(text)}</bdi>
}

/** The same over several lines, in the font of code. */
export function OutsideBlock({ text, label }: { readonly text: string; readonly label?: string }) {
  return (
    <pre
      class="outside"
      dir="auto"
      tabIndex={0}
      {...(label === undefined ? {} : { role: 'region', 'aria-label': label })}
    >
      {shown(text)}
    </pre>
  )
}
