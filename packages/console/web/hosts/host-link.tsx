import { Outside } from '../parts/outside.js'
import { addressOf } from '../place.js'

/** The name of a host, which leads to what is known of it. */
export const HostLink = ({ name }: { readonly name: string }) => (
  <a href={addressOf({ name: 'hosts', host: name })}>
    <Outside text={name} />
  </a>
)
