import type { Gateway } from '../gateway/gateway.js'
import { shown } from '../parts/shown-text.js'
import { goTo } from '../router.js'

interface HostFilterProps {
  readonly gateway: Gateway
  /** The one that is chosen, as it is in the address. */
  readonly host: string | undefined
}

/** Chooses the host whose sessions are listed. Nothing without a fleet, unless the address names one. */
export function HostFilter({ gateway, host }: HostFilterProps) {
  if (!gateway.hosts.isFleet.value && host === undefined) return null
  const known = [
    ...gateway.hosts.all.value.map(({ name }) => name),
    // A host that left long ago may still have sessions.
    ...[...gateway.sessions.value.values()].map(({ hostId }) => hostId),
    ...(host === undefined ? [] : [host]),
  ]
  const names = [...new Set(known)].toSorted()
  return (
    <label>
      on{' '}
      <select
        value={host ?? ''}
        onChange={({ currentTarget: { value } }) =>
          goTo({ name: 'sessions', ...(value === '' ? {} : { host: value }) })
        }
      >
        <option value="">all hosts</option>
        {names.map((name) => (
          <option key={name} value={name} selected={name === host}>
            {shown(name)}
          </option>
        ))}
      </select>
    </label>
  )
}
