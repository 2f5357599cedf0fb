/** Deliveries as they are counted: by state, and by what providers answered. Moments are Unix ms. */

/** Deliveries of one state with one reason. */
export interface DeliveryGroup {
  readonly website: string
  readonly destination: string
  readonly provider: string
  readonly status: string
  readonly reason: string
  readonly deliveries: number
  /** When the first and the last of them changed. */
  readonly first_ms: number
  readonly last_ms: number
  /** The event of the latest of these deliveries. */
  readonly example: string
  /** Of the deliveries that have not ended: how many will end within two hours. */
  readonly expiring: number
  /** Of the failed deliveries: how many the provider would still accept. */
  readonly replayable: number
}

/** Attempts that delivered nothing, with one answer. */
export interface DeliveryError {
  readonly website: string
  readonly destination: string
  readonly provider: string
  /** Status of the answer; 0 if there was none. */
  readonly status: number
  readonly code: string
  readonly deliveries: number
  readonly tries: number
  readonly first_ms: number
  readonly last_ms: number
  /** The event of the latest of these attempts. */
  readonly example: string
}
