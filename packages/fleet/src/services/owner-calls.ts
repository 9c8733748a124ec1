import type { Principal } from '@agentproto/contracts'
import { type Reader, whileTokenIsValid } from '@agentproto/contracts/wire'
import {
  type ArgsOf,
  METHODS,
  type OwnerAct,
  ownerAct,
  type OwnerRead,
  ownerRead,
  type OwnerReader,
  readerMethod,
  type ResultOf,
} from '../calls/methods.js'
import type { HostCalls } from '../calls/host-calls.js'
import type { SharedServices } from '../calls/places.js'
import { sessionOf } from '../calls/session-of.js'
import type { FleetServicesOptions } from './fleet-services-options.js'
import type { Owners } from './owners.js'

interface OwnerCallsOptions extends Pick<FleetServicesOptions, 'own' | 'calls' | 'endOf'> {
  readonly owners: Owners
}

/**
 * The methods that the owner of a session answers: by the services of this host, or by a call to the host whose session it is. What
 * names no session, such as the rules of a workspace, is of this host.
 */
export class OwnerCalls {
  readonly #own: SharedServices
  readonly #calls: FleetServicesOptions['calls']
  readonly #owners: Owners
  readonly #endOf: OwnerCallsOptions['endOf']

  constructor({ own, calls, owners, endOf }: OwnerCallsOptions) {
    this.#own = own
    this.#calls = calls
    this.#owners = owners
    this.#endOf = endOf
  }

  /** Calls a method that changes something. */
  async act<K extends OwnerAct>(name: K, args: ArgsOf<K>, by: Principal): Promise<ResultOf<K>> {
    const other = this.#other(args)
    if (other === undefined) return ownerAct(name).run(this.#own, args, { by })
    const signal = this.#endOf?.(by)
    return whileTokenIsValid(signal, () => other.value(name, args, { by, signal }))
  }

  async read<K extends OwnerRead>(name: K, args: ArgsOf<K>, signal?: AbortSignal): Promise<ResultOf<K>> {
    const other = this.#other(args)
    return other === undefined ? ownerRead(name).run(this.#own, args, { signal }) : other.value(name, args, { signal })
  }

  async reader<K extends OwnerReader>(name: K, args: ArgsOf<K>): Promise<Reader<ResultOf<K>>> {
    const other = this.#other(args)
    return other === undefined ? readerMethod(name).run(this.#own, args, {}) : other.reader(name, args)
  }

  /** An export, piece by piece. */
  async texts(args: ArgsOf<'archive.export'>): Promise<AsyncIterable<string>> {
    const other = this.#other(args)
    return other === undefined ? METHODS['archive.export'].run(this.#own, args, {}) : other.texts(args)
  }

  /** A patch, piece by piece. */
  async bytes(args: ArgsOf<'changes.diff'>, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const other = this.#other(args)
    return other === undefined
      ? METHODS['changes.diff'].run(this.#own, args, { signal })
      : other.bytes(args, { signal })
  }

  /** The calls to another host; undefined where this one answers. @throws `host_unreachable` */
  #other([first]: readonly unknown[]): HostCalls | undefined {
    const id = sessionOf(first)
    const host = id === undefined ? undefined : this.#owners.otherOf(id)
    return host === undefined ? undefined : this.#calls.to(host)
  }
}
