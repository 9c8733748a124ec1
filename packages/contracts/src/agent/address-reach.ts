/**
 * From where a server with an address is reached. `private`: on this machine, or in a network that others do not reach. `credentials`:
 * where a cloud serves credentials to this machine. `none`: no address of a server.
 */
export type AddressReach = 'public' | 'private' | 'credentials' | 'none'
