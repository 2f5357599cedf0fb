/** Settings that several commands read together. */

import { recordOf } from '../../domain/typed-keys.ts'
import { PROVIDER_IDS, type ProviderId } from '../../domain/providers/index.ts'
import type { DELIVERY_ROLES } from './table.ts'

export const ENGINES = ['eventLog', 'hotState', 'facts'] as const

/** The engines that each role of the delivery side connects to; it is given the address of no other. */
export const ROLE_ENGINES = {
  'facts-writer': ['eventLog', 'facts'],
  state: ['eventLog', 'hotState', 'facts'],
  dispatch: ['eventLog', 'hotState', 'facts'],
  rollup: ['eventLog', 'facts'],
  streams: ['eventLog', 'hotState', 'facts'],
  webhooks: ['eventLog', 'hotState', 'facts'],
  ...everyProvider(['eventLog', 'hotState']),
} as const satisfies Readonly<Record<(typeof DELIVERY_ROLES)[number], readonly (typeof ENGINES)[number][]>>

function everyProvider<const E>(engines: E): Readonly<Record<ProviderId, E>> {
  return recordOf(PROVIDER_IDS, () => engines)
}

/** How a process reaches the API of its cluster. */
export const KUBE = ['kubeconfig', 'kubeUrl', 'kubeTokenFile', 'kubeCaFile'] as const
/** Where the master secrets are. */
export const MASTER_SECRET = ['secretFile', 'secret'] as const
export const SERVING = [
  'listen',
  'metricsListen',
  'baseUrl',
  'trustProxy',
  'connectionsPerAddress',
  'brand',
  'prices',
  'logLevel',
  'logFormat',
] as const
/** How calls leave the network. */
export const PROXY = ['httpsProxy', 'noProxy', 'proxyNames'] as const
/** Of each group all settings are given, or none: the first one that is given makes the others necessary. */
export const TOGETHER = {
  signIn: ['oidcIssuer', 'oidcClientId', 'oidcClientSecretFile'],
  mail: ['smtpUrl', 'mailFrom'],
  billing: ['stripeSecretFile', 'stripeWebhookSecretFile', 'stripePrices'],
} as const
/** How people sign in to the dashboard, and how mail goes out. */
export const PEOPLE = [
  'signUp',
  'defaultPlan',
  'oidcIssuer',
  'oidcClientId',
  'oidcClientSecretFile',
  'oidcTrustDomains',
  'oidcScopes',
  'oidcGroupsClaim',
  'smtpUrl',
  'mailFrom',
  'supportMail',
  'stripeSecretFile',
  'stripeWebhookSecretFile',
  'stripePrices',
  'stripeUrl',
] as const
/** Tools talk to a running process through its data folder; only if none runs do they open these. */
export const TOOL = ['data', 'eventLog', 'facts'] as const
