/** Where `npm run -s example-data` fills in its traffic unless it is told otherwise: what `make run` starts with. */
export const EXAMPLE_DEFAULTS = { data: './data', website: 'acme-dev', organization: 'acme' } as const
