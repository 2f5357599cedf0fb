/** The rows of the table of settings that are about people: how they sign in, and how mail goes out. */

import { isPercentCoded } from '../../domain/host.ts'
import { PLANS, type Plan } from '../../domain/model.ts'
import { mailAddress, mailSender } from '../../domain/schema/mail-address.ts'
import { parsePath, type SettingParser } from './parse.ts'

const TEXT_CHARS = 1_024
const DOMAIN = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/

const parseIssuer: SettingParser<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : null
  const isLoopback = url !== null && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)
  const isPlain = url?.username === '' && url.search === '' && url.hash === ''
  return isSafe && isPlain
    ? { ok: true, value: text }
    : { ok: false, why: 'must be the https address of the identity provider, as it calls itself' }
}

const parsePlainText: SettingParser<string> = (text) =>
  text.length <= TEXT_CHARS && /^[\x21-\x7e]+$/.test(text)
    ? { ok: true, value: text }
    : { ok: false, why: `must be at most ${TEXT_CHARS} plain characters without spaces` }

const parseDomains: SettingParser<readonly string[]> = (text) => {
  const domains = text
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== '')
  const wrong = domains.findIndex((domain) => !DOMAIN.test(domain))
  return wrong >= 0
    ? { ok: false, why: `entry ${wrong + 1} is not a domain, as in acme.dev` }
    : { ok: true, value: domains }
}

/** Of RFC 6749: plain characters but quotes and backslashes. Without `openid` there would be no ID token. */
const parseScopes: SettingParser<string> = (text) => {
  const scopes = text.split(' ').filter((scope) => scope !== '')
  const isPlain = text.length <= TEXT_CHARS && scopes.every((scope) => /^[!#-[\]-~]+$/.test(scope))
  return isPlain && scopes.includes('openid')
    ? { ok: true, value: [...new Set(scopes)].join(' ') }
    : { ok: false, why: 'must be names separated by spaces, openid among them, as in openid email profile groups' }
}

const parseSmtpUrl: SettingParser<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : null
  const isSmtp = url !== null && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== ''
  const isPlain = url !== null && ['', '/'].includes(url.pathname) && url.search === '' && url.hash === ''
  if (!isSmtp || !isPlain) {
    return { ok: false, why: 'must be an address such as smtp://USER:PASSWORD@mail.acme.dev:587, or smtps:' }
  }
  return [url.username, url.password].every(isPercentCoded)
    ? { ok: true, value: text }
    : { ok: false, why: 'has a user name or password with a broken percent code; % itself is %25' }
}

const parseMailFrom: SettingParser<string> = (text) =>
  mailSender(text) === null
    ? { ok: false, why: 'must be an address such as whence@acme.dev, or Whence <whence@acme.dev>' }
    : { ok: true, value: text }

const parseSupportMail: SettingParser<string> = (text) => {
  const address = mailAddress(text)
  return address === null
    ? { ok: false, why: 'must be an address such as support@acme.dev' }
    : { ok: true, value: address }
}

const parseSignUp: SettingParser<'Closed' | 'Open'> = (text) =>
  text === 'Closed' || text === 'Open' ? { ok: true, value: text } : { ok: false, why: 'must be Closed or Open' }

const parseDefaultPlan: SettingParser<Plan> = (text) => {
  const plan = PLANS.find((each) => each === text)
  return plan === undefined ? { ok: false, why: `must be one of ${PLANS.join(', ')}` } : { ok: true, value: plan }
}

const NO_OIDC = 'none: no OpenID Connect'
const NO_MAIL = 'none: no mail'

export const PEOPLE_SETTINGS = {
  dashboardFolder: {
    option: '--dashboard-folder',
    env: 'WHENCE_DASHBOARD_FOLDER',
    placeholder: 'FOLDER',
    doc: 'Where the dashboard writes its custom resources; read beside --manifests.',
    parse: parsePath,
    fallback: ({ text }: { readonly text: (name: string) => string }) =>
      `${text('manifests').replace(/\/+$/, '')}/dashboard`,
    fallbackDoc: '`dashboard` in the folder of manifests',
  },
  signUp: {
    option: '--sign-up',
    env: 'WHENCE_SIGN_UP',
    placeholder: 'WHO',
    doc: 'Who may create an organisation: nobody (Closed), or everyone with a verified address (Open).',
    parse: parseSignUp,
    fallback: 'Closed',
    fallbackDoc: '`Closed`',
  },
  defaultPlan: {
    option: '--default-plan',
    env: 'WHENCE_DEFAULT_PLAN',
    placeholder: 'PLAN',
    doc: 'The plan of organisations that people make. It is written once, when one is made.',
    parse: parseDefaultPlan,
    // Strangers get what costs little; whoever runs a service of their own need not be limited by it.
    fallback: ({ text }: { readonly text: (name: string) => string }) =>
      text('signUp') === 'Open' ? 'Free' : 'Enterprise',
    fallbackDoc: '`Enterprise`, or `Free` if `--sign-up` is `Open`',
  },
  oidcIssuer: {
    option: '--oidc-issuer',
    env: 'WHENCE_OIDC_ISSUER',
    placeholder: 'URL',
    doc: 'The identity provider that people sign in with.',
    parse: parseIssuer,
    fallback: null,
    fallbackDoc: NO_OIDC,
  },
  oidcClientId: {
    option: '--oidc-client-id',
    env: 'WHENCE_OIDC_CLIENT_ID',
    placeholder: 'ID',
    doc: 'What the identity provider calls this installation.',
    parse: parsePlainText,
    fallback: null,
    fallbackDoc: NO_OIDC,
  },
  oidcClientSecretFile: {
    option: '--oidc-client-secret-file',
    env: 'WHENCE_OIDC_CLIENT_SECRET_FILE',
    placeholder: 'FILE',
    doc: 'Holds the secret that the identity provider gave.',
    parse: parsePath,
    fallback: null,
    fallbackDoc: NO_OIDC,
  },
  oidcTrustDomains: {
    option: '--oidc-trust-domains',
    env: 'WHENCE_OIDC_TRUST_DOMAINS',
    placeholder: 'DOMAINS',
    doc: 'Domains whose addresses count as verified even if the provider does not say so, separated by commas.',
    parse: parseDomains,
    fallback: '',
    fallbackDoc: 'none',
  },
  oidcScopes: {
    option: '--oidc-scopes',
    env: 'WHENCE_OIDC_SCOPES',
    placeholder: 'NAMES',
    doc: 'What is asked for at a sign-in, separated by spaces; some providers name groups, or give refresh tokens, only for a scope of their own.',
    parse: parseScopes,
    fallback: 'openid email profile',
  },
  oidcGroupsClaim: {
    option: '--oidc-groups-claim',
    env: 'WHENCE_OIDC_GROUPS_CLAIM',
    placeholder: 'NAME',
    doc: "The claim that lists a person's groups.",
    parse: parsePlainText,
    fallback: null,
    fallbackDoc: 'none: groups are not read',
  },
  smtpUrl: {
    option: '--smtp-url',
    env: 'WHENCE_SMTP_URL',
    placeholder: 'URL',
    doc: 'The mail server: smtp://USER:PASSWORD@HOST:587, which goes over to TLS if it can, or smtps:.',
    parse: parseSmtpUrl,
    fallback: null,
    fallbackDoc: NO_MAIL,
    isSecret: true,
  },
  mailFrom: {
    option: '--mail-from',
    env: 'WHENCE_MAIL_FROM',
    placeholder: 'ADDRESS',
    doc: 'The sender of mails.',
    parse: parseMailFrom,
    fallback: null,
    fallbackDoc: NO_MAIL,
  },
  supportMail: {
    option: '--support-mail',
    env: 'WHENCE_SUPPORT_MAIL',
    placeholder: 'ADDRESS',
    doc: "Where support requests of the dashboard's people go.",
    parse: parseSupportMail,
    fallback: null,
    fallbackDoc: 'none: no support requests',
  },
} as const
