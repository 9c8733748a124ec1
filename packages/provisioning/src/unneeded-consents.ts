import { endpointPlace, consentedPlace } from '@agentproto/driver-agent-cli/installation'

/**
 * The consents that no endpoint needs once that of an adapter is gone.
 * @param consents `host:port`, in any notation; what is returned is in the same
 * @param others the addresses of the endpoints that stay
 */
export function unneededConsents(
  url: string,
  { consents, others }: { readonly consents: readonly string[]; readonly others: readonly string[] },
): readonly string[] {
  const place = endpointPlace(new URL(url))
  if (others.some((other) => endpointPlace(new URL(other)) === place)) return []
  return consents.filter((consent) => consentedPlace(consent) === place)
}
