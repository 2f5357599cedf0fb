/**
 * Every code that the public interface may answer, each once. `chosenBy` is its source: the contract, our decisions or this
 * project.
 */

interface ErrorRow {
  readonly status: number
  readonly when: string
  readonly chosenBy: 'contract' | 'decisions' | 'project'
}

export const ERRORS = {
  invalid_json: {
    status: 400,
    when: 'The body is not one JSON object in UTF-8, has a byte-order mark, duplicate or dangerous keys, or is nested too deep or too wide.',
    chosenBy: 'decisions',
  },
  invalid_field: {
    status: 400,
    when: 'A field is missing, of the wrong type or out of range; `field` is its JSON pointer.',
    chosenBy: 'decisions',
  },
  invalid_signature: {
    status: 400,
    when: "The payment provider's event is not signed with our secret, or its time differs from ours by more than 5 minutes.",
    chosenBy: 'project',
  },
  invalid_request: {
    status: 400,
    when: 'The HTTP message itself is ambiguous: a duplicate Host or Content-Type header, or a target that names another host.',
    chosenBy: 'project',
  },
  invalid_csv: {
    status: 400,
    when: 'A file of ad spend has problems, so that nothing of it was imported; `problems` names the first ones, each with `line`, `column` and `message`.',
    chosenBy: 'project',
  },
  handoff_excludes_receipts: {
    status: 400,
    when: 'An install event carries a handoff token together with receipts.',
    chosenBy: 'decisions',
  },
  unauthenticated: {
    status: 401,
    when: 'Nobody is signed in, or the session has expired; where programs read, the request shows no API key that is in force.',
    chosenBy: 'decisions',
  },
  plan_limit: {
    status: 402,
    when: 'A creation beyond a count limit of the plan, with `limit`, `used`, `allowed`, `plan` and a `message` that says which plan would allow it. A resource that was applied gets the condition `Accepted=False` with the reason `PlanLimit` instead.',
    chosenBy: 'contract',
  },
  plan_required: {
    status: 402,
    when: 'A creation that the plan does not allow, with `limit`, `used`, `allowed`, `plan` and a `message` that says which plan would allow it. A resource that was applied gets the condition `Accepted=False` with the reason `PlanRequired` instead.',
    chosenBy: 'contract',
  },
  origin_not_allowed: {
    status: 403,
    when: 'The Origin header is missing or not registered for the website, or `page_url` is not on it.',
    chosenBy: 'decisions',
  },
  origin_mismatch: {
    status: 403,
    when: 'Activation or handoff from an origin other than that of the visit.',
    chosenBy: 'decisions',
  },
  native_endpoint: { status: 403, when: 'An install event was sent with an Origin header.', chosenBy: 'contract' },
  forbidden: { status: 403, when: 'The role in the organisation does not allow it.', chosenBy: 'decisions' },
  cross_origin: {
    status: 403,
    when: "A request to the dashboard that does not come from the service's own pages.",
    chosenBy: 'project',
  },
  sign_in_refused: {
    status: 403,
    when: 'The link, the code or the answer of the identity provider is not valid (any more).',
    chosenBy: 'project',
  },
  website_not_found: { status: 404, when: 'No website has this ID.', chosenBy: 'decisions' },
  install_path_not_found: {
    status: 404,
    when: 'The hook was requested with an install path that the organisation does not have.',
    chosenBy: 'contract',
  },
  receipt_not_found: {
    status: 404,
    when: 'Activation or handoff with a receipt that is forged, foreign or unknown.',
    chosenBy: 'decisions',
  },
  not_found: { status: 404, when: 'No such address.', chosenBy: 'decisions' },
  method_not_allowed: {
    status: 405,
    when: 'The address exists, the method does not; `Allow` lists those that do.',
    chosenBy: 'decisions',
  },
  request_timeout: { status: 408, when: 'The request did not arrive completely in time.', chosenBy: 'project' },
  code_required: {
    status: 409,
    when: 'The link was opened in another browser than the one that asked for it: the code in the mail is needed too.',
    chosenBy: 'project',
  },
  already_member: { status: 409, when: 'The organisation has a member of this address or group.', chosenBy: 'project' },
  already_subscribed: {
    status: 409,
    when: 'The organisation already pays for a plan; it is changed in the portal.',
    chosenBy: 'project',
  },
  not_subscribed: {
    status: 409,
    when: 'The organisation has not begun to pay for a plan, or its customer is gone.',
    chosenBy: 'project',
  },
  foreign_customer: {
    status: 409,
    when: "The payment provider's customer in `spec.billing` was made for another organisation.",
    chosenBy: 'project',
  },
  import_running: {
    status: 409,
    when: 'Another file of ad spend is being imported for the organisation; repeat the request when it is done.',
    chosenBy: 'project',
  },
  last_owner: { status: 409, when: 'The organisation would be left without an Owner.', chosenBy: 'project' },
  person_limit: {
    status: 409,
    when: 'The person owns or belongs to as many organisations as one person may.',
    chosenBy: 'project',
  },
  managed_elsewhere: {
    status: 409,
    when: 'Git or another tool manages the object or the field; `manager` names it, `field` the field, and `patch` is what to change there. With `object` it is that other object, which would no longer compile.',
    chosenBy: 'decisions',
  },
  conflict: {
    status: 412,
    when: 'Somebody changed the object meanwhile; of a resource, `given` and `current` are both versions.',
    chosenBy: 'decisions',
  },
  version_required: {
    status: 428,
    when: 'A change or deletion of a resource without the header If-Match.',
    chosenBy: 'project',
  },
  invitation_over: {
    status: 410,
    when: 'The invitation was used, replaced by a newer one or withdrawn, or has expired.',
    chosenBy: 'project',
  },
  receipt_not_activatable: {
    status: 409,
    when: 'The receipt belongs to a visit that exists only for a handoff.',
    chosenBy: 'decisions',
  },
  receipt_revoked: { status: 409, when: 'A newer visit has replaced the receipt.', chosenBy: 'decisions' },
  receipt_expired: { status: 410, when: 'The visit is more than 30 days old.', chosenBy: 'decisions' },
  body_too_large: {
    status: 413,
    when: 'The body of a collection request is above 16 KB, of a request to the dashboard above 64 KB, or a file of ad spend above 5 MB.',
    chosenBy: 'contract',
  },
  unsupported_media_type: {
    status: 415,
    when: 'The content type is not application/json (charset utf-8 may be named), or for a file of ad spend text/csv.',
    chosenBy: 'decisions',
  },
  unsupported_encoding: {
    status: 415,
    when: 'The body is compressed; only uncompressed bodies are accepted.',
    chosenBy: 'decisions',
  },
  rate_limited: {
    status: 429,
    when: 'A rate limit is reached; `retryAfter` is the wait before a retry, in seconds.',
    chosenBy: 'contract',
  },
  headers_too_large: { status: 431, when: 'The header block is too large.', chosenBy: 'project' },
  internal: { status: 500, when: 'A fault of the service; the request may be repeated.', chosenBy: 'project' },
  mail_not_configured: {
    status: 503,
    when: 'The installation sends no mail.',
    chosenBy: 'project',
  },
  oidc_not_configured: {
    status: 503,
    when: 'The installation has no identity provider.',
    chosenBy: 'project',
  },
  unavailable: {
    status: 503,
    when: 'The record could not be made durable, or a change in the dashboard could not take effect; nothing was promised and the request may be repeated.',
    chosenBy: 'decisions',
  },
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof ERRORS

/** A request that is answered with a code of the table. Extra members go into the answer beside `error`. */
export interface Refusal {
  readonly kind: 'refused'
  readonly code: ErrorCode
  readonly extra?: Readonly<Record<string, unknown>>
  /** The rate limit that was reached: for records, not for the answer. */
  readonly rule?: string
}

export function refuse(code: ErrorCode, extra?: Readonly<Record<string, unknown>>): Refusal {
  return extra === undefined ? { kind: 'refused', code } : { kind: 'refused', code, extra }
}

/** For one field, named by a JSON pointer. */
export function refuseField(field: string, message: string): Refusal {
  return refuse('invalid_field', { field, message })
}
