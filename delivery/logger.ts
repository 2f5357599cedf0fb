/** What the delivery side needs of the process's logger: one line per outcome, values as fields, never a secret. */

export interface DeliveryLogger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
