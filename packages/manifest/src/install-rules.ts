import { asList, asRecord, asString } from '@agentproto/contracts'
import type { InstallMethod } from './agent-cli-manifest.js'
import type { RuleContext } from './rule-context.js'

type Os = 'darwin' | 'linux' | 'windows'
type MethodName = Exclude<InstallMethod['method'], 'unknown'>

const EVERYWHERE: readonly Os[] = ['darwin', 'linux', 'windows']

/** Where each method can work at all. */
const SYSTEMS: Readonly<Record<MethodName, readonly Os[]>> = {
  npm: EVERYWHERE,
  pip: EVERYWHERE,
  uv: EVERYWHERE,
  cargo: EVERYWHERE,
  go: EVERYWHERE,
  download: EVERYWHERE,
  vendored: EVERYWHERE,
  brew: ['darwin', 'linux'],
  curl: ['darwin', 'linux'],
  apt: ['linux'],
  dnf: ['linux'],
  pacman: ['linux'],
  choco: ['windows'],
  scoop: ['windows'],
}

/** A system that the manifest lists needs a method that can install there. */
export function installRules({ document, problems, at }: RuleContext): void {
  const { install, requires } = asRecord(document)
  const methods = asList(install).map((entry) => asString(asRecord(entry)['method']) ?? '')
  // What this version does not know may work anywhere.
  if (methods.length === 0 || !methods.every(isKnown)) return
  const served = new Set(methods.flatMap((method) => SYSTEMS[method]))
  asList(asRecord(requires)['os']).forEach((os, index) => {
    if (!isOs(os) || served.has(os)) return
    problems.warn('install_missing', at('requires', 'os', index), {
      message: `\`requires.os\` lists ${os}, but no install method works there.`,
      expected: `a method for ${os}, or only systems that ${methods.join(', ')} can install on`,
      given: os,
    })
  })
}

const isKnown = (method: string): method is MethodName => Object.hasOwn(SYSTEMS, method)
const isOs = (os: unknown): os is Os => EVERYWHERE.some((known) => known === os)
