/** Settings that several commands read together. */

export const ENGINES = ['eventLog', 'hotState', 'facts'] as const
/** How a process reaches the API of its cluster. */
export const KUBE = ['kubeconfig', 'kubeUrl', 'kubeTokenFile', 'kubeCaFile'] as const
export const SECRETS = ['secretFile', 'secret'] as const
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
/** How people sign in to the dashboard, and how mail goes out. */
export const PEOPLE = [
  'signUp',
  'oidcIssuer',
  'oidcClientId',
  'oidcClientSecretFile',
  'oidcTrustDomains',
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
