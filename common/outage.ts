/** Something that this process needs is unreachable or busy: nothing is promised, and the request may be repeated. */
export class Outage extends Error {}
