/** Compiles one Webhook: its address, its secrets, and its place among those of its organisation. */

import { webhookKey, type Webhook } from '../catalog.ts'
import { LIMITS } from '../limits.ts'
import { parseOutboundUrl } from '../outbound/address.ts'
import type { HeldForms } from './compile-held.ts'
import { organizationOf } from './compile-references.ts'
import { formProblemOf, wrongFieldOf } from '../resources/webhook-schema.ts'
import { addressSecret, previousSecretUntilMs, signingSecrets } from './compile-secrets.ts'
import { displayNameOf, isLeftOut, type Compiler } from './compiler.ts'
import { objectKey, type Resource } from './objects.ts'

/** Adds it to its organisation, or reports why it is refused. */
export function compileWebhook(compiler: Compiler, resource: Resource<'Webhook'>): void {
  const organization = organizationOf(compiler, resource)
  const displayName = displayNameOf(compiler, resource)
  const isAddressed = hasItsForm(compiler, resource)
  if (organization === null || displayName === null || !isAddressed) return
  if (organization.parts.webhooks.length >= LIMITS.webhooks) {
    compiler.report(resource, 'TooMany', '', `an organisation may have ${LIMITS.webhooks} webhooks`)
    return
  }
  const secrets = webhookSecrets(compiler, resource)
  if (secrets === null || isLeftOut(compiler, resource)) return
  const webhook = finishedWebhook(resource, displayName)
  organization.parts.webhooks.push(webhook)
  if (!compiler.rules.isWithoutSecrets) compiler.made.credentials.set(webhookKey(webhook), secrets)
}

/** Whether it has the fields of its format, and an address that may be called; otherwise the problem has been reported. */
function hasItsForm(compiler: Compiler, resource: Resource<'Webhook'>): boolean {
  const { spec } = resource
  const wrong = wrongFieldOf(spec)
  if (wrong !== null) {
    compiler.report(resource, 'InvalidField', `/spec/${wrong}`, formProblemOf(spec.format))
    return false
  }
  // The addresses that its host name resolves to are checked at every call.
  const address = spec.url === undefined ? null : parseOutboundUrl(spec.url)
  if (address === null || address.ok) return true
  compiler.report(resource, 'InvalidField', '/spec/url', address.why)
  return false
}

function webhookSecrets(compiler: Compiler, resource: Resource<'Webhook'>): Readonly<Record<string, string>> | null {
  const { secretRef, urlSecretRef, ...spec } = resource.spec
  if (secretRef !== undefined)
    return signingSecrets(compiler, resource, { refs: { ...spec, secretRef }, pointer: '/spec' })
  return urlSecretRef === undefined ? null : addressSecret(compiler, resource, urlSecretRef)
}

/** Webhooks of namespaces that cannot be read stay as they were, after the readable ones. */
export function holdWebhooks(compiler: Compiler, { catalog, credentials, namespaces, objects }: HeldForms): void {
  for (const organization of catalog.organizations.values()) {
    const draft = compiler.made.organizations.get(
      objectKey('Organization', organization.namespace, organization.objectName),
    )
    for (const webhook of organization.webhooks) {
      const secrets = credentials.get(webhookKey(webhook))
      // Without a secret it could only fail.
      if (draft === undefined || secrets === undefined) continue
      const isHeld = objects.has(objectKey('Webhook', webhook.namespace, webhook.objectName))
      if (!isHeld && !namespaces.has(webhook.namespace)) continue
      compiler.made.credentials.set(webhookKey(webhook), secrets)
      const { webhooks } = draft.parts
      if (!webhooks.some(({ id }) => id === webhook.id)) webhooks.push(webhook)
    }
  }
}

/** The same object as long as its resource is the same. */
function finishedWebhook(resource: Resource<'Webhook'>, displayName: string): Webhook {
  const { namespace, name: objectName, spec } = resource
  const { format, url = '', events, paused: isPaused } = spec
  resource.memo ??= Object.freeze({
    id: `${namespace}/${objectName}`,
    namespace,
    objectName,
    displayName,
    format,
    url,
    isPaused,
    events: [...new Set(events)],
    previousSecretUntilMs: previousSecretUntilMs(spec),
  } satisfies Webhook)
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- what this step has noted
  return resource.memo as Webhook
}
