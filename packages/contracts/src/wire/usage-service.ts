import type { SessionBounds } from './session-bounds.js'
import type { UsageQuery, UsageReport } from './usage.js'

/** What sessions used, also those that were deleted. */
export interface UsageService {
  /**
   * @param within The sessions that the caller may use; absent for all
   * @throws `invalid_request` for more days than are kept, `storage_failed`
   */
  report(query?: UsageQuery, within?: SessionBounds): Promise<UsageReport>
}
