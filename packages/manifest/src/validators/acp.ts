import { compileValidator } from './compile-validator.js'
import type { Validator } from './compile-validator.js'

export const validate: Validator = compileValidator('acp')
