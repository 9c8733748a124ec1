import { errors } from '@nats-io/transport-node'

/** Whether this gateway lacks a right: only a change of the servers' configuration helps. */
export const isDenied = (error: unknown): boolean =>
  [error, error instanceof Error ? error.cause : undefined].some(
    (each) => each instanceof errors.PermissionViolationError,
  )
