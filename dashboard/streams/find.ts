/** Finds the log streams of an organisation among its objects. */

import type { OrganizationCall } from '../http/call.ts'
import type { Inventory, ListedObject } from '../resources/inventory.ts'

/** As catalog, facts and activity call it. */
export function streamId({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`
}

export type CallOfStream = OrganizationCall<{ readonly stream: string }>

/** The one that the path names; null if the organisation has none of this name. */
export function streamOf(call: CallOfStream, inventory: Inventory): ListedObject | null {
  const { organization } = call.scope
  // A stream is in the namespace of its organisation, so its name alone identifies it.
  const streams = inventory.list('LogStream', organization.id)
  return streams.find(({ name }) => name === call.params.stream) ?? null
}
