// The format of a home, for commands that read or change its files themselves. This file is the contract of
// `@agentproto/server/home`: every export is named here, and none of them loads a gateway.
export { homeBackups } from './home/home-backups.js'
export type { HomeBackup } from './home/home-backups.js'
export { assertHomeReadable } from './home/home-record.js'
export type { HomeRecord, HomeUpgrade } from './home/home-record.js'
export { HOME_FORMAT } from './home/home-steps.js'
export { lockBriefly, prepareHome } from './home/open-home.js'
export type { PrepareHomeOptions } from './home/open-home.js'
export type { HomeWriter } from './version.js'
