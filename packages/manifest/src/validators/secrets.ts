import { compileValidator, type Validator } from './compile-validator.js'

export const validate: Validator = compileValidator('secrets')
