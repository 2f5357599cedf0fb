/** What the provider said to a trial. */

import type { ReactNode } from 'react'

import { PROVIDER_DESCRIPTORS, type ProviderId } from '../../domain/providers/index.ts'
import type { Trial } from './connect-data.ts'

const VERDICTS: Readonly<Record<Trial['verdict'], (name: string) => string>> = {
  passed: (name) => `${name} takes it`,
  refused: (name) => `${name} refuses it`,
  unclear: () => 'No clear answer came',
}

export function TrialAnswer({
  answer,
  provider,
}: {
  readonly answer: Trial
  readonly provider: ProviderId
}): ReactNode {
  const { verdict, code, facility, status, answer: text } = answer
  return (
    <section className={`card trial ${verdict === 'passed' ? 'good' : ''}`} role="status">
      <h2>{VERDICTS[verdict](PROVIDER_DESCRIPTORS[provider].name)}</h2>
      <p>
        The test event was {facility}. {code !== '' && <code translate="no">{code}</code>}
      </p>
      {status !== null && (
        <details open={verdict === 'refused'}>
          <summary>Its answer, HTTP {status}</summary>
          <pre translate="no" tabIndex={0}>
            {text === '' ? 'Nothing but that.' : text}
          </pre>
        </details>
      )}
    </section>
  )
}
