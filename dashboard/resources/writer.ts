/** Port: writes single custom resources, each only if it is as the caller last saw it. */

export interface ResourceAddress {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

export interface WrittenObject extends ResourceAddress {
  readonly spec: Readonly<Record<string, unknown>>
}

/** The stored object, as it is read before a change. */
export interface StoredObject extends WrittenObject {
  /** Another one after each change. */
  readonly version: string
  /** Who manages it, if that is not the dashboard: a file, or the manager of its fields. */
  readonly managedBy: string | null
}

export type WriteOutcome =
  | { readonly kind: 'written' }
  /** It is not as it was when the version was read, or (for a new one) there is one already. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'managed_elsewhere'; readonly manager: string }
  /** The compiler or the API server would refuse it; `reason` as in conditions. */
  | { readonly kind: 'refused'; readonly reason: string; readonly field: string; readonly message: string }

/** An outcome says what is stored: `written` is on disk, and the directory shows it within a second. */
export interface ResourceWriter {
  readonly read: (ref: ResourceAddress) => Promise<StoredObject | null>
  readonly create: (object: WrittenObject) => Promise<WriteOutcome>
  /** Of any number that were given one version exactly one is written. */
  readonly replace: (object: WrittenObject, version: string) => Promise<WriteOutcome>
  readonly remove: (ref: ResourceAddress, version: string) => Promise<WriteOutcome>
}
