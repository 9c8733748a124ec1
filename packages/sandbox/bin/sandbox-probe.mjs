// sandbox-probe JSON: runs in a sandbox before its agent does, and prints a list of what the agent could do there and must
// not. It only looks. The JSON has the host's namespaces, the hidden paths, and the mount points, which may be below them.
import { accessSync, constants, readdirSync, readFileSync, readlinkSync } from 'node:fs'

const { namespaces, hidden, mounted } = JSON.parse(process.argv[2])
const kernel =
  / - (?:binfmt_misc|bpf|cgroup2?|configfs|debugfs|efivarfs|proc|pstore|securityfs|selinuxfs|sysfs|tracefs) /
const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
const settings = mounts.filter((line) => kernel.test(line)).map((line) => line.split(' ')[4])
const status = readFileSync('/proc/self/status', 'utf8')

const attempt = (look) => {
  try {
    return look() ?? true
  } catch {
    return false
  }
}
const childrenOf = (path) => attempt(() => readdirSync(path).map((name) => `${path}/${name}`))
const contentOf = (path) => childrenOf(path) || (attempt(() => readFileSync(path)) ? [path] : [])
const isMounted = (path) => mounted.some((point) => `${point}/`.startsWith(`${path}/`))
const isWritable = (path) => attempt(() => accessSync(path, constants.W_OK))

const shared = namespaces.filter((link) => readlinkSync(`/proc/self/ns/${link.split(':')[0]}`) === link)
const visible = hidden.filter((path) => !contentOf(path).every(isMounted))
const writable = ['/proc/sys/kernel', ...settings].filter((path) =>
  [path, ...(childrenOf(path) || [])].some(isWritable),
)
const isCapable = /^Cap(?:Inh|Prm|Eff|Amb):\s*0*[1-9a-f]|^NoNewPrivs:\s*0/m.test(status)
const found = [
  ...shared.map((link) => `${link} is the host's`),
  ...visible.map((path) => `${path} is not hidden`),
  ...writable.map((path) => `${path} is writable`),
  ...(isCapable ? ['it has capabilities, or can get them'] : []),
]
process.stdout.write(JSON.stringify(found.slice(0, 5)))
