/** A line of Logs as the API gives it and the pages show it. */

export interface LogLine {
  readonly direction: 'inbound' | 'outbound'
  readonly website: string
  /** Unix ms. */
  readonly at: number
  readonly id: string
  readonly kind: string
  readonly method: string
  readonly path: string
  /** 0: no answer came. */
  readonly status: number
  readonly code: string
  readonly durationMs: number
  /** Of requests. */
  readonly origin?: string
  readonly bytes?: number
  readonly userAgent?: string
  readonly body?: string
  readonly bodyForm?: string
  /** Of attempts. */
  readonly event?: string
  readonly destination?: string
}
