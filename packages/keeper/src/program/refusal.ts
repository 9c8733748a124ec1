/** Why a request is refused. */
export const REFUSALS = [
  'bad_frame',
  'frame_too_large',
  'wire_unsupported',
  'unauthorized',
  'not_controller',
  'unknown_operation',
  'invalid_request',
  'unknown_agent',
  'agent_limit',
  'guard_expired',
  'cwd_invalid',
  'spawn_failed',
  'offset_invalid',
  'input_full',
  'input_closed',
  'agent_running',
  'agents_held',
  'internal',
] as const
export type RefusalCode = (typeof REFUSALS)[number]

export class Refusal extends Error {
  readonly code: RefusalCode
  /** Further members of the answer; never content and never a part of an environment. */
  readonly data: Readonly<Record<string, unknown>>

  constructor(code: RefusalCode, data: Readonly<Record<string, unknown>> = {}) {
    super(code)
    this.code = code
    this.data = data
  }
}

/** The parameters of one request, parsed as they are read. */
export class Parameters {
  readonly #values: Readonly<Record<string, unknown>>

  constructor(header: unknown) {
    if (!isObject(header)) throw new Refusal('bad_frame')
    this.#values = header
  }

  /** At most `max` characters; no NUL. */
  text(name: string, max = 4096): string {
    return this.#checked(name, (value): value is string => isText(value) && value.length <= max)
  }

  texts(name: string): readonly string[] {
    return this.#checked(name, areTexts)
  }

  environment(name: string): Readonly<Record<string, string>> {
    return this.#checked(name, isEnvironment)
  }

  /** A whole number from 0 on. @param absent its value where it is not given; without one, it must be given */
  count(name: string, absent?: number): number {
    if (absent !== undefined && this.#values[name] === undefined) return absent
    return this.#checked(name, isCount)
  }

  counts(name: string): readonly number[] {
    return this.#checked(name, (value): value is number[] => Array.isArray(value) && value.every(isCount))
  }

  flag(name: string): boolean {
    return this.#checked(name, (value) => typeof value === 'boolean')
  }

  #checked<T>(name: string, isValid: (value: unknown) => value is T): T {
    const value = this.#values[name]
    if (!isValid(value)) throw new Refusal('invalid_request', { name })
    return value
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0')
const areTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText)
const isEnvironment = (value: unknown): value is Record<string, string> =>
  isObject(value) && areTexts(Object.entries(value).flat())
