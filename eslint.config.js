import tseslint from 'typescript-eslint'

/** Caps: what clean projects of this field reach by themselves; tests and tables may be longer. `test/tidy` holds the share of long functions. */
const CAPS = {
  'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
  'max-lines-per-function': ['error', { max: 90, skipBlankLines: true, skipComments: true }],
  'max-params': ['error', 4],
  'max-depth': ['error', 3],
  complexity: ['error', 12],
}

/** A literal that is spread or taken apart where it stands saves a line and costs a reader; its members can stand there by themselves. */
const NO_LITERAL_TRICKS = [
  ...[
    ':matches(ObjectExpression, ArrayExpression) > SpreadElement > :matches(ObjectExpression, ArrayExpression)',
    ':matches(ObjectExpression, ArrayExpression) > SpreadElement > :matches(TSAsExpression, TSSatisfiesExpression) > :matches(ObjectExpression, ArrayExpression)',
    'JSXSpreadAttribute > ObjectExpression',
  ].map((selector) => ({ selector, message: 'Write the members where the literal is spread.' })),
  {
    selector: 'VariableDeclarator[id.type=ArrayPattern] > ArrayExpression:not(:has(> SpreadElement))',
    message: 'Declare each variable by itself.',
  },
  {
    selector:
      "CallExpression[callee.object.name='Object'][callee.property.name='assign'] > ObjectExpression[properties.length>0]:first-child",
    message: 'Spread the sources into a literal.',
  },
]

/** A bag of parts that is handed on whole hides what each function uses. */
const NO_BAGS = [
  {
    selector:
      ':matches(CallExpression, NewExpression) > ObjectExpression > SpreadElement > Identifier[name=/^(parts|deps|wiring|foundation|context)$/]',
    message: 'Name the members that the callee uses, at most six; what belongs together is a value with a name.',
  },
  {
    selector:
      ":matches(TSTypeReference[typeName.name='Omit'], TSInterfaceHeritage[expression.name='Omit']) > TSTypeParameterInstantiation > TSTypeReference[typeName.name=/(Parts|Deps|Wiring|Foundation|Context)$/]:first-child",
    message: 'Give the part that is used a name of its own, and let the whole extend it.',
  },
]

/** What a pure file must not touch: time, chance, the process and the network come in as arguments. */
const IMPURE_GLOBALS = [
  'process',
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'console',
  'Buffer',
  'performance',
]

/** What no table of imports could hold to anything. */
const UNCHECKED_IMPORTS = [
  {
    selector: "ImportExpression:not([source.type='Literal'])",
    message: 'Name the file, so that imports can be checked.',
  },
  {
    selector:
      ':matches(ImportDeclaration, ExportAllDeclaration, ExportNamedDeclaration)[source.value=/^[.](?!.*[.](tsx?|css|json)$)/]',
    message: 'Name the file with its ending.',
  },
]

export default tseslint.config(
  { ignores: ['node_modules/', 'sdk/dist/', 'sdk/earlier/', 'pages/dist/', 'dist/', 'data/', 'tmp/'] },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './sdk/tsconfig.json', './pages/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      ...CAPS,
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      // A value from outside is checked by a guard (domain/guards.ts), which gives it its type.
      '@typescript-eslint/no-unsafe-type-assertion': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: 'error',
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...NO_LITERAL_TRICKS, ...NO_BAGS, ...UNCHECKED_IMPORTS],
    },
  },
  {
    files: ['domain/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', ...IMPURE_GLOBALS],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'The time comes in as an argument.' },
        { object: 'Math', property: 'random', message: 'Randomness comes in as an argument.' },
      ],
      'no-restricted-syntax': [
        'error',
        ...NO_LITERAL_TRICKS,
        ...NO_BAGS,
        ...UNCHECKED_IMPORTS,
        { selector: ':function[async=true]', message: 'Domain functions are synchronous.' },
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'The time comes in as an argument.',
        },
      ],
    },
  },
  {
    files: ['pages/**/*.tsx'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...NO_LITERAL_TRICKS,
        ...NO_BAGS,
        ...UNCHECKED_IMPORTS,
        {
          selector:
            "JSXOpeningElement[name.name=/^(code|pre|kbd|Kbd|samp)$/]:not(:has(JSXAttribute[name.name='translate']))",
          message: 'A browser that translates must leave code as it is: translate="no".',
        },
      ],
    },
  },
  {
    files: [
      'api/**/*.ts',
      'dashboard/**/*.ts',
      'delivery/**/*.ts',
      'ports/**/*.ts',
      'common/**/*.ts',
      'runtime/**/*.ts',
      'operator/**/*.ts',
      'stand-ins/**/*.ts',
    ],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only bin/ reads the environment.' },
      ],
    },
  },
  {
    files: [
      'test/**/*.ts',
      'fixtures/**/*.ts',
      'bench/**/*.ts',
      'bin/**/*.ts',
      'sdk/build*.ts',
      'tools/**/*.ts',
      'examples/**/*.ts',
    ],
    rules: { 'no-console': 'off' },
  },
  // Neither is part of the product: what they read is this project's own.
  { files: ['tools/**/*.ts', 'examples/**/*.ts'], rules: { '@typescript-eslint/no-unsafe-type-assertion': 'off' } },
  {
    files: ['test/**/*.ts', 'fixtures/**/*.ts', 'bench/**/*.ts'],
    rules: {
      // Tests import examples and pages by their names.
      'no-restricted-syntax': ['error', ...NO_LITERAL_TRICKS],
      'max-lines': 'off',
      'max-lines-per-function': 'off',
      'max-params': 'off',
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-type-assertion': 'off',
    },
  },
)
