import type { ChangesQuery, PatchQuery, ReviewedRequest, RewindFilesRequest } from '@agentproto/contracts/wire'
import { callOf } from './operation-call.js'
import type { Transport } from './transport.js'

/**
 * What sessions changed in their folders. Every call can throw `session_not_found`, `not_supported` where nothing is recorded,
 * `checkpoint_not_found` and `checkpoint_failed`.
 */
export function changesClient(transport: Transport) {
  const { call } = transport
  return {
    /** The files that differ between two states: from the session's start to now, where the query says nothing. */
    list: (id: string, query: ChangesQuery = {}, { signal }: { readonly signal?: AbortSignal } = {}) =>
      call('GET /sessions/:id/changes', { params: { id }, query, signal }),
    /** Their differences as a unified patch, in pieces as they come. @throws `path_invalid` */
    diff: (
      id: string,
      query: PatchQuery = {},
      { signal }: { readonly signal?: AbortSignal } = {},
    ): AsyncIterable<Uint8Array> =>
      transport.bytes(callOf('GET /sessions/:id/changes/diff', { params: { id }, query, signal })),
    /** Remembers that the files of a turn, or of now, were reviewed. */
    markReviewed: (id: string, body: ReviewedRequest = {}) =>
      call('POST /sessions/:id/changes/reviewed', { params: { id }, body }),
    /** Sets files back, after a checkpoint of now. @throws `turn_in_progress`, `folder_in_use`, `path_invalid` */
    rewind: (id: string, body: RewindFilesRequest) => call('POST /sessions/:id/rewind', { params: { id }, body }),
  }
}
