import { createHash } from 'node:crypto'

/** A unit of a service manager, and the commands that start and stop it. */
export interface Service {
  readonly path: string
  readonly text: string
  readonly start: readonly (readonly string[])[]
  readonly stop: readonly (readonly string[])[]
}

export interface ServiceFacts {
  /** Absolute path of Node. */
  readonly node: string
  /** Absolute path of the command line. */
  readonly script: string
  readonly home: string
  readonly isDefaultHome: boolean
  /** PATH of the gateway and its agents. */
  readonly path: string
  readonly userHome: string
  readonly configHome: string
  readonly log: string
}

/** A systemd user unit: started at login, and again when it fails. */
export function systemdService(facts: ServiceFacts): Service {
  const name = `${nameOf(facts)}.service`
  const lines = [
    '[Unit]',
    'Description=agentproto, the control plane for coding-agent CLIs',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${[facts.node, facts.script, 'serve'].map(word).join(' ')}`,
    `Environment=${quoted(`AGENTPROTO_HOME=${facts.home}`)}`,
    `Environment=${quoted(`PATH=${facts.path}`)}`,
    `StandardOutput=append:${unspecified(facts.log)}`,
    `StandardError=append:${unspecified(facts.log)}`,
    'Restart=on-failure',
    'RestartSec=2',
    // `systemctl --user reload`: the agents go on.
    `ExecReload=${[facts.node, facts.script, 'restart'].map(word).join(' ')}`,
    // A gateway that stops ends its agents itself. One that crashed leaves them to the next: systemd must not kill them.
    'KillMode=process',
    'TimeoutStopSec=90',
    '',
    '[Install]',
    'WantedBy=default.target',
  ]
  const systemctl = (...words: string[]): string[] => ['systemctl', '--user', ...words]
  return {
    path: `${facts.configHome}/systemd/user/${name}`,
    text: `${lines.join('\n')}\n`,
    start: [systemctl('daemon-reload'), systemctl('enable', '--now', name)],
    stop: [systemctl('disable', '--now', name)],
  }
}

/** A launchd agent. */
export function launchdService(facts: ServiceFacts): Service {
  const label = `dev.${nameOf(facts)}`
  const path = `${facts.userHome}/Library/LaunchAgents/${label}.plist`
  const agent = {
    Label: label,
    ProgramArguments: [facts.node, facts.script, 'serve'],
    EnvironmentVariables: { AGENTPROTO_HOME: facts.home, PATH: facts.path },
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    ExitTimeOut: 90,
    StandardOutPath: facts.log,
    StandardErrorPath: facts.log,
  }
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
${element(agent, '')}
</plist>
`
  return { path, text, start: [['launchctl', 'load', '-w', path]], stop: [['launchctl', 'unload', '-w', path]] }
}

type PlistValue = string | number | boolean | readonly PlistValue[] | { readonly [key: string]: PlistValue }

/** A value as an element of a property list. */
function element(value: PlistValue, indent: string): string {
  if (typeof value === 'string') return `${indent}<string>${xml(value)}</string>`
  if (typeof value === 'number') return `${indent}<integer>${value}</integer>`
  if (typeof value === 'boolean') return `${indent}<${value}/>`
  const members = Object.entries(value).map(([key, member]) => {
    const name = Array.isArray(value) ? '' : `${indent}  <key>${key}</key>\n`
    return name + element(member, `${indent}  `)
  })
  const tag = Array.isArray(value) ? 'array' : 'dict'
  return [`${indent}<${tag}>`, ...members, `${indent}</${tag}>`].join('\n')
}

/** Every home has its own unit. */
function nameOf({ home, isDefaultHome }: ServiceFacts): string {
  return isDefaultHome ? 'agentproto' : `agentproto-${createHash('sha256').update(home).digest('hex').slice(0, 8)}`
}

/** `%` begins a systemd specifier anywhere in a unit. */
const unspecified = (text: string): string => text.replaceAll('%', '%%')

const quoted = (text: string): string => `"${unspecified(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`

/** A command line also expands variables. */
const word = (text: string): string => quoted(text).replaceAll('$', '$$$$')

const xml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
