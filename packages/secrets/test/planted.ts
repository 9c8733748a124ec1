/** Secrets of every kind that people have, none of them real: made here, so that no scanner takes them for ones. */
export interface PlantedSecret {
  readonly kind: string
  readonly value: string
  /** How programs print it, where only the text around the value shows that it is one. Default: the value. */
  readonly said: string
  /** Text of it that must be found nowhere. */
  readonly core: string
}

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789'
let seed = 4711

/** So many letters and digits, different each time and the same in each run. */
function letters(count: number): string {
  return Array.from({ length: count }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return LETTERS[seed % LETTERS.length]
  }).join('')
}

const hex = (count: number): string => Buffer.from(letters(count)).toString('hex').slice(0, count)

interface Shape {
  readonly value: string
  readonly said?: (value: string) => string
  readonly core?: string
}

const plain = (prefix: string, count: number, rest = ''): Shape => ({ value: `${prefix}${letters(count)}${rest}` })
const within = (value: string, said: (value: string) => string): Shape => ({ value, said })

function pem(label: string): Shape {
  const lines = [letters(64), letters(64), letters(40)]
  const value = [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`].join('\n')
  return { value, core: lines[1] ?? '' }
}

const SHAPES: Readonly<Record<string, Shape>> = {
  'OpenAI project key': plain('sk-proj-', 48),
  'Anthropic key': plain('sk-ant-api03-', 48),
  'OpenRouter key': plain('sk-or-v1-', 48),
  'Groq key': plain('gsk_', 40),
  'xAI key': plain('xai-', 40),
  'Hugging Face token': plain('hf_', 34),
  'Google API key': plain('AIza', 35),
  'Google OAuth access token': plain('ya29.', 60),
  'GitHub personal token': plain('ghp_', 36),
  'GitHub user token': plain('ghu_', 36),
  'GitHub refresh token': plain('ghr_', 36),
  'GitHub fine-grained token': plain('github_pat_', 60),
  'GitLab token': plain('glpat-', 20),
  'npm token': plain('npm_', 36),
  'PyPI token': plain('pypi-', 60),
  'Slack bot token': plain('xoxb-', 40),
  'Slack app token': plain('xapp-1-', 40),
  'Stripe key': plain('sk_live_', 24),
  'SendGrid key': plain('SG.', 22, `.${letters(43)}`),
  'AWS access key id': { value: `AKIA${letters(16).toUpperCase()}` },
  'AWS temporary key id': { value: `ASIA${letters(16).toUpperCase()}` },
  'AWS secret key': within(letters(40), (value) => `aws_secret_access_key = ${value}`),
  'Azure storage key': within(`${letters(60)}==`, (value) => `DefaultEndpointsProtocol=https;AccountKey=${value};`),
  'DigitalOcean token': plain('dop_v1_', 64),
  'Vault token': plain('hvs.', 40),
  'Telegram bot token': { value: `7123456789:AA${letters(33)}` },
  'JSON web token': { value: `eyJ${letters(20)}.eyJ${letters(30)}.${letters(43)}` },
  'RSA private key': pem('RSA PRIVATE KEY'),
  'OpenSSH private key': pem('OPENSSH PRIVATE KEY'),
  'PGP private key': pem('PGP PRIVATE KEY BLOCK'),
  'age key': { value: `AGE-SECRET-KEY-1${letters(58).toUpperCase()}` },
  'bearer header': within(hex(40), (value) => `authorization: Bearer ${value}`),
  'basic header': within(
    Buffer.from(`me:${letters(12)}`).toString('base64'),
    (value) => `Authorization: Basic ${value}`,
  ),
  'API key header': within(hex(32), (value) => `x-api-key: ${value}`),
  cookie: within(letters(32), (value) => `cookie: theme=dark; session=${value}; lang=en`),
  'password in an address': within(letters(14), (value) => `postgres://app:${value}@db.example.org:5432/app`),
  'password in JSON': within(letters(14), (value) => JSON.stringify({ user: 'me', password: value })),
  'password in the environment': within(letters(14), (value) => `PGPASSWORD=${value}`),
  passphrase: within(letters(16), (value) => `passphrase: "${value}"`),
  'client secret': within(letters(32), (value) => `client_secret=${value}&grant_type=refresh_token`),
  'Docker registry login': within(Buffer.from(`me:${letters(15)}`).toString('base64'), (value) =>
    JSON.stringify({ auths: { 'registry.example.org': { auth: value } } }),
  ),
  netrc: within(letters(18), (value) => `machine example.org login me password ${value}`),
  'token of a gateway': { value: `agp_t_${hex(16)}_${letters(43)}` },
}

export const PLANTED: readonly PlantedSecret[] = Object.entries(SHAPES).map(
  ([kind, { value, said, core = value }]) => ({
    kind,
    value,
    said: said?.(value) ?? value,
    core,
  }),
)
