/** The text, cut to so many UTF-16 units with an ellipsis as the last one. */
export const cutText = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`
