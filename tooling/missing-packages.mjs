// Prints the Debian packages that bring the programs which tests need and this machine lacks, one per line:
// node tooling/missing-packages.mjs [--optional]
import { missingPackages } from './programs.mjs'

const packages = missingPackages({ optional: process.argv.includes('--optional') })
process.stdout.write(packages.map((name) => `${name}\n`).join(''))
