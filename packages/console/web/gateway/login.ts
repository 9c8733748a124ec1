/** How a browser gets in: a one-time code from `agentproto open`, which the gateway exchanges for a cookie. */

/** The code in the address, which is taken out of it at once: the address may be copied or bookmarked. */
export function takeCode(): string | undefined {
  const [, code, place = '/'] = /^#code=([\w-]+)(\/.*)?$/.exec(location.hash) ?? []
  if (code !== undefined) location.replace(`#${place}`)
  return code
}

/** @returns whether the gateway took the code; each works once, for a short time */
export async function exchangeCode(api: string, code: string): Promise<boolean> {
  const answer = await fetch(`${api}/auth/exchange?code=${encodeURIComponent(code)}`)
  return answer.ok
}
