const HEX = [...'0123456789'.split(''), 'aA', 'bB', 'cC', 'dD', 'eE', 'fF']
/** Of both alphabets. */
const BASE64 = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'.split(''), '+-', '/_']

/** Hex, and the base64 of a text in which zero, two or one more bytes come before. @param bytes those allowed at each position */
export function encoded(bytes: readonly (readonly number[])[]): readonly (readonly string[])[] {
  return [digits(bytes, HEX, 0), ...[0, 2, 4].map((from) => digits(bytes, BASE64, from))]
}

/** The digits from a bit on that depend on these bytes alone. */
function digits(bytes: readonly (readonly number[])[], alphabet: readonly string[], from: number): readonly string[] {
  const width = Math.log2(alphabet.length)
  const found: string[] = []
  for (let bit = from; bit + width <= bytes.length * 8; bit += width) {
    const [first = [], second = [0]] = bytes.slice(bit >> 3, (bit >> 3) + 2)
    const shift = 16 - (bit & 7) - width
    const inDigit = (byte: number): number => (byte >> shift) & (alphabet.length - 1)
    // The few values of each byte's part, before they are combined: this runs at each start of a gateway.
    const [highs, lows] = [new Set(first.map((byte) => inDigit(byte << 8))), new Set(second.map(inDigit))]
    const values = [...highs].flatMap((high) => [...lows].map((low) => high | low))
    found.push([...new Set(values)].map((value) => alphabet[value]).join(''))
  }
  return found
}
