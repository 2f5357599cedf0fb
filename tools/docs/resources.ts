/** Renders docs/resources.md: the fields of every kind, Secrets, and every reason for refusing an object. */

import { PROBLEM_REASONS } from '../../domain/resources/problems.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import { RESOURCE_API_VERSION, RESOURCE_KINDS, SPEC_SCHEMAS } from '../../domain/resources/resources.ts'
import { code, number, page, table } from './markdown.ts'

const ABOUT_FOLDERS = `## In a folder

The embedded program reads every \`.yaml\` and \`.yml\` file of one folder, without its subfolders; names that begin with a dot, \`#\` or \`~\` are
passed over. Objects of other API groups are passed over as well. Objects count as created in the order of file names, then of their place in
the file. As in Kubernetes, an unquoted \`yes\`, \`no\`, \`on\` or \`off\` is true or false.

The folder is watched. A change is taken up 100 ms after the last write; a file that is gone or empty counts as such if it still is a second later. What is
taken up replaces everything at once, or nothing: a problem that blocks (below) leaves the configuration in force as it is, and at the first start
the program does not start. A problem that does not block leaves its own object out, and all others take effect. So does every problem of an object that the
dashboard wrote; files outside its folder count as older than those in it. Every problem stands on the terminal and in \`/status\` of the metrics port; \`whencectl lint -f FOLDER\` prints the same without running anything.

## Secrets

Credentials are Kubernetes Secrets (\`apiVersion: v1\`, \`kind: Secret\`) in the namespace of the resource that refers to them, with \`stringData\` or
base64 in \`data\`. In the folder, \`\${NAME}\` inside \`stringData\` takes the value of an environment variable, so that no secret need be written
down; \`$\${NAME}\` means the text itself. Nothing else is replaced.

White space around a value does not count. A value in quotation marks, with a line break or with an invisible character in it is refused by a condition; only
\`service-account.json\` has several lines.`

export function resourcesPage(): string {
  const kinds = RESOURCE_KINDS.map((kind) => kindSection(kind, SPEC_SCHEMAS[kind]))
  const reasons = Object.entries(PROBLEM_REASONS).map(([reason, { meaning, fix, isBlocking }]) => [
    code(reason),
    meaning,
    fix,
    isBlocking ? 'blocks' : 'leaves the object out',
  ])
  return page('Custom resources', 'domain/resources/resources.ts and domain/resources/problems.ts', [
    `All are \`apiVersion: ${RESOURCE_API_VERSION}\` and namespaced. The same YAML is applied with kubectl and read from a folder by the embedded ` +
      'program. A field that is not listed is refused, never ignored (in a cluster the API server removes it, or reports it with `--validate=strict`). Names of objects are lower-case letters, digits, hyphens and dots. ' +
      'References are to objects of the same namespace, unless they name another one and the object that is referred to allows it ' +
      '(`allowedNamespaces`). In a folder, `Namespace` manifests give the labels that selectors match.',
    ...kinds,
    ABOUT_FOLDERS,
    '## Reasons\n\nThe same words appear in `/status` of the metrics port, in `whencectl lint` and in the conditions of resources. "Blocks" is about a folder; in a ' +
      'cluster, and in the files of the dashboard, only the object itself is left out.',
    table(['Reason', 'What is wrong', 'What to do', 'In a folder it'], reasons),
  ])
}

function kindSection(kind: string, schema: JsonSchema): string {
  const rows = fieldRows(schema, '').map(({ path, schema: field, isRequired }) => [
    code(path),
    typeOf(field),
    isRequired ? 'yes' : '',
    field.default === undefined ? '' : code(JSON.stringify(field.default)),
    [field.description ?? '', rulesOf(field)].filter((text) => text !== '').join(' '),
  ])
  return `## ${kind}\n\n${schema.description ?? ''}\n\n${table(['Field of `spec`', 'Type', 'Required', 'Default', 'Meaning'], rows)}`
}

interface FieldRow {
  readonly path: string
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

function fieldRows(schema: JsonSchema, prefix: string): readonly FieldRow[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    const own = { path, schema: field, isRequired: schema.required?.includes(name) ?? false }
    const below = field.items?.type === 'object' ? fieldRows(field.items, `${path}[].`) : fieldRows(field, `${path}.`)
    return [own, ...below]
  })
}

function typeOf({ type, items }: JsonSchema): string {
  return type === 'array' ? `list of ${items?.type ?? 'values'}s` : type
}

function rulesOf(schema: JsonSchema): string {
  const choices = schema.enum ?? schema.items?.enum
  const rules = choices === undefined ? boundsOf(schema) : [choicesOf(choices, schema.items !== undefined)]
  const meaning = schema.patternMeaning === undefined ? [] : [`It ${schema.patternMeaning}.`]
  return [...rules, ...meaning].join(' ')
}

function choicesOf(choices: readonly string[], isList: boolean): string {
  return `${isList ? 'Any' : 'One'} of ${choices.map(code).join(', ')}.`
}

function boundsOf({ minimum, maximum, maxLength, maxItems }: JsonSchema): readonly string[] {
  const bounds = [
    minimum === undefined || maximum === undefined ? null : `${number(minimum)} to ${number(maximum)}.`,
    maxLength === undefined ? null : `At most ${number(maxLength)} characters.`,
    maxItems === undefined ? null : `At most ${number(maxItems)} entries.`,
  ]
  return bounds.filter((bound) => bound !== null)
}
