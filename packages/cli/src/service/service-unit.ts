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
    // The gateway ends its agents itself; systemd kills only what is left.
    'KillMode=mixed',
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
  const strings = (values: readonly string[]): string =>
    values.map((value) => `    <string>${xml(value)}</string>`).join('\n')
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${xml(label)}</string>
  <key>ProgramArguments</key>
  <array>
${strings([facts.node, facts.script, 'serve'])}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>AGENTPROTO_HOME</key>
    <string>${xml(facts.home)}</string>
    <key>PATH</key>
    <string>${xml(facts.path)}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>90</integer>
  <key>StandardOutPath</key>
  <string>${xml(facts.log)}</string>
  <key>StandardErrorPath</key>
  <string>${xml(facts.log)}</string>
</dict>
</plist>
`
  return { path, text, start: [['launchctl', 'load', '-w', path]], stop: [['launchctl', 'unload', '-w', path]] }
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
