// AIP-44: the sessions of a gateway, served to an ACP client. This file is the package's contract: every export is named here.
export { createAcpServer } from './create-acp-server.js'
export type {
  AcpConnectionState,
  AcpLogin,
  AcpOpened,
  AcpOpenRequest,
  AcpServer,
  AcpServerOptions,
  AcpSessions,
  AcpWatchOptions,
} from './acp-host.js'
export { onlyInstalled, reportedCapabilities, wantedSession } from './new-session.js'
export type { AdapterNaming, SessionDefaults, WantedSession } from './new-session.js'
export { createAcpEndpoint } from './network/create-acp-endpoint.js'
export type { AcpEndpoint, AcpEndpointDeps, AcpLimits, EndpointSessions } from './network/acp-endpoint.js'
