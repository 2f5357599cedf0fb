/**
 * Traces by OpenTelemetry. Whoever runs the process loads an SDK, which decides what is sampled and where it goes
 * (`docs/operations.md`); without one nothing is recorded, and records carry nothing. Spans hold names, counts and outcomes, never
 * a client's address, a body or an error's text.
 */

import {
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
} from '@opentelemetry/api'

const tracer = trace.getTracer('whence')

/** As W3C writes it: version, trace, span, flags. https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

interface WorkSpan {
  readonly name: string
  readonly kind?: keyof typeof SpanKind
  readonly attributes?: Attributes
}

/** Calls `act` within a span, of the span around it if there is one, and settles as it does. */
export async function traced<T>(
  { name, kind = 'INTERNAL', attributes = {} }: WorkSpan,
  act: () => Promise<T>,
): Promise<T> {
  const span = tracer.startSpan(name, { kind: SpanKind[kind], attributes })
  if (!span.isRecording()) return act()
  try {
    return await context.with(trace.setSpan(context.active(), span), act)
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR })
    throw error
  } finally {
    span.end()
  }
}

/** Adds to the span around, if there is one. */
export function describeSpan(attributes: Attributes): void {
  trace.getActiveSpan()?.setAttributes(attributes)
}

/** Of the span around, for a record that others go on with; undefined if it is not recorded. */
export function traceparent(): string | undefined {
  const span = trace.getActiveSpan()
  return span?.isRecording() === true ? traceparentOf(span.spanContext()) : undefined
}

interface FinishedSpan extends WorkSpan {
  /** From the record; whatever else it holds is no trace. */
  readonly parent: string
  /** Unix ms. */
  readonly startMs: number
  readonly endMs: number
}

/** Notes what happened to a record in the record's trace. Returns the parent of what follows from it. */
export function noteSpan({ name, kind = 'INTERNAL', attributes = {}, parent, startMs, endMs }: FinishedSpan): string {
  const around = remoteContext(parent)
  if (around === null) return parent
  const span = tracer.startSpan(name, { kind: SpanKind[kind], attributes, startTime: startMs }, around)
  if (!span.isRecording()) return parent
  span.end(Math.max(startMs, endMs))
  return traceparentOf(span.spanContext())
}

function remoteContext(text: string): Context | null {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(text) ?? []
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isSpanContextValid(spanContext) ? trace.setSpanContext(ROOT_CONTEXT, spanContext) : null
}

function traceparentOf({
  traceId,
  spanId,
  traceFlags,
}: {
  traceId: string
  spanId: string
  traceFlags: number
}): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}
