/** Compiles one Webhook: its address, its secrets, and its place among those of its organisation. */

import { webhookKey, type Webhook } from '../catalog.ts'
import { LIMITS } from '../limits.ts'
import { parseOutboundUrl } from '../outbound/address.ts'
import type { HeldForms } from './compile-held.ts'
import { organizationOf } from './compile-references.ts'
import { previousSecretUntilMs, signingSecrets } from './compile-secrets.ts'
import { displayNameOf, isLeftOut, type Compiler } from './compiler.ts'
import { objectKey, type Resource } from './objects.ts'

/** Adds it to its organisation, or reports why it is refused. */
export function compileWebhook(compiler: Compiler, resource: Resource<'Webhook'>): void {
  const organization = organizationOf(compiler, resource)
  const displayName = displayNameOf(compiler, resource)
  const address = parseOutboundUrl(resource.spec.url)
  // The addresses that its host name resolves to are checked at every call.
  if (!address.ok) compiler.report(resource, 'InvalidField', '/spec/url', address.why)
  if (organization === null || displayName === null || !address.ok) return
  if (organization.parts.webhooks.length >= LIMITS.webhooks) {
    compiler.report(resource, 'TooMany', '', `an organisation may have ${LIMITS.webhooks} webhooks`)
    return
  }
  const secrets = signingSecrets(compiler, resource, { refs: resource.spec, pointer: '/spec' })
  if (secrets === null || isLeftOut(compiler, resource)) return
  const webhook = finishedWebhook(resource, displayName)
  organization.parts.webhooks.push(webhook)
  if (!compiler.rules.isWithoutSecrets) compiler.made.credentials.set(webhookKey(webhook), secrets)
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
  const { url, events, paused: isPaused } = spec
  resource.memo ??= Object.freeze({
    id: `${namespace}/${objectName}`,
    namespace,
    objectName,
    displayName,
    url,
    isPaused,
    events: [...new Set(events)],
    previousSecretUntilMs: previousSecretUntilMs(spec),
  } satisfies Webhook)
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- what this step has noted
  return resource.memo as Webhook
}
