import { readdirSync, readFileSync } from 'node:fs'

/**
 * Command lines of the living processes whose environment holds the marker; nothing where there is no `/proc`. Written
 * apart from the product's own search, so that the one tests the other.
 */
export function leftovers(marker: string): readonly string[] {
  const entry = `AGENTPROTO_SESSION_ID=${marker}`
  return pids()
    .filter((pid) => pid !== String(process.pid) && read(pid, 'environ').split('\0').includes(entry))
    .map((pid) => `${pid} ${read(pid, 'cmdline').replaceAll('\0', ' ')}`)
}

function pids(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/** What has ended, reaped or not, has nothing to read. */
function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
