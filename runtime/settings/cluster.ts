/** The rows of the table of settings for a cluster: the address of its API, and the place of the catalog in it. */

import type { CatalogPlace } from '../../domain/published/place.ts'
import { parseCount, parseOriginUrl, parsePath, type SettingParser } from './parse.ts'

const DNS_LABEL = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?'
const PLACE = new RegExp(`^kubernetes:(${DNS_LABEL})/(${DNS_LABEL})$`)
const LABEL = new RegExp(`^${DNS_LABEL}$`)
const OBJECT_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/
const MAX_NAME_CHARS = 40
const MOST_SLOTS = 64
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

const parsePlace: SettingParser<CatalogPlace> = (text) => {
  const match = PLACE.exec(text)
  const namespace = match?.[1] ?? ''
  const name = match?.[3] ?? ''
  if (match === null || name.length > MAX_NAME_CHARS) {
    return { ok: false, why: `must be kubernetes:NAMESPACE/NAME, the name of at most ${MAX_NAME_CHARS} characters` }
  }
  return { ok: true, value: { namespace, name } }
}

const parseNamespaces: SettingParser<readonly string[]> = (text) => {
  const names = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  const wrong = names.findIndex((name) => !LABEL.test(name))
  if (wrong >= 0) return { ok: false, why: `entry ${wrong + 1} is not a namespace` }
  return { ok: true, value: [...new Set(names)].sort() }
}

const parseSecretNames: SettingParser<readonly string[]> = (text) => {
  const names = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  const wrong = names.findIndex((name) => !OBJECT_NAME.test(name))
  if (wrong >= 0) return { ok: false, why: `entry ${wrong + 1} is not the name of a Secret` }
  return { ok: true, value: [...new Set(names)].sort() }
}

const parseInstallation: SettingParser<string> = (text) =>
  LABEL.test(text) ? { ok: true, value: text } : { ok: false, why: 'must be lower-case letters, digits and hyphens' }

const parseIdentity: SettingParser<string> = (text) =>
  /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,251}[A-Za-z0-9])?$/.test(text)
    ? { ok: true, value: text }
    : { ok: false, why: 'must be a name, such as that of the pod' }

export const CLUSTER_SETTINGS = {
  catalog: {
    option: '--catalog',
    env: 'WHENCE_CATALOG',
    placeholder: 'PLACE',
    doc: 'The place of the compiled catalog in a cluster, as in kubernetes:whence/whence: the namespace, and the prefix of the names of its objects. The operator writes it; api and delivery read it instead of a folder, and the dashboard asks for its index.',
    parse: parsePlace,
    fallback: null,
    fallbackDoc: 'none: the folder of manifests',
  },
  watchNamespaces: {
    option: '--watch-namespaces',
    env: 'WHENCE_WATCH_NAMESPACES',
    placeholder: 'NAMES',
    doc: 'Namespaces whose custom resources and Secrets the operator reads, separated by commas.',
    parse: parseNamespaces,
    fallback: '',
    fallbackDoc: 'all',
  },
  installation: {
    option: '--installation',
    env: 'WHENCE_INSTALLATION',
    placeholder: 'NAME',
    doc: "Name of this installation, among those that see the same custom resources. Objects with another `spec.installation` are left alone; those without it belong to the first installation that writes their status. The chart gives the release's name.",
    parse: parseInstallation,
    fallback: 'default',
  },
  credentialSlots: {
    option: '--credential-slots',
    env: 'WHENCE_CREDENTIAL_SLOTS',
    placeholder: 'COUNT',
    doc: 'How many Secrets of 900 KB the credentials of one provider may fill. The operator needs rights to that many; the chart sets both.',
    parse: parseCount({ min: 1, max: MOST_SLOTS }),
    fallback: '4',
  },
  ownSecrets: {
    option: '--own-secrets',
    env: 'WHENCE_OWN_SECRETS',
    placeholder: 'NAMES',
    doc: "The service's own Secrets in the namespace of the catalog, separated by commas: no Destination may refer to them.",
    parse: parseSecretNames,
    fallback: '',
    fallbackDoc: 'none',
  },
  identity: {
    option: '--identity',
    env: 'WHENCE_IDENTITY',
    placeholder: 'NAME',
    doc: 'The name of this operator among its replicas: the name of the pod.',
    parse: parseIdentity,
    fallback: null,
    fallbackDoc: 'host name and process ID',
  },
  kubeconfig: {
    option: '--kubeconfig',
    env: 'WHENCE_KUBECONFIG',
    placeholder: 'FILE',
    doc: "A kubeconfig whose current context gives the cluster's API and the credentials for it; for a person at a machine, instead of the three settings below.",
    parse: parsePath,
    fallback: null,
    fallbackDoc: 'none: what Kubernetes gives its pods',
  },
  kubeUrl: {
    option: '--kube-url',
    env: 'WHENCE_KUBE_URL',
    placeholder: 'URL',
    doc: "Address of the cluster's API.",
    parse: parseOriginUrl,
    fallback: null,
    fallbackDoc: 'what Kubernetes gives its pods',
  },
  kubeTokenFile: {
    option: '--kube-token-file',
    env: 'WHENCE_KUBE_TOKEN_FILE',
    placeholder: 'FILE',
    doc: "The token for the cluster's API; read again when it changes.",
    parse: parsePath,
    fallback: `${SERVICE_ACCOUNT}/token`,
  },
  kubeCaFile: {
    option: '--kube-ca-file',
    env: 'WHENCE_KUBE_CA_FILE',
    placeholder: 'FILE',
    doc: "Certificate of the authority that signed the certificate of the cluster's API.",
    parse: parsePath,
    fallback: `${SERVICE_ACCOUNT}/ca.crt`,
  },
} as const
