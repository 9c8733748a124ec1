/** The text, cut to so many UTF-16 units with an ellipsis as the last one. */
export function cutText(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`
}
