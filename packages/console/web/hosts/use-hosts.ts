import type { Host } from '@agentproto/contracts/wire'
import { useEffect } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'

/** The hosts, read often as long as the view is shown. */
export function useHosts({ hosts }: Gateway): readonly Host[] {
  useEffect(() => hosts.watch(), [hosts])
  return hosts.all.value
}
