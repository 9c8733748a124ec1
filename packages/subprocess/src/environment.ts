/** Which of the host's variables an agent gets. */
export type EnvironmentPolicy = 'filtered' | 'isolated'

export interface EnvironmentParts {
  readonly policy: EnvironmentPolicy
  /** The host's own environment. */
  readonly parent: Readonly<Record<string, string | undefined>>
  /** Names that the manifest says the agent reads; they pass whatever the policy. */
  readonly passthrough?: readonly string[]
  /** Values that the manifest sets, by its modes, options and sandbox. */
  readonly declared?: Readonly<Record<string, string>>
  /** Values that the host sets for this session; they win. */
  readonly injected?: Readonly<Record<string, string>>
}

/** Names that look like a credential, by their underscore-separated words. */
const SECRET_WORD =
  /(?:^|_)(?:[a-z]*tokens?|secrets?|pass|passwd|passwords?|passphrases?|pwd|credentials?|creds?|auth|authorization|jwt|cookies?|api_?keys?|access_?keys?|private_?keys?|secret_?keys?|signing_?keys?|encryption_?keys?|pat|dsn)(?:_|$)/i
const SECRET_ENDING = /(?:apikey|accesskey|privatekey|secretkey|password|passwd|secret|token|_key)$/i

/** Names that contain such a word but are sockets or folders, or that agents need. */
const HARMLESS = /^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|XAUTHORITY|PWD|OLDPWD|XDG_.*|DBUS_.*|GPG_AGENT_INFO|COLORTERM)$/

/** What `isolated` passes. */
const OPERATIONAL =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLORTERM|NO_COLOR|TMPDIR|TMP|TEMP|SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA)$/i

/** Variables of the host or of another session. A manifest may name one of its own. */
const OWN = /^AGENTPROTO_/

/** The channel between this Node process and its own parent: a process that inherits it breaks it. */
const NODE_CHANNEL = /^(?:NODE_CHANNEL_FD|NODE_CHANNEL_SERIALIZATION_MODE|NODE_UNIQUE_ID)$/

/**
 * What would give an agent access to the gateway or to another session, and the trace in which the gateway was started.
 * No manifest can pass them.
 */
const NEVER = /^(?:AGENTPROTO_(?:TOKEN|URL|HOME|SESSION_ID)|TRACE(?:PARENT|STATE))$/

/** The environment of an agent (docs/environment.md). Pure. */
export function buildEnvironment(parts: EnvironmentParts): Record<string, string> {
  const { policy, parent, passthrough = [], declared = {}, injected = {} } = parts
  const passes =
    policy === 'filtered' ? (name: string) => !isSecretName(name) : (name: string) => OPERATIONAL.test(name)
  const named = new Set(passthrough)
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined || NODE_CHANNEL.test(name) || NEVER.test(name)) continue
    if (named.has(name) || (!OWN.test(name) && passes(name))) env[name] = value
  }
  return { ...env, ...declared, ...injected }
}

/** Whether a variable has the name of a credential. */
export function isSecretName(name: string): boolean {
  if (HARMLESS.test(name)) return false
  return SECRET_WORD.test(name) || SECRET_ENDING.test(name)
}
