/** The ways to a destination at each provider. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { PROVIDER_DESCRIPTORS, PROVIDER_IDS } from '../../domain/providers/index.ts'
import { guideTo } from './connect-data.ts'

export function ConnectLinks({ organization }: { readonly organization: string }): ReactNode {
  return (
    <p className="checks">
      Connect step by step:
      {PROVIDER_IDS.filter((provider) => guideTo(provider) !== undefined).map((provider) => (
        <Link key={provider} to="/app/$organization/connect/$provider" params={{ organization, provider }}>
          {PROVIDER_DESCRIPTORS[provider].name}
        </Link>
      ))}
    </p>
  )
}
