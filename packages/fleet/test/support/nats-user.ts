import { nkeys } from '@nats-io/transport-node'

/** The public key of a new user of NATS, for the configuration, and its seed, for the file of a gateway. */
export function natsUser(): { readonly publicKey: string; readonly seed: string } {
  const user = nkeys.createUser()
  return { publicKey: user.getPublicKey(), seed: new TextDecoder().decode(user.getSeed()) }
}
