/** Pieces that fit into one message. A character that JavaScript has as two is not cut. */
export async function* cutTexts(texts: AsyncIterable<string>, partBytes: number): AsyncGenerator<string> {
  // A UTF-16 unit has at most 3 bytes in UTF-8.
  const most = Math.floor(partBytes / 3)
  for await (const text of texts) {
    for (let from = 0; from < text.length;) {
      const end = from + most
      const isCut = end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))
      const to = isCut ? end - 1 : end
      yield text.slice(from, to)
      from = to
    }
  }
}
