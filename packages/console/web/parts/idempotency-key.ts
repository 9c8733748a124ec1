/** Each wish of a person is a call of its own; the client repeats it with the same key when the connection breaks. */
export const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
