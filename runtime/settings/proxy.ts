/** The rows of the table of settings that say how calls leave a network that has a proxy. */

import { parseNoProxy, parseProxyUrl } from '../../domain/outbound/proxy.ts'
import { parseChoice } from './parse.ts'

export const PROXY_SETTINGS = {
  httpsProxy: {
    option: null,
    env: 'HTTPS_PROXY',
    placeholder: 'URL',
    doc: 'The proxy for calls to providers, webhooks, log streams, the identity provider, Stripe and the mail server, as `http://USER:PASSWORD@HOST:PORT`.',
    parse: parseProxyUrl,
    fallback: null,
    fallbackDoc: 'none',
    isSecret: true,
  },
  noProxy: {
    option: null,
    env: 'NO_PROXY',
    placeholder: 'HOSTS',
    doc: 'What is called directly all the same, separated by commas: names with all below them, addresses, networks. This machine always is.',
    parse: (text: string) => ({ ok: true, value: parseNoProxy(text) }) as const,
    fallback: '',
    fallbackDoc: 'none',
  },
  proxyNames: {
    option: '--proxy-names',
    env: 'WHENCE_PROXY_NAMES',
    placeholder: 'WAY',
    doc: 'Who resolves the names in addresses of tenants: Vetted, the service, which asks the proxy for addresses that it found public; or Trusted, the proxy, which then has to refuse what is not public.',
    parse: parseChoice(['Vetted', 'Trusted'] as const),
    fallback: 'Vetted',
  },
} as const
