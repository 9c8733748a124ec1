const times = (count: number, chars: string): readonly string[] => Array<string>(count).fill(chars)

/** A token of the gateway, `agp_<kind>_<id>_<secret>`: the characters that are allowed at each position. */
export const TOKEN_SHAPE: readonly string[] = [
  ...'agp_'.split(''),
  'otsc',
  '_',
  ...times(16, '0123456789abcdef'),
  '_',
  ...times(43, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'),
]
